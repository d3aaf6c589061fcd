import { FhirError } from '../fhir/errors.js';
import type { JsonObject, JsonValue, Resource } from '../fhir/resource.js';
import { objectsOf, type CodeSystemIndex, type Concept, type Designation } from './concepts.js';
import { filterTest } from './filter.js';
import { GRAMMARS, type Grammar } from './grammar.js';
import type { Resolver, VersionRules } from './resolver.js';

/** A code of a value set. */
export interface Member {
  readonly system: string;
  readonly version?: string;
  readonly code: string;
  readonly display?: string;
  readonly designations: readonly Designation[];
  /** Absent: a rule or a list of the value set knows the code, and no code system. */
  readonly concept?: Concept;
}

/** What value sets are read with. */
export interface ValueSetContext {
  readonly resolver: Resolver;
  readonly versions: VersionRules;
  readonly signal: AbortSignal | undefined;
  /** Canonicals of the code systems and value sets that were used. */
  readonly used: { readonly systems: Set<string>; readonly valueSets: Set<string> };
}

/** Codes that an expansion looks at, at most. */
export const MOST_CODES = 200_000;

/** Value sets within each other. */
const DEEPEST = 30;

/** The members of a value set, in the order of its definition, each once. */
export async function membersOf(
  valueSet: Resource,
  context: ValueSetContext,
  above: readonly string[] = [],
): Promise<ReadonlyMap<string, Member>> {
  const path = enter(valueSet, above);
  const { compose } = valueSet as { compose?: JsonObject };
  if (compose === undefined) return membersOfExpansion(valueSet);
  const found = new Map<string, Member>();
  for (const include of objectsOf(compose['include'])) {
    for (const [key, member] of await membersOfInclude(include, context, path)) {
      if (!found.has(key)) found.set(key, member);
      if (found.size > MOST_CODES) throw new FhirError('expansion-too-costly');
    }
  }
  for (const exclude of objectsOf(compose['exclude'])) {
    for (const key of (await membersOfInclude(exclude, context, path)).keys()) found.delete(key);
  }
  if (compose['inactive'] === false) {
    for (const [key, { concept }] of found) if (concept?.isInactive === true) found.delete(key);
  }
  return found;
}

/** Whether a code is a member, without an expansion where there is another way; undefined: it is none. */
export async function findMember(
  valueSet: Resource,
  system: string,
  code: string,
  context: ValueSetContext,
  above: readonly string[] = [],
): Promise<Member | undefined> {
  const path = enter(valueSet, above);
  const { compose } = valueSet as { compose?: JsonObject };
  if (compose === undefined) return membersOfExpansion(valueSet).get(keyOf(system, code));
  let found: Member | undefined;
  for (const include of objectsOf(compose['include'])) {
    found = await findInInclude(include, system, code, context, path);
    if (found !== undefined) break;
  }
  if (found === undefined) return undefined;
  for (const exclude of objectsOf(compose['exclude'])) {
    if ((await findInInclude(exclude, system, code, context, path)) !== undefined) return undefined;
  }
  return compose['inactive'] === false && found.concept?.isInactive === true ? undefined : found;
}

/** Systems that a value set draws codes from, those of imported value sets included. */
export async function systemsOf(
  valueSet: Resource,
  context: ValueSetContext,
  above: readonly string[] = [],
): Promise<ReadonlySet<string>> {
  const path = enter(valueSet, above);
  const { compose } = valueSet as { compose?: JsonObject };
  const found = new Set<string>();
  if (compose === undefined) for (const { system } of membersOfExpansion(valueSet).values()) found.add(system);
  for (const include of objectsOf(compose?.['include'])) {
    if (typeof include['system'] === 'string') found.add(include['system']);
    else for (const each of await importsOf(include, context)) for (const system of await systemsOf(each, context, path)) found.add(system); // prettier-ignore
  }
  return found;
}

/** What a code is known by. */
export function keyOf(system: string, code: string): string {
  return `${system}|${code}`;
}

/** @throws FhirError `value-set-invalid` where value sets contain each other in a circle */
function enter(valueSet: Resource, above: readonly string[]): readonly string[] {
  const url = String(valueSet['url'] ?? '');
  if (url !== '' && above.includes(url)) {
    const circle = [...above.slice(above.indexOf(url)), url].join(' → ');
    throw new FhirError('value-set-invalid', `The value set cannot be used: it contains itself: ${circle}`);
  }
  if (above.length > DEEPEST) throw new FhirError('value-set-invalid', 'The value set imports others too deeply');
  return [...above, url];
}

