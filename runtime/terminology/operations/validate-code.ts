import type { Call, Reply } from '../../core/call.js';
import { withinBudget } from '../../search-execution/execute/search-budget.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import { isObject, type JsonObject, type JsonValue, objectsOf, type Resource } from '../../fhir/resource.js';
import type { CodeSystemIndex } from '../concepts.js';
import { GRAMMARS } from '../systems/grammar.js';
import { toOutcomeIssue, type CodeIssue } from '../issue.js';
import { judgeInSystem, judgeInValueSet, type Judged, type JudgeOptions, type Sent } from '../judge.js';
import { displayIn } from '../systems/languages.js';
import { systemsOf } from '../value-set.js';
import { valueOf } from '../../operations/common/arguments.js';
import {
  findNamed,
  languagesOf,
  more,
  openTerminology,
  parametersOf,
  resourceOf,
  systemAt,
  type TerminologyCall,
} from './context.js';
import { quote } from '../../fhir/quote.js';

/**
 * `ValueSet/$validate-code`: whether a code is in a value set. https://hl7.org/fhir/R5/valueset-operation-validate-code.html
 *
 * @throws FhirError `parameter-invalid` unless one of code, coding and codeableConcept is given, `terminology-not-found`
 */
export function validateInValueSet(call: Call, services: Services): Promise<Reply> {
  return withinBudget(services.limits.queryTime, call.signal, (signal) =>
    validateWithin(signal === undefined ? call : { ...call, signal }, services),
  );
}

async function validateWithin(call: Call, services: Services): Promise<Reply> {
  // Clients say "version" for that of the code system, as CodeSystem/$validate-code has it.
  const opened = openTerminology(call, services, [more('version', 'string')]);
  const names = { url: 'url', version: 'valueSetVersion', resource: 'valueSet' };
  const valueSet = await resourceOf('ValueSet', names, opened, call, services);
  const isInferred = opened.isSet('inferSystem') || call.id !== undefined || opened.text('context') !== undefined;
  const systems = isInferred ? () => systemsOf(valueSet, opened.context) : undefined;
  const sent = await withSystem(sentOf(opened), systems);
  const options = optionsOf(opened, call, valueSet);
  const judged: Judged[] = [];
  for (const each of sent) {
    const all: Judged[] = [];
    for (const one of each) {
      await opened.context.effort.pace();
      all.push(await judgeInValueSet(one, valueSet, opened.context, options));
    }
    const members = all.flatMap(({ member }) => (member === undefined ? [] : [member.system]));
    judged.push(members.length > 1 ? { issues: [ambiguous(each[0]!, members)] } : (all.find(({ member }) => member !== undefined) ?? all.at(-1)!)); // prettier-ignore
  }
  return answer(
    sent.map((each) => (each.length === 1 ? each[0]! : withoutSystem(each[0]!))),
    judged,
    opened,
    options,
  );
}

/**
 * `CodeSystem/$validate-code`: whether a code is in a code system. https://hl7.org/fhir/R5/codesystem-operation-validate-code.html
 *
 * @throws FhirError `parameter-invalid`
 */
export async function validateInCodeSystem(call: Call, services: Services): Promise<Reply> {
  const opened = openTerminology(call, services, [more('system', 'uri'), more('systemVersion', 'string')]);
  const options = optionsOf(opened, call);
  const url = opened.text('url') ?? opened.text('system');
  const own = await ownSystem(url, opened, call, services);
  const sent = sentOf(opened).map((each) => {
    const system = each.system ?? own?.url ?? url;
    return system === undefined ? each : { ...each, system };
  });
  if (sent.some(({ system, place }) => system === undefined && place === '')) {
    throw new FhirError(
      'parameter-invalid',
      'Name the code system: as "url", as "codeSystem", in the coding, or by its id in the URL',
    );
  }
  const judged: Judged[] = [];
  for (const each of sent) {
    await opened.context.effort.pace();
    const expected = own?.url ?? opened.text('url');
    if (expected !== undefined && each.system !== undefined && each.system !== expected) {
      judged.push({ issues: [otherSystem(each, expected)] });
    } else judged.push(await judgeInSystem(each, each.version === undefined || isNamed(opened, call) ? own : undefined, opened.context, options)); // prettier-ignore
  }
  return answer(sent, judged, opened, options);
}

