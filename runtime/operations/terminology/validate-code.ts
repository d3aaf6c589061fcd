import type { Call, Reply } from '../../core/call.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import { isObject, type JsonObject, type JsonValue, type Resource } from '../../fhir/resource.js';
import { fold } from '../../search/values/fold.js';
import { objectsOf, type CodeSystemIndex } from '../../terminology/concepts.js';
import { memberDisplay } from '../../terminology/expand.js';
import { GRAMMARS } from '../../terminology/grammar.js';
import { findMember, systemsOf, type Member } from '../../terminology/value-set.js';
import { valueOf } from '../arguments.js';
import { languagesOf, more, openTerminology, parametersOf, resourceOf, type TerminologyCall } from './context.js';

const ISSUE_TYPE = 'http://hl7.org/fhir/tools/CodeSystem/tx-issue-type';

/** Something that is wrong with a coding. */
interface Issue {
  readonly severity: 'error' | 'warning';
  /** https://hl7.org/fhir/R5/valueset-issue-type.html */
  readonly code: string;
  /** Of the terminology services of HL7. */
  readonly type: 'not-in-vs' | 'invalid-code' | 'invalid-display' | 'not-found' | 'code-rule' | 'this-code-not-in-vs';
  readonly text: string;
  readonly expression: string;
}

/** A coding as it was sent, and where. */
interface Sent {
  readonly system?: string;
  readonly version?: string;
  readonly code: string;
  readonly display?: string;
  /** FHIRPath: `code`, `Coding`, `CodeableConcept.coding[0]`. */
  readonly place: string;
}

/** What became of one coding. */
interface Judged {
  readonly issues: readonly Issue[];
  readonly member?: Member;
}

/**
 * `ValueSet/$validate-code`: whether a code is in a value set. https://hl7.org/fhir/R5/valueset-operation-validate-code.html
 *
 * @throws FhirError `parameter-invalid` unless one of code, coding and codeableConcept is given, `terminology-not-found`
 */
export async function validateInValueSet(call: Call, services: Services): Promise<Reply> {
  const opened = openTerminology(call, services);
  const names = { url: 'url', version: 'valueSetVersion', resource: 'valueSet' };
  const valueSet = await resourceOf('ValueSet', names, opened, call, services);
  const sent = codingsOf(opened, 'systemVersion');
  const judged: Judged[] = [];
  for (const each of sent) judged.push(await judgeInValueSet(each, valueSet, opened));
  return answer(sent, judged, opened);
}

/**
 * `CodeSystem/$validate-code`: whether a code is in a code system. https://hl7.org/fhir/R5/codesystem-operation-validate-code.html
 */
export async function validateInCodeSystem(call: Call, services: Services): Promise<Reply> {
  const opened = openTerminology(call, services, [more('system', 'uri')]);
  const own = await ownSystem(opened, call, services);
  const sent = codingsOf(opened, 'version').map((each) => {
    const system = each.system ?? own?.url ?? opened.text('url');
    return system === undefined ? each : { ...each, system };
  });
  if (sent.some(({ system }) => system === undefined)) {
    throw new FhirError(
      'parameter-invalid',
      'Name the code system: as "url", as "codeSystem", in the coding, or by its id in the URL',
    );
  }
  const judged: Judged[] = [];
  for (const each of sent) {
    if (own !== undefined && each.system !== own.url) {
      const text = `The coding is of ${each.system}, and the code system asked for is ${own.url}`;
      judged.push({
        issues: [
          { severity: 'error', code: 'invalid', type: 'invalid-code', text, expression: `${each.place}.system` },
        ],
      });
    } else judged.push(await judgeInSystem(each, own, opened));
  }
  return answer(sent, judged, opened);
}

async function ownSystem(
  opened: TerminologyCall,
  call: Call,
  services: Services,
): Promise<CodeSystemIndex | undefined> {
  const url = opened.text('url');
  const isNamed = call.id !== undefined || valueOf(opened.found, 'codeSystem') !== undefined || url !== undefined;
  if (!isNamed || (url !== undefined && GRAMMARS.has(url))) return undefined;
  const resource = await resourceOf(
    'CodeSystem',
    { url: 'url', version: 'version', resource: 'codeSystem' },
    opened,
    call,
    services,
  );
  const { indexCodeSystem } = await import('../../terminology/concepts.js');
  const known = await opened.resolver.codeSystem(String(resource['url']), resource['version'] as string | undefined);
  return known?.resource === resource ? known : indexCodeSystem(resource);
}