async function membersOfInclude(
  include: JsonObject,
  context: ValueSetContext,
  path: readonly string[],
): Promise<ReadonlyMap<string, Member>> {
  context.signal?.throwIfAborted();
  let found: ReadonlyMap<string, Member> | undefined;
  if (typeof include['system'] === 'string') found = await membersOfSystem(include, context);
  for (const imported of await importsOf(include, context)) {
    const members = await membersOf(imported, context, path);
    found = found === undefined ? members : new Map([...found].filter(([key]) => members.has(key)));
  }
  return found ?? new Map<string, Member>();
}

async function findInInclude(
  include: JsonObject,
  system: string,
  code: string,
  context: ValueSetContext,
  path: readonly string[],
): Promise<Member | undefined> {
  let found: Member | undefined;
  if (typeof include['system'] === 'string') {
    if (include['system'] !== system) return undefined;
    found = await findInSystem(include, code, context);
    if (found === undefined) return undefined;
  }
  for (const imported of await importsOf(include, context)) {
    const member = await findMember(imported, system, code, context, path);
    if (member === undefined) return undefined;
    found ??= member;
  }
  return found;
}

/** The value sets that an include draws from. @throws FhirError `terminology-not-found` */
async function importsOf(include: JsonObject, { resolver, used }: ValueSetContext): Promise<readonly Resource[]> {
  const canonicals = Array.isArray(include['valueSet']) ? include['valueSet'].map(String) : [];
  const found: Resource[] = [];
  for (const canonical of canonicals) {
    const valueSet = await resolver.valueSet(canonical);
    if (valueSet === undefined) {
      throw new FhirError(
        'terminology-not-found',
        `The server does not know the value set ${JSON.stringify(canonical)}`,
      );
    }
    used.valueSets.add(canonicalOf(valueSet));
    found.push(valueSet);
  }
  return found;
}

async function membersOfSystem(include: JsonObject, context: ValueSetContext): Promise<ReadonlyMap<string, Member>> {
  const { system, concepts, test, version, grammar } = await openSystem(include, context);
  const url = String(include['system']);
  const found = new Map<string, Member>();
  const add = (member: Member): void => void found.set(keyOf(url, member.code), member);
  if (concepts !== undefined) {
    for (const { code, concept } of await listConcepts(concepts, system, grammar))
      add(toMember(url, version, code, concept, system));
    return found;
  }
  if (system === undefined) {
    const all = grammar?.list?.();
    if (all === undefined)
      throw new FhirError('expansion-too-costly', `The codes of ${url} cannot be listed: a rule defines them`);
    for (const { code, display } of all)
      add({ system: url, code, ...(display !== undefined && { display }), designations: [] });
    return found;
  }
  for (const concept of system.concepts.values()) {
    if (!test(concept)) continue;
    add(toMember(url, version, concept.code, {}, system));
    if (found.size > MOST_CODES) throw new FhirError('expansion-too-costly');
  }
  return found;
}

async function findInSystem(include: JsonObject, code: string, context: ValueSetContext): Promise<Member | undefined> {
  const { system, concepts, test, version, grammar } = await openSystem(include, context);
  const url = String(include['system']);
  const concept = system?.find(code);
  if (concepts !== undefined) {
    const listed = concepts.find((each) => each['code'] === code || each['code'] === concept?.code);
    if (listed === undefined) return undefined;
    const [known] = await listConcepts([listed], system, grammar);
    return known === undefined ? undefined : toMember(url, version, known.code, listed, system);
  }
  if (system === undefined) {
    const known = await grammar?.check(code);
    if (known === undefined) return undefined;
    return { system: url, code, ...(known.display !== undefined && { display: known.display }), designations: [] };
  }
  return concept !== undefined && test(concept) ? toMember(url, version, concept.code, {}, system) : undefined;
}

interface OpenSystem {
  readonly system: CodeSystemIndex | undefined;
  readonly grammar: Grammar | undefined;
  readonly version: string | undefined;
  /** The list of the value set itself. */
  readonly concepts: readonly JsonObject[] | undefined;
  readonly test: (concept: Concept) => boolean;
}

