import type { Call, Reply } from '../../core/call.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import { isObject, type JsonObject, type JsonValue, objectsOf } from '../../fhir/resource.js';
import {
  ancestorsOf,
  latestKnown,
  subsumesByHierarchy,
  type CodeSystemIndex,
  type Concept,
  type Designation,
} from '../concepts.js';
import type { Effort } from '../effort.js';
import { fold } from '../../indexing/values/fold.js';
import { GRAMMARS, type Grammar } from '../systems/grammar.js';
import { designationsIn, displayIn, isLanguageOf, type Languages } from '../systems/languages.js';
import { splitCanonical } from '../resolver.js';
import { isVersion } from '../version.js';
import { valueOf, valuesOf } from '../../operations/common/arguments.js';
import { languagesOf, openTerminology, parametersOf, resourceOf, systemAt, type TerminologyCall } from './context.js';
import { designationsOfSupplements } from './stored-supplements.js';

const NAMES = { url: 'system', version: 'version', resource: 'codeSystem' };

/**
 * `CodeSystem/$lookup`: what a code means. https://hl7.org/fhir/R5/codesystem-operation-lookup.html
 *
 * @throws FhirError `parameter-invalid`, `terminology-not-found` for an unknown system or code
 */
export async function lookup(call: Call, services: Services): Promise<Reply> {
  const opened = openTerminology(call, services);
  const { code, system, version } = codeOf(opened, 'code', 'coding', call);
  const grammar = system === undefined ? undefined : GRAMMARS.get(system);
  const index = await systemOf(system, grammar !== undefined, opened, call, services, version);
  if (index === undefined || (index.content === 'not-present' && grammar !== undefined)) {
    const known = await grammar?.check(code);
    if (known === undefined) throw unknownCode(system ?? '', code);
    return parametersOf(
      ['name', 'valueString', grammar?.name],
      ['display', 'valueString', known.display ?? code],
      ['system', 'valueUri', system],
      ['code', 'valueCode', code],
    );
  }
  checkSystem(index, system, 'coding');
  const concept = index.find(code);
  if (concept === undefined) throw unknownCode(index.url, code);
  const asked = new Set(valuesOf(opened.found, 'property').map(String));
  const languages = languagesOf(opened, call);
  const more = await designationsOfSupplements(index, concept, [...languages.tags, ...tagsIn(asked)], call, services);
  const keyOf = ({ language, value }: Designation): string => `${language ?? ''} ${value}`;
  const known = new Set(concept.designations.map(keyOf));
  const designations = [...concept.designations, ...more.filter((each) => !known.has(keyOf(each)))];
  const { effort } = opened.context;
  effort.spend(asked.size + designations.length + concept.properties.length);
  return describe(index, { ...concept, designations }, asked, languages, effort);
}

/** The languages of designations that are asked for as properties: `lang.de`. */
function tagsIn(properties: Iterable<string>): readonly string[] {
  return [...properties].filter((each) => each.startsWith('lang.')).map((each) => each.slice('lang.'.length));
}

async function describe(
  index: CodeSystemIndex,
  concept: Concept,
  asked: ReadonlySet<string>,
  languages: Languages,
  effort: Effort,
): Promise<Reply> {
  const wants = (name: string): boolean => asked.size === 0 || asked.has('*') || asked.has(name);
  const display = displayIn(concept, languages) ?? concept.display ?? concept.code;
  const inLanguages = new Set(tagsIn(asked).map((tag) => tag.toLowerCase()));
  const all = designationsIn(concept, display);
  const designations = wants('designation')
    ? all
    : all.filter(({ language }) => language !== undefined && isLanguageOf(language, inLanguages));
  const part = (name: string, kind: string, value: unknown) => ({ name, [kind]: value });
  const property = (code: string, kind: string, value: JsonValue, description?: string, source?: string) => ({
    name: 'property',
    part: [
      part('code', 'valueCode', code),
      part('value', kind, value),
      ...(description === undefined ? [] : [part('description', 'valueString', description)]),
      ...(source === undefined ? [] : [part('source', 'valueCanonical', source)]),
    ],
  });
  const nameOf = (code: string): string | undefined => index.find(code)?.display;
  const reply = parametersOf(
    ['name', 'valueString', index.resource['name'] ?? index.resource['title'] ?? index.url],
    ['version', 'valueString', index.version],
    ['display', 'valueString', display],
    ['definition', 'valueString', wants('definition') ? concept.definition : undefined],
    ['abstract', 'valueBoolean', concept.isAbstract],
    ['system', 'valueUri', index.url],
    ['code', 'valueCode', concept.code],
  );
  const parameter = [...(reply.resource['parameter'] as JsonObject[])];
  const add = <T>(items: readonly T[], made: (each: T) => unknown): Promise<void> =>
    effort.forEach(items, (each) => void parameter.push(made(each) as JsonObject));
  await add(designations, ({ language, use, value }) => ({
    name: 'designation',
    part: [
      ...(language === undefined ? [] : [part('language', 'valueCode', language)]),
      ...(use === undefined ? [] : [part('use', 'valueCoding', use)]),
      part('value', 'valueString', value),
    ],
  }));
  const properties = concept.properties.filter(({ code }) => wants(code) && code !== 'parent' && code !== 'child');
  await add(properties, ({ code, kind, value, source }) =>
    property(code, kind, value, kind === 'valueCode' ? nameOf(String(value)) : undefined, source),
  );
  await add(wants('parent') ? concept.parents : [], (code) => property('parent', 'valueCode', code, nameOf(code)));
  await add(wants('child') ? concept.children : [], (code) => property('child', 'valueCode', code, nameOf(code)));
  if (wants('inactive') && !concept.properties.some(({ code }) => code === 'inactive'))
    parameter.push(property('inactive', 'valueBoolean', concept.isInactive) as unknown as JsonObject);
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
  const [named] = canonicalIn(opened.text('system'));
  const system = named ?? a.system ?? b.system;
  const grammar = call.id === undefined && system !== undefined ? GRAMMARS.get(system) : undefined;
  const index = await systemOf(system, grammar !== undefined, opened, call, services, a.version ?? b.version);
  if (index === undefined || (index.content === 'not-present' && grammar !== undefined)) return byRule(grammar, system, a.code, b.code); // prettier-ignore
  checkSystem(index, a.system, 'codingA');
  checkSystem(index, b.system, 'codingB');
  const [one, other] = [index.find(a.code), index.find(b.code)];
  if (one === undefined) throw unknownCode(index.url, a.code);
  if (other === undefined) throw unknownCode(index.url, b.code);
  const outcome = outcomeOf(index, one.code, other.code, opened.context.effort);
  return parametersOf(['outcome', 'valueCode', outcome]);
}

