import type { Call, Reply } from '../../core/call.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import { isObject, type JsonObject, type JsonValue } from '../../fhir/resource.js';
import {
  ancestorsOf,
  displayIn,
  indexCodeSystem,
  objectsOf,
  type CodeSystemIndex,
  type Concept,
} from '../../terminology/concepts.js';
import { GRAMMARS } from '../../terminology/grammar.js';
import { valueOf, valuesOf } from '../arguments.js';
import { languagesOf, openTerminology, parametersOf, resourceOf, type TerminologyCall } from './context.js';

const NAMES = { url: 'system', version: 'version', resource: 'codeSystem' };

/**
 * `CodeSystem/$lookup`: what a code means. https://hl7.org/fhir/R5/codesystem-operation-lookup.html
 *
 * @throws FhirError `parameter-invalid`, `terminology-not-found` for an unknown system or code
 */
export async function lookup(call: Call, services: Services): Promise<Reply> {
  const opened = openTerminology(call, services);
  const { code, system } = codeOf(opened, 'code', 'coding', call);
  const grammar = system === undefined ? undefined : GRAMMARS.get(system);
  const index = await systemOf(system, grammar !== undefined, opened, call, services);
  if (index === undefined || (index.content === 'not-present' && grammar !== undefined)) {
    const known = await grammar?.check(code);
    if (known === undefined) throw unknownCode(system ?? '', code);
    return parametersOf(['name', 'valueString', system], ['display', 'valueString', known.display ?? code]);
  }
  const concept = index.find(code);
  if (concept === undefined) throw unknownCode(index.url, code);
  return describe(index, concept, valuesOf(opened.found, 'property').map(String), languagesOf(opened));
}

function describe(
  index: CodeSystemIndex,
  concept: Concept,
  asked: readonly string[],
  languages: readonly string[],
): Reply {
  const wants = (name: string): boolean => asked.length === 0 || asked.includes('*') || asked.includes(name);
  const own = index.resource['language'];
  const display = displayIn(concept, languages, typeof own === 'string' ? own : undefined) ?? concept.code;
  const part = (name: string, kind: string, value: unknown) => ({ name, [kind]: value });
  const property = (code: string, kind: string, value: JsonValue, description?: string) => ({
    name: 'property',
    part: [part('code', 'valueCode', code), part('value', kind, value), ...(description === undefined ? [] : [part('description', 'valueString', description)])], // prettier-ignore
  });
  const nameOf = (code: string): string | undefined => index.find(code)?.display;
  const reply = parametersOf(
    ['name', 'valueString', index.resource['title'] ?? index.resource['name'] ?? index.url],
    ['version', 'valueString', index.version],
    ['display', 'valueString', display],
    ['definition', 'valueString', wants('definition') ? concept.definition : undefined],
    ['abstract', 'valueBoolean', concept.isAbstract],
    ['system', 'valueUri', index.url],
    ['code', 'valueCode', concept.code],
  );
  const parameter = [
    ...(reply.resource['parameter'] as JsonObject[]),
    ...(wants('designation') ? concept.designations : []).map(({ language, use, value }) => ({
      name: 'designation',
      part: [
        ...(language === undefined ? [] : [part('language', 'valueCode', language)]),
        ...(use === undefined ? [] : [part('use', 'valueCoding', use)]),
        part('value', 'valueString', value),
      ],
    })),
    ...concept.properties
      .filter(({ code }) => wants(code) && code !== 'parent' && code !== 'child')
      .map(({ code, kind, value }) => property(code, kind, value)),
    ...(wants('parent') ? concept.parents : []).map((code) => property('parent', 'valueCode', code, nameOf(code))),
    ...(wants('child') ? concept.children : []).map((code) => property('child', 'valueCode', code, nameOf(code))),
    ...(wants('inactive') && concept.isInactive && !concept.properties.some(({ code }) => code === 'inactive')
      ? [property('inactive', 'valueBoolean', true)]
      : []),
  ];
  return { status: 200, resource: { resourceType: 'Parameters', parameter } as JsonObject };
}

/**
 * `CodeSystem/$subsumes`: how two codes of one system relate. https://hl7.org/fhir/R5/codesystem-operation-subsumes.html
 *
 * @throws FhirError `parameter-invalid`, `terminology-not-found`
 */
