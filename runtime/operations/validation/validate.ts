import { OPEN_ACCESS } from '../../auth/scopes/principal.js';
import { scopeMissing } from '../../auth/access/refuse.js';
import { neededFor } from '../../search-execution/authorize/authorize.js';
import type { Call, Reply } from '../../core/call.js';
import type { Services } from '../../core/services.js';
import { parsedBodyOf, type Judgement } from '../../core/write/parsed-bodies.js';
import { profileIssues } from '../../core/write/profile-issues.js';
import { FhirError, type Issue } from '../../fhir/errors.js';
import { errorOutcome, successOutcome } from '../../fhir/operation-outcome.js';
import { isObject, type JsonObject, type JsonValue, type Resource } from '../../fhir/resource.js';
import { SEARCH_PARAMETER } from '../../indexing/parameters/stored-parameter.js';
import type { FoundCodes } from '../../validate/codes/find-codes.js';
import { locateFaults } from '../../validate/locate-faults.js';
import type { RuleFindings } from '../../validate/rules/create-rule-checker.js';
import { readArguments, valueOf, valuesOf } from '../common/arguments.js';
import { readNamed } from '../common/read-argument.js';
import { subjectOf, withoutSubject } from '../common/subject.js';
import { placeProblems } from './place-problems.js';

/** The parameters beside the resource. */
const PARAMETERS: ReadonlySet<string> = new Set(['mode', 'profile', 'usageContext']);

/** What is to be tried out. https://hl7.org/fhir/R5/valueset-resource-validation-mode.html */
const MODES: ReadonlySet<string> = new Set(['create', 'update', 'delete', 'profile']);

/**
 * `[type]/$validate` and `[type]/[id]/$validate`: all that is wrong with the resource of the body or, where there is none,
 * with the stored one. Always 200: the OperationOutcome has the verdict, also for a body that cannot be read.
 * https://hl7.org/fhir/R5/resource-operation-validate.html
 *
 * @throws FhirError `parameter-invalid`, `parameter-unknown`, `body-missing`, `scope-missing`
 */
export async function validate(call: Call, services: Services): Promise<Reply> {
  if (call.bodyFault !== undefined) return { status: 200, resource: errorOutcome(call.bodyFault) };
  const { body, isWrapped, way } = subjectOf(call.body, PARAMETERS);
  const given = readArguments(withoutSubject(call, isWrapped), services);
  const mode = valueOf(given, 'mode') as string | undefined;
  const asked = valuesOf(given, 'profile').map(String);
  checkMode(mode, asked, call, services);
  if (mode === 'delete') return { status: 200, resource: await tryDelete(call, services) };
  const subject = body === undefined ? await storedSubject(call, services) : body;
  const text = body === undefined ? undefined : call.text?.();
  const found = [...placeProblems(subject, mode, call), ...(await problemsOf(subject, asked, call, services))];
  const [first, ...others] = locateFaults(found, () => text, way);
  if (first === undefined) return { status: 200, resource: successOutcome('No issues found') };
  return { status: 200, resource: errorOutcome(FhirError.of([first, ...others])) };
}

/** @throws FhirError for a mode that there is not, that the scopes do not allow, or that needs a profile or an id */
function checkMode(mode: string | undefined, asked: readonly string[], call: Call, { scopeRows }: Services): void {
  if (mode !== undefined && !MODES.has(mode)) {
    throw new FhirError('parameter-invalid', `The parameter "mode" is ${[...MODES].join(', ')}, not ${JSON.stringify(mode.slice(0, 64))}`); // prettier-ignore
  }
  if (mode === 'profile' && asked.length === 0) {
    throw new FhirError('parameter-invalid', 'The mode "profile" needs the parameter "profile", the URL of the profile to validate by'); // prettier-ignore
  }
  checkScope(mode, call, scopeRows);
  if ((mode !== 'update' && mode !== 'delete') || call.id !== undefined) return;
  const text = `The mode "${mode}" is tried out on one resource; put its id into the URL: ${call.type}/[id]/$validate`;
  throw new FhirError('parameter-invalid', text);
}