function otherSystem({ system, place }: Sent, expected: string): CodeIssue {
  const text = `The coding is of ${system}, and the code system asked for is ${expected}`;
  return {
    severity: 'error',
    code: 'invalid',
    type: 'invalid-data',
    text,
    expression: place === '' ? 'system' : `${place}.system`,
  };
}

/** Whether the code system itself is named, and not its URL alone. */
function isNamed({ found }: TerminologyCall, call: Call): boolean {
  return call.id !== undefined || found.has('codeSystem');
}

/** The code system of the call. One that the server does not know is for the codes to tell. */
async function ownSystem(
  url: string | undefined,
  opened: TerminologyCall,
  call: Call,
  services: Services,
): Promise<CodeSystemIndex | undefined> {
  const names = { url: 'url', version: 'version', resource: 'codeSystem' };
  if (isNamed(opened, call)) return systemAt(await resourceOf('CodeSystem', names, opened, call, services), opened);
  if (url === undefined || GRAMMARS.has(url)) return undefined;
  const found = await findNamed('CodeSystem', url, opened.text('version'), opened);
  return found === undefined ? undefined : systemAt(found, opened);
}

/**
 * What the codes could mean: a code without a system is one of any system of the value set, where that is the context of the code or the
 * client wants it. @throws FhirError `parameter-invalid`
 *
 * @param systems of the value set; absent: a code needs its system
 */
async function withSystem(
  sent: readonly Sent[],
  systems: (() => Promise<ReadonlySet<string>>) | undefined,
): Promise<readonly (readonly Sent[])[]> {
  const all: (readonly Sent[])[] = [];
  for (const each of sent) {
    if (each.place !== '' || each.system !== undefined) all.push([each]);
    else if (systems !== undefined) {
      const found = [...(await systems())].map((system) => ({ ...each, system }));
      all.push(found.length === 0 ? [each] : found);
    } else throw new FhirError('parameter-invalid', 'A "code" needs its "system"; with inferSystem=true that of the value set is taken'); // prettier-ignore
  }
  return all;
}

/** "The server SHALL ensure that the code is not ambiguous without a system": valueset-operation-validate-code.html */
function ambiguous({ code = '' }: Sent, systems: readonly string[]): CodeIssue {
  const text = `The value set has the code ${quote(code)} of several systems, ${systems.join(', ')}; say which is meant as "system"`;
  return { severity: 'error', code: 'not-found', type: 'cannot-infer', text, expression: 'code' };
}

function withoutSystem({ system: _system, ...rest }: Sent): Sent {
  return rest;
}

function optionsOf(opened: TerminologyCall, call: Call, valueSet?: Resource): JudgeOptions {
  const { found, isSet } = opened;
  return {
    languages: languagesOf(opened, call, valueSet),
    isLenient: isSet('lenient-display-validation') || opened.text('mode') === 'lenient-display-validation',
    takesAbstract: valueOf(found, 'abstract') !== false,
    activeOnly: isSet('activeOnly'),
    membershipOnly: isSet('valueset-membership-only') || opened.text('valueSetMode') === 'CHECK_MEMBERSHIP_ONLY',
  };
}

const isWrong = ({ severity }: CodeIssue): boolean => severity === 'error';

/**
 * One coding has to be right. Of the others none may be wrong in itself, unless membership alone is asked for; that they are not in the
 * value set is no fault.
 */