export async function subsumes(call: Call, services: Services): Promise<Reply> {
  const opened = openTerminology(call, services);
  const a = codeOf(opened, 'codeA', 'codingA', call);
  const b = codeOf(opened, 'codeB', 'codingB', call);
  if (a.system !== undefined && b.system !== undefined && a.system !== b.system) {
    throw new FhirError('parameter-invalid', `The codes are of two systems: ${a.system} and ${b.system}`);
  }
  const index = await systemOf(a.system ?? b.system, false, opened, call, services);
  if (index === undefined) throw new FhirError('terminology-not-found');
  const [one, other] = [index.find(a.code), index.find(b.code)];
  if (one === undefined) throw unknownCode(index.url, a.code);
  if (other === undefined) throw unknownCode(index.url, b.code);
  const outcome =
    one.code === other.code
      ? 'equivalent'
      : ancestorsOf(index, other.code).has(one.code)
        ? 'subsumes'
        : ancestorsOf(index, one.code).has(other.code)
          ? 'subsumed-by'
          : 'not-subsumed';
  return parametersOf(['outcome', 'valueCode', outcome]);
}

/**
 * `CodeSystem/$find-matches`: the codes that have all the properties given. https://hl7.org/fhir/R5/codesystem-operation-find-matches.html
 */
export async function findMatches(call: Call, services: Services): Promise<Reply> {
  const opened = openTerminology(call, services);
  const index = await systemOf(opened.text('system'), false, opened, call, services);
  if (index === undefined) throw new FhirError('terminology-not-found');
  const wanted = (opened.found.get('property') ?? []).map((each) => {
    if (!('parts' in each)) return ['', ''] as const;
    return [String(valueOf(each.parts, 'code') ?? ''), plain(valueOf(each.parts, 'value'))] as const;
  });
  if (wanted.length === 0) throw new FhirError('parameter-invalid', 'Give at least one "property"');
  const has = (concept: Concept, code: string, value: string): boolean => {
    if (code === 'code') return concept.code === value;
    if (code === 'display') return concept.display === value;
    if (code === 'parent') return concept.parents.includes(value);
    if (code === 'child') return concept.children.includes(value);
    return concept.properties.some((each) => each.code === code && plain(each.value) === value);
  };
  const isExact = opened.isSet('exact');
  const matches: JsonObject[] = [];
  for (const concept of index.concepts.values()) {
    const met = wanted.filter(([code, value]) => has(concept, code, value));
    if (met.length === 0 || (isExact && met.length < wanted.length)) continue;
    if (!isExact && met.length < wanted.length) continue;
    const { code, display } = concept;
    const valueCoding = { system: index.url, code, ...(display !== undefined && { display }) };
    matches.push({ name: 'match', part: [{ name: 'code', valueCoding }] });
    if (matches.length >= 1000) break;
  }
  return { status: 200, resource: { resourceType: 'Parameters', ...(matches.length > 0 && { parameter: matches }) } };
}

function plain(value: JsonValue | undefined): string {
  return isObject(value) ? String(value['code'] ?? '') : String(value ?? '');
}

/** A code, by itself or within a coding. @throws FhirError `parameter-invalid` */
function codeOf(
  { found, text }: TerminologyCall,
  code: string,
  coding: string,
  call: Call,
): { readonly code: string; readonly system?: string } {
  const [plain, whole] = [text(code), valueOf(found, coding)];
  if ((plain === undefined) === (whole === undefined)) {
    throw new FhirError('parameter-invalid', `Give either "${code}" with "system", or "${coding}"`);
  }
  const system = text('system');
  if (plain !== undefined) {
    if (system === undefined && call.id === undefined)
      throw new FhirError('parameter-invalid', `"${code}" needs "system"`);
    return { code: plain, ...(system !== undefined && { system }) };
  }
  const { code: own, system: of } = isObject(whole) ? whole : {};
  if (typeof own !== 'string') throw new FhirError('parameter-invalid', `The coding "${coding}" has no code`);
  const named = typeof of === 'string' ? of : system;
  if (named === undefined && call.id === undefined)
    throw new FhirError('parameter-invalid', `The coding "${coding}" has no system`);
  return { code: own, ...(named !== undefined && { system: named }) };
}

/** The code system of a call; undefined: a rule defines it. @throws FhirError `terminology-not-found` */
async function systemOf(
  system: string | undefined,
  isRule: boolean,
  opened: TerminologyCall,
  call: Call,
  services: Services,
): Promise<CodeSystemIndex | undefined> {
  if (call.id !== undefined) return indexCodeSystem(await resourceOf('CodeSystem', NAMES, opened, call, services));
  if (system === undefined) throw new FhirError('parameter-invalid', 'Name the code system as "system"');
  const index = await opened.resolver.codeSystem(system, opened.text('version'));
  if (index === undefined && !isRule) {
    throw new FhirError('terminology-not-found', `The server does not know the code system ${JSON.stringify(system)}`);
  }
  return index;
}

function unknownCode(system: string, code: string): FhirError {
  return new FhirError(
    'terminology-not-found',
    `The code system ${JSON.stringify(system)} has no code ${JSON.stringify(code)}`,
  );
}

/** Codings of a value, for operations that take a CodeableConcept. */
export function codingsIn(value: JsonValue | undefined): readonly JsonObject[] {
  return isObject(value) ? objectsOf(value['coding']) : [];
}