/** @throws FhirError `scope-missing` where the token could not do what is tried out */
function checkScope(mode: string | undefined, call: Call, scopeRows: Services['scopeRows']): void {
  const { access } = call.principal;
  if (access === OPEN_ACCESS) return;
  const content = {
    'mode-create': mode === 'create' && (true as const),
    'mode-update': mode === 'update' && (true as const),
    'mode-delete': mode === 'delete' && (true as const),
  };
  const needed = neededFor(call, content, access, scopeRows);
  if (needed !== undefined) throw scopeMissing(needed, access);
}

async function storedSubject({ type, id, ...call }: Call, services: Services): Promise<Resource> {
  if (type === undefined || id === undefined) {
    throw new FhirError('body-missing', '$validate needs a resource as its body, or the id of one in the URL');
  }
  return (await readNamed({ type, id }, { ...call, type, id }, services, 'judge')).resource;
}

/** Whether the instance is there to be deleted. */
async function tryDelete(call: Call, services: Services): Promise<JsonObject> {
  try {
    await storedSubject(call, services);
    return successOutcome(`${call.type}/${call.id} can be deleted`);
  } catch (error) {
    if (!(error instanceof FhirError) || (error.code !== 'not-found' && error.code !== 'deleted')) throw error;
    return errorOutcome(error);
  }
}

/** Errors first. */
function rankOf({ severity = 'error' }: Issue): number {
  return ['error', 'warning', 'information'].indexOf(severity);
}

/** All that is wrong with the resource by itself. */
async function problemsOf(
  subject: JsonValue,
  asked: readonly string[],
  call: Call,
  services: Services,
): Promise<readonly Issue[]> {
  const { faults, open, named, structure } = judgementOf(subject, services);
  const views = structure.length > 0 || !isView(subject) ? [] : await viewIssues(subject, services);
  const decided = [...structure, ...faults, ...views];
  // Profiles say nothing of what is not of right structure.
  const found = structure.length > 0 ? [] : await byProfiles(subject as Resource, asked, call, services);
  const bound = open.length === 0 ? [] : await boundCodes(open, call, services);
  const judged = named.codes.length === 0 ? [] : await judgedCodes(named, call, services);
  // A code outside of a required value set is reported once.
  const isBroken = ({ severity, rule }: Issue): boolean => severity === 'error' && rule === 'binding';
  const broken = [...decided, ...bound, ...found].filter(isBroken).map(({ expression }) => `${expression}.`);
  const others = judged.filter(({ expression = '' }) => !broken.some((each) => expression.startsWith(each)));
  return [...decided, ...bound, ...others, ...found].sort((a, b) => rankOf(a) - rankOf(b));
}

/** What a worker found of a large resource; of others it is found here, as of what changes how the server searches. */
function judgementOf(subject: JsonValue, { rules, validate }: Pick<Services, 'rules' | 'validate'>): Judgement {
  const known = isObject(subject) ? parsedBodyOf(subject as Resource)?.judgement : undefined;
  if (known !== undefined && (subject as Resource).resourceType !== SEARCH_PARAMETER) return known;
  return { structure: validate(subject as Resource), ...rules.thorough(subject) };
}

/** https://sql-on-fhir.org/ig/latest/StructureDefinition-ViewDefinition.html */
function isView(subject: JsonValue): subject is Resource {
  return isObject(subject) && subject['resourceType'] === 'ViewDefinition';
}

async function viewIssues(view: Resource, services: Services): Promise<readonly Issue[]> {
  const { judgeView } = await import('../../views/operations/judge-view.js');
  return judgeView(view, services);
}

async function boundCodes(open: RuleFindings['open'], call: Call, services: Services): Promise<readonly Issue[]> {
  const { decideBindings } = await import('./validate-bindings.js');
  return decideBindings(open, call, services);
}

async function judgedCodes(named: FoundCodes, call: Call, services: Services): Promise<readonly Issue[]> {
  const { judgeCodes } = await import('./validate-codes.js');
  return judgeCodes(named, call, services);
}

/** What is wrong by the profiles that the resource claims, that are required, and that are asked for. */
async function byProfiles(
  subject: Resource,
  asked: readonly string[],
  call: Call,
  services: Services,
): Promise<readonly Issue[]> {
  const { profiles } = services;
  if (profiles === undefined) return [];
  return profileIssues(subject, asked, call, { ...services, profiles }, { tellsAll: true });
}