async function judgeInSystem(
  { system = '', version, ...sent }: Sent,
  own: CodeSystemIndex | undefined,
  opened: TerminologyCall,
): Promise<Judged> {
  const index = own ?? (await opened.resolver.codeSystem(system, version));
  const grammar = GRAMMARS.get(system);
  if (index === undefined || index.content === 'not-present') {
    if (grammar === undefined) return { issues: [unknownSystem(system, sent.place)] };
    const known = await grammar.check(sent.code);
    if (known === undefined) return { issues: [unknownCode(system, sent)] };
    const member = {
      system,
      code: sent.code,
      designations: [],
      ...(known.display !== undefined && { display: known.display }),
    };
    return { member, issues: displayIssues(sent, member, opened) };
  }
  const concept = index.find(sent.code);
  if (concept === undefined) {
    if (index.content !== 'complete') {
      const text = `The code system ${system} is here in part only, so whether it has ${quote(sent.code)} cannot be decided`;
      return {
        issues: [{ severity: 'error', code: 'not-found', type: 'not-found', text, expression: `${sent.place}.code` }],
      };
    }
    return { issues: [unknownCode(system, sent)] };
  }
  const member: Member = {
    system,
    ...(index.version !== undefined && { version: index.version }),
    code: concept.code,
    ...(concept.display !== undefined && { display: concept.display }),
    designations: concept.designations,
    concept,
  };
  return { member, issues: [...displayIssues(sent, member, opened), ...abstractIssues(sent, member, opened)] };
}

async function judgeInValueSet(sent: Sent, valueSet: Resource, opened: TerminologyCall): Promise<Judged> {
  const { context } = opened;
  const systems = sent.system === undefined ? await systemsOf(valueSet, context) : [sent.system];
  let member: Member | undefined;
  for (const system of systems) {
    member = await findMember(valueSet, system, sent.code, context);
    if (member !== undefined) break;
  }
  if (member !== undefined) {
    const issues = [...displayIssues(sent, member, opened), ...abstractIssues(sent, member, opened)];
    return { member, issues };
  }
  const name = String(valueSet['url'] ?? 'the value set');
  const text = `The code ${quote(sent.system === undefined ? sent.code : `${sent.system}#${sent.code}`)} is not in ${name}`;
  const missing: Issue = {
    severity: 'error',
    code: 'code-invalid',
    type: 'not-in-vs',
    text,
    expression: `${sent.place}.code`,
  };
  // The code system may say why.
  const inSystem = sent.system === undefined ? { issues: [] } : await judgeInSystem(sent, undefined, opened);
  return { issues: [missing, ...inSystem.issues.filter(({ type }) => type !== 'invalid-display')] };
}

function displayIssues(
  sent: Pick<Sent, 'display' | 'place'>,
  member: Member,
  opened: TerminologyCall,
): readonly Issue[] {
  const { display } = sent;
  if (display === undefined) return [];
  const names = [member.display, ...member.designations.map(({ value }) => value)].filter((each) => each !== undefined);
  if (names.length === 0 || names.some((each) => fold(each) === fold(display))) return [];
  const severity = opened.isSet('lenient-display-validation') ? 'warning' : 'error';
  const text = `The display ${quote(display)} is wrong for ${member.system}#${member.code}; right is ${names.slice(0, 5).map(quote).join(' or ')}`;
  return [{ severity, code: 'invalid', type: 'invalid-display', text, expression: `${sent.place}.display` }];
}

function abstractIssues(
  sent: Pick<Sent, 'place'>,
  { concept, system, code }: Member,
  { found }: TerminologyCall,
): readonly Issue[] {
  if (concept?.isAbstract !== true || valueOf(found, 'abstract') !== false) return [];
  const text = `The code ${quote(`${system}#${code}`)} is abstract: it groups others, and stands for none`;
  return [{ severity: 'error', code: 'business-rule', type: 'code-rule', text, expression: `${sent.place}.code` }];
}