/** The system of an include in the version that counts. @throws FhirError `terminology-not-found`, `value-set-invalid` */
async function openSystem(include: JsonObject, { resolver, versions, used }: ValueSetContext): Promise<OpenSystem> {
  const url = String(include['system']);
  const listed = objectsOf(include['concept']);
  const concepts = Array.isArray(include['concept']) ? listed : undefined;
  const filters = objectsOf(include['filter']);
  const asked = versions.force.get(url) ?? textOf(include['version']) ?? versions.system.get(url);
  const system = await resolver.codeSystem(url, asked);
  const grammar = GRAMMARS.get(url);
  const version = system?.version ?? asked;
  const check = versions.check.get(url);
  if (check !== undefined && version !== check && !String(version).startsWith(check.replace(/x$/, ''))) {
    throw new FhirError(
      'value-set-invalid',
      `The version of ${url} has to be ${check}, and is ${version ?? 'unknown'}`,
    );
  }
  const isUsable = system !== undefined && system.content !== 'not-present' && system.content !== 'supplement';
  if (!isUsable && grammar === undefined && concepts === undefined) {
    const text = `The server does not know the code system ${url}${asked === undefined ? '' : `|${asked}`}, so the value set cannot be expanded`;
    throw new FhirError('terminology-not-found', text);
  }
  if (!isUsable && grammar !== undefined && filters.length > 0) {
    throw new FhirError('value-set-invalid', `Filters on ${url} are not supported: a rule defines its codes`);
  }
  used.systems.add(version === undefined ? url : `${url}|${version}`);
  const known = isUsable ? system : undefined;
  const tests = known === undefined ? [] : filters.map((filter) => filterTest(filter, known));
  return { system: known, grammar, version, concepts, test: (concept) => tests.every((each) => each(concept)) };
}

/** Codes that a value set lists: those that the code system has, or all where it is not known or incomplete. */
async function listConcepts(
  concepts: readonly JsonObject[],
  system: CodeSystemIndex | undefined,
  grammar: Grammar | undefined,
): Promise<readonly { readonly code: string; readonly concept: JsonObject }[]> {
  const found: { code: string; concept: JsonObject }[] = [];
  for (const concept of concepts) {
    const code = String(concept['code']);
    const known = system?.find(code);
    if (system?.content === 'complete' && known === undefined) continue;
    if (system === undefined && grammar !== undefined && (await grammar.check(code)) === undefined) continue;
    found.push({ code: known?.code ?? code, concept });
  }
  return found;
}

function toMember(
  url: string,
  version: string | undefined,
  code: string,
  listed: JsonObject,
  system: CodeSystemIndex | undefined,
): Member {
  const concept = system?.find(code);
  const display = textOf(listed['display']) ?? concept?.display;
  const own = objectsOf(listed['designation']).map(({ language, use, value }): Designation => ({
    ...(typeof language === 'string' && { language }),
    ...(use !== undefined && { use: use as JsonObject }),
    value: String(value),
  }));
  return {
    system: url,
    ...(version !== undefined && { version }),
    code,
    ...(display !== undefined && { display }),
    designations: [...own, ...(concept?.designations ?? [])],
    ...(concept !== undefined && { concept }),
  };
}

/** The members that an expansion lists, where a value set has no definition. */
function membersOfExpansion(valueSet: Resource): ReadonlyMap<string, Member> {
  const found = new Map<string, Member>();
  const visit = (list: JsonValue | undefined): void => {
    for (const each of objectsOf(list)) {
      const [system, code, display, version] = [each['system'], each['code'], each['display'], each['version']];
      if (typeof system === 'string' && typeof code === 'string' && each['abstract'] !== true) {
        found.set(keyOf(system, code), {
          ...{ system, code, designations: [] },
          ...(typeof display === 'string' && { display }),
          ...(typeof version === 'string' && { version }),
        });
      }
      visit(each['contains']);
    }
  };
  visit((valueSet['expansion'] as JsonObject | undefined)?.['contains']);
  return found;
}

/** URL and version. */
export function canonicalOf({ url, version }: Resource): string {
  return version === undefined ? String(url) : `${String(url)}|${String(version)}`;
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