/** A rule says which codes there are, and not which are above others. @throws FhirError `terminology-not-found` */
async function byRule(grammar: Grammar | undefined, system = '', a: string, b: string): Promise<Reply> {
  for (const code of [a, b]) if ((await grammar?.check(code)) === undefined) throw unknownCode(system, code);
  if (a === b) return parametersOf(['outcome', 'valueCode', 'equivalent']);
  throw new FhirError('terminology-not-found', `Whether a code of ${system} subsumes another one is not known: a rule defines the codes, and no hierarchy`); // prettier-ignore
}

function outcomeOf(index: CodeSystemIndex, a: string, b: string, effort: Effort): string {
  if (a === b) return 'equivalent';
  if (!subsumesByHierarchy(index)) return 'not-subsumed';
  if (ancestorsOf(index, b, effort).has(a)) return 'subsumes';
  return ancestorsOf(index, a, effort).has(b) ? 'subsumed-by' : 'not-subsumed';
}

/** Matches that are returned. */
const MOST_MATCHES = 1000;

/**
 * `CodeSystem/$find-matches`: the codes that have all the properties given; where there are none, those that have some, each with what it
 * lacks. Unless `exact` is true, words of a display are enough. https://hl7.org/fhir/R5/codesystem-operation-find-matches.html
 *
 * @throws FhirError `parameter-invalid`, `terminology-not-found`
 */
export async function findMatches(call: Call, services: Services): Promise<Reply> {
  const opened = openTerminology(call, services);
  const index = await systemOf(opened.text('system'), false, opened, call, services);
  if (index === undefined) throw new FhirError('terminology-not-found');
  const wanted = (opened.found.get('property') ?? []).map((each) => {
    const parts = 'parts' in each ? each.parts : new Map();
    const [code, value] = [valueOf(parts, 'code'), valueOf(parts, 'value')];
    if (code === undefined || value === undefined) {
      throw new FhirError('parameter-invalid', 'Each "property" has a "code" and a "value", as parts of a parameter in a POST'); // prettier-ignore
    }
    return { code: String(code), value };
  });
  if (wanted.length === 0) throw new FhirError('parameter-invalid', 'Give at least one "property"');
  const { effort } = opened.context;
  const tests = wanted.map(({ code, value }) => propertyTest(code, plain(value), opened.isSet('exact')));
  const test = (concept: Concept): readonly boolean[] => {
    const shown = folded(concept);
    return tests.map((each) => each(concept, shown));
  };
  /** The first concepts that have some of the properties, by how many they lack. */
  const found: Concept[][] = [];
  const costOf = ({ display = '', properties, parents, children }: Concept): number =>
    1 + tests.length * (1 + display.length / 100 + (properties.length + parents.length + children.length) / 16);
  await effort.forEach(
    index.concepts.values(),
    (concept) => {
      const lacking = test(concept).filter((has) => !has).length;
      const some = lacking === tests.length ? undefined : (found[lacking] ??= []);
      if (some !== undefined && some.length < MOST_MATCHES) some.push(concept);
    },
    costOf,
  );
  const chosen = found[0] ?? found.flat().slice(0, MOST_MATCHES);
  const matches: JsonObject[] = [];
  await effort.forEach(
    chosen,
    (concept) => {
      const { code, display } = concept;
      const valueCoding = { system: index.url, code, ...(display !== undefined && { display }) };
      const has = test(concept);
      const unmatched = wanted
        .filter((_, i) => !has[i])
        .map((each) => ({
          name: 'unmatched',
          part: [
            { name: 'code', valueCode: each.code },
            { name: 'value', [kindOf(each.value)]: each.value },
          ],
        }));
      matches.push({ name: 'match', part: [{ name: 'code', valueCoding }, ...unmatched] } as unknown as JsonObject);
    },
    costOf,
  );
  const resource = { resourceType: 'Parameters', ...(matches.length > 0 && { parameter: matches }) };
  return { status: 200, resource: resource as unknown as JsonObject };
}