function unknownSystem(system: string, place: string): Issue {
  const text = `The server does not know the code system ${quote(system)}, so the code cannot be checked`;
  return { severity: 'error', code: 'not-found', type: 'not-found', text, expression: `${place}.system` };
}

function unknownCode(system: string, { code, place }: Pick<Sent, 'code' | 'place'>): Issue {
  const text = `The code system ${quote(system)} has no code ${quote(code)}`;
  return { severity: 'error', code: 'code-invalid', type: 'invalid-code', text, expression: `${place}.code` };
}

/** One coding is enough, of which all is right. */
function answer(sent: readonly Sent[], judged: readonly Judged[], opened: TerminologyCall): Reply {
  const isGood = ({ issues, member }: Judged): boolean =>
    member !== undefined && issues.every(({ severity }) => severity !== 'error');
  const good = judged.find(isGood);
  const best = good ?? judged.find(({ member }) => member !== undefined) ?? judged[0];
  const issues = good === undefined ? judged.flatMap((each) => each.issues) : good.issues;
  const first = sent[judged.indexOf(best!)];
  const member = best?.member;
  const display = member === undefined ? undefined : memberDisplay(member, languagesOf(opened));
  const concept = valueOf(opened.found, 'codeableConcept');
  return parametersOf(
    ['result', 'valueBoolean', good !== undefined],
    ['message', 'valueString', issues.length === 0 ? undefined : issues.map(({ text }) => text).join('; ')],
    ['code', 'valueCode', member?.code ?? first?.code],
    ['system', 'valueUri', member?.system ?? first?.system],
    ['version', 'valueString', member?.version],
    ['display', 'valueString', display],
    ['inactive', 'valueBoolean', member?.concept?.isInactive === true ? true : undefined],
    ['codeableConcept', 'valueCodeableConcept', concept],
    [
      'issues',
      'resource',
      issues.length === 0 ? undefined : { resourceType: 'OperationOutcome', issue: issues.map(toOutcome) },
    ],
  );
}

function toOutcome({ severity, code, type, text, expression }: Issue): JsonObject {
  return { severity, code, details: { coding: [{ system: ISSUE_TYPE, code: type }], text }, expression: [expression] };
}

/** What is to be checked, in one of its three forms. @throws FhirError `parameter-invalid` */
function codingsOf({ found, text }: TerminologyCall, versionName: string): readonly Sent[] {
  const [code, coding, concept] = [text('code'), valueOf(found, 'coding'), valueOf(found, 'codeableConcept')];
  const given = [code, coding, concept].filter((each) => each !== undefined);
  if (given.length !== 1)
    throw new FhirError('parameter-invalid', 'Give exactly one of "code", "coding" and "codeableConcept"');
  if (code !== undefined) {
    const plain = { system: text('system'), version: text(versionName), code, display: text('display'), place: 'code' };
    return [withoutUndefined({ ...plain, place: '' }, code)];
  }
  if (coding !== undefined) return [readCoding(coding, 'Coding')];
  const all = isObject(concept) ? objectsOf(concept['coding']) : [];
  if (all.length === 0) throw new FhirError('parameter-invalid', 'The CodeableConcept has no coding');
  return all.map((each, i) => readCoding(each, `CodeableConcept.coding[${i}]`));
}

function readCoding(value: JsonValue, place: string): Sent {
  const { system, version, code, display } = isObject(value) ? value : {};
  if (typeof code !== 'string') throw new FhirError('parameter-invalid', `The ${place} has no code`);
  return withoutUndefined({ system, version, display, place }, code);
}

function withoutUndefined(
  { system, version, display, place }: { system?: unknown; version?: unknown; display?: unknown; place: string },
  code: string,
): Sent {
  return {
    ...(typeof system === 'string' && { system }),
    ...(typeof version === 'string' && { version }),
    ...(typeof display === 'string' && { display }),
    ...{ code, place: place === '' ? 'code' : place },
  };
}

function quote(text: string): string {
  return JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);
}