function answer(
  sent: readonly Sent[],
  judged: readonly Judged[],
  opened: TerminologyCall,
  options: JudgeOptions,
): Reply {
  const isGood = ({ issues, member, isTaken }: Judged): boolean =>
    (member !== undefined || isTaken === true) && !issues.some(isWrong);
  const good = judged.find(isGood);
  const others = good === undefined || options.membershipOnly ? [] : judged.filter((each) => each !== good);
  const isFault = ({ type }: CodeIssue): boolean => type === 'invalid-code' || type === 'invalid-display';
  const faults = others.flatMap(({ issues }) => issues.filter(isFault));
  const result = good !== undefined && !faults.some(isWrong);
  const best = good ?? judged.find(({ member }) => member !== undefined) ?? judged[0];
  const asides = others.flatMap(({ issues }) => issues).filter((each) => !isFault(each));
  const issues =
    good === undefined ? judged.flatMap((each) => each.issues) : [...good.issues, ...faults, ...asides.map(asAside)];
  const first = sent[best === undefined ? 0 : judged.indexOf(best)];
  const member = best?.member ?? best?.concept;
  const display = member === undefined ? undefined : displayIn(member, options.languages);
  const code = first?.code ?? member?.code;
  const unknown = [...new Set(issues.flatMap((each) => (each.unknown === undefined ? [] : [each.unknown])))];
  return parametersOf(
    ['result', 'valueBoolean', result],
    ['message', 'valueString', issues.length === 0 ? undefined : issues.map(({ text }) => text).join('; ')],
    ['code', 'valueCode', code],
    ['normalized-code', 'valueCode', member !== undefined && member.code !== code ? member.code : undefined],
    ['system', 'valueUri', member?.system ?? first?.system],
    ['version', 'valueString', member?.version ?? first?.version],
    ['display', 'valueString', display],
    ['inactive', 'valueBoolean', member?.isInactive === true ? true : undefined],
    ['status', 'valueCode', member?.isInactive === true ? statusOf(member.concept?.properties ?? []) : undefined],
    ...unknown.map((each) => ['x-caused-by-unknown-system', 'valueCanonical', each] as const),
    ['codeableConcept', 'valueCodeableConcept', valueOf(opened.found, 'codeableConcept')],
    ['issues', 'resource', issues.length === 0 ? undefined : { resourceType: 'OperationOutcome', issue: issues.map(toOutcomeIssue) }], // prettier-ignore
  );
}

/** What is said of a coding that another one makes irrelevant. */
function asAside(issue: CodeIssue): CodeIssue {
  return issue.severity === 'error' ? { ...issue, severity: 'information' } : issue;
}

function statusOf(properties: readonly { readonly code: string; readonly value: JsonValue }[]): JsonValue | undefined {
  return properties.find(({ code }) => code === 'status')?.value;
}

/** What is to be checked, in one of its three forms. @throws FhirError `parameter-invalid` */
function sentOf({ found, text }: TerminologyCall): readonly Sent[] {
  const [code, coding, concept] = [text('code'), valueOf(found, 'coding'), valueOf(found, 'codeableConcept')];
  const given = [code, coding, concept].filter((each) => each !== undefined);
  if (given.length !== 1) {
    throw new FhirError('parameter-invalid', 'Give exactly one of "code", "coding" and "codeableConcept"');
  }
  if (code !== undefined) {
    const version = text('version') ?? text('systemVersion');
    return [pick({ system: text('system'), version, code, display: text('display') }, '')];
  }
  if (coding !== undefined) return [pick(coding as JsonObject, 'Coding')];
  const all = isObject(concept) ? objectsOf(concept['coding']) : [];
  // A text alone is no code of anything, which is an answer and no fault of the request.
  if (all.length === 0) return [{ place: 'CodeableConcept' }];
  return all.map((each, i) => pick(each, `CodeableConcept.coding[${i}]`));
}

function pick(
  { system, version, code, display }: { system?: unknown; version?: unknown; code?: unknown; display?: unknown },
  place: string,
): Sent {
  return {
    ...(typeof system === 'string' && { system }),
    ...(typeof version === 'string' && { version }),
    ...(typeof code === 'string' && { code }),
    ...(typeof display === 'string' && { display }),
    place,
  };
}