/** The display of a concept for comparison, when it is first asked for. */
function folded({ display = '' }: Concept): () => string {
  let made: string | undefined;
  return () => (made ??= fold(display));
}

/** Whether a concept has a property. @param shown its display for comparison */
function propertyTest(
  code: string,
  value: string,
  isExact: boolean,
): (concept: Concept, shown: () => string) => boolean {
  if (code === 'code') return (concept) => concept.code === value;
  if (code === 'display') {
    const words = fold(value);
    return ({ display = '' }, shown) => display === value || (!isExact && shown().includes(words));
  }
  if (code === 'parent') return ({ parents }) => parents.includes(value);
  if (code === 'child') return ({ children }) => children.includes(value);
  return ({ properties }) => properties.some((each) => each.code === code && plain(each.value) === value);
}

function kindOf(value: JsonValue): string {
  if (typeof value === 'boolean') return 'valueBoolean';
  if (typeof value === 'object') return 'valueCoding';
  return typeof value === 'string' ? 'valueString' : Number.isInteger(Number(value)) ? 'valueInteger' : 'valueDecimal';
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
): { readonly code: string; readonly system?: string; readonly version?: string } {
  const [plain, whole] = [text(code), valueOf(found, coding)];
  if ((plain === undefined) === (whole === undefined)) {
    throw new FhirError('parameter-invalid', `Give either "${code}" with "system", or "${coding}"`);
  }
  const [system, ownVersion] = canonicalIn(text('system'));
  if (plain !== undefined) {
    if (system === undefined && call.id === undefined)
      throw new FhirError('parameter-invalid', `"${code}" needs "system"`);
    return {
      code: plain,
      ...(system !== undefined && { system }),
      ...(ownVersion !== undefined && { version: ownVersion }),
    };
  }
  const { code: own, system: of, version: its } = isObject(whole) ? whole : {};
  if (typeof own !== 'string') throw new FhirError('parameter-invalid', `The coding "${coding}" has no code`);
  if (typeof of === 'string' && system !== undefined && of !== system) {
    throw new FhirError('parameter-invalid', `The coding "${coding}" is of ${JSON.stringify(of)}, and "system" is ${JSON.stringify(system)}`); // prettier-ignore
  }
  const asked = text('version') ?? ownVersion;
  if (typeof its === 'string' && asked !== undefined && !isVersion(its, asked)) {
    throw new FhirError('parameter-invalid', `The coding "${coding}" is of version ${JSON.stringify(its)}, and ${JSON.stringify(asked)} is asked for`); // prettier-ignore
  }
  const version = its ?? ownVersion;
  const named = typeof of === 'string' ? of : system;
  if (named === undefined && call.id === undefined)
    throw new FhirError('parameter-invalid', `The coding "${coding}" has no system`);
  return { code: own, ...(named !== undefined && { system: named }), ...(typeof version === 'string' && { version }) };
}

/** URL and version of a canonical that may be missing. */
function canonicalIn(text: string | undefined): readonly [url?: string, version?: string] {
  return text === undefined ? [] : splitCanonical(text);
}

/** The code system of a call; undefined: a rule defines it. @throws FhirError `terminology-not-found` */
async function systemOf(
  system: string | undefined,
  isRule: boolean,
  opened: TerminologyCall,
  call: Call,
  services: Services,
  version?: string,
): Promise<CodeSystemIndex | undefined> {
  if (call.id === undefined && system === undefined) throw new FhirError('parameter-invalid', 'Name the code system as "system"'); // prettier-ignore
  const asked = version ?? opened.text('version');
  const index =
    call.id === undefined
      ? await opened.resolver.codeSystem(system!, asked)
      : await systemAt(await resourceOf('CodeSystem', NAMES, opened, call, services), opened);
  if (index?.content === 'supplement') {
    throw new FhirError('terminology-not-found', `${JSON.stringify(index.url)} is a supplement and no code system`);
  }
  if (index !== undefined || isRule) return index;
  const known = asked === undefined ? undefined : await opened.resolver.codeSystem(system!);
  const text = known === undefined ? '' : ` in version ${asked}; ${latestKnown(known)}`;
  throw new FhirError('terminology-not-found', `The server does not know the code system ${JSON.stringify(system)}${text}`); // prettier-ignore
}

/** How codes of other systems relate to those of a code system is not known. @throws FhirError `parameter-invalid` */
function checkSystem({ url }: CodeSystemIndex, system: string | undefined, name: string): void {
  if (system === undefined || system === url) return;
  throw new FhirError('parameter-invalid', `"${name}" is of the system ${JSON.stringify(system)}, and the code system is ${url}`); // prettier-ignore
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
