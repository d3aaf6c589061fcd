import { FhirError } from '../fhir/errors.js';
import { yieldUntil } from '../fhir/yield-until.js';
import type { Yield } from '../fhir/yield-to-event-loop.js';
import { isObject, type JsonObject, type JsonValue, type Resource } from '../fhir/resource.js';
import { canonicalOf, objectsOf, type CodeSystemIndex, type Concept, type Designation } from './concepts.js';
import { Effort } from './effort.js';
import { TerminologyFault } from './fault.js';
import { listedMembers, ruleMember, systemMember } from './member.js';
import { openSystem, type OpenSystem } from './systems/open-system.js';
import { supplementsNamedBy } from './resolver.js';
import type { Coded, Member, ValueSetContext } from './value-set-context.js';

export type { Coded, Member, Mismatch, ValueSetContext } from './value-set-context.js';

/** Codes that an expansion looks at, at most. */
export const MOST_CODES = 200_000;

/** What it costs to make a member, where to test a concept costs one. */
const STEPS_OF_MEMBER = 4;

/** Value sets within each other. */
const DEEPEST = 30;

/** The value sets that led here. */
interface Path {
  readonly urls: readonly string[];
  /** What is contained in the outermost one. */
  readonly contained: readonly JsonObject[];
  readonly supplements: readonly string[];
  readonly work: Work;
}

/** What is known of imported value sets while one question is answered: however often they are imported, each is looked at once. */
interface Work {
  readonly members: Map<Resource, Known<ReadonlyMap<string, Member>>>;
  readonly found: Map<Resource, Known<Member | undefined>>;
  readonly systems: Map<Resource, Known<ReadonlySet<string>>>;
  /** The members that code systems define. */
  readonly made: Map<Concept, Member>;
  /** Lets other requests have their turn. */
  readonly pace: Yield;
  readonly effort: Effort;
}

type Known<T> = { readonly value: T } | { readonly error: unknown };

function top({ signal, effort = new Effort() }: ValueSetContext): Path {
  const known = { members: new Map(), found: new Map(), systems: new Map(), made: new Map() };
  const work = { ...known, pace: yieldUntil(signal), effort };
  return { urls: [], contained: [], supplements: [], work };
}

/**
 * The members of a value set, in the order of its definition, each once.
 *
 * @throws FhirError `value-set-invalid`, `expansion-too-costly`; TerminologyFault where something is missing
 */
export function membersOf(valueSet: Resource, context: ValueSetContext): Promise<ReadonlyMap<string, Member>> {
  return members(valueSet, context, top(context));
}

async function members(
  valueSet: Resource,
  context: ValueSetContext,
  above: Path,
): Promise<ReadonlyMap<string, Member>> {
  const path = enter(valueSet, above);
  const compose = composeOf(valueSet);
  if (compose === undefined) return membersOfExpansion(valueSet);
  return computed(compose, valueSet, context, path).catch((error: unknown) => {
    if (canBeReplaced(error, valueSet)) return membersOfExpansion(valueSet);
    throw error;
  });
}

async function computed(
  compose: JsonObject,
  valueSet: Resource,
  context: ValueSetContext,
  path: Path,
): Promise<ReadonlyMap<string, Member>> {
  const found = new Map<string, Member>();
  for (const include of objectsOf(compose['include'])) {
    const part = await membersOfInclude(include, valueSet, context, path);
    path.work.effort.spend(part.size);
    for (const [key, member] of part) {
      if (!found.has(key)) found.set(key, member);
      if (found.size > MOST_CODES) throw new FhirError('expansion-too-costly');
    }
  }
  for (const exclude of objectsOf(compose['exclude'])) {
    const part = await membersOfInclude(exclude, valueSet, context, path);
    path.work.effort.spend(part.size);
    for (const key of part.keys()) found.delete(key);
  }
  if (compose['inactive'] === false) {
    for (const [key, { isInactive }] of found) if (isInactive) found.delete(key);
  }
  return found;
}

/**
 * Whether a code is a member, without an expansion; undefined: it is none. Where a part of the definition is missing, the others may still
 * say that it is one.
 *
 * @throws FhirError `value-set-invalid`; TerminologyFault where something is missing that decides
 */
export function findMember(valueSet: Resource, coded: Coded, context: ValueSetContext): Promise<Member | undefined> {
  return find(valueSet, coded, context, top(context));
}

async function find(
  valueSet: Resource,
  coded: Coded,
  context: ValueSetContext,
  above: Path,
): Promise<Member | undefined> {
  const path = enter(valueSet, above);
  const compose = composeOf(valueSet);
  const listed = (): Member | undefined => membersOfExpansion(valueSet).get(keyOf(coded.system, coded.code));
  if (compose === undefined) return listed();
  return findComputed(compose, coded, valueSet, context, path).catch((error: unknown) => {
    if (canBeReplaced(error, valueSet)) return listed();
    throw error;
  });
}

async function findComputed(
  compose: JsonObject,
  coded: Coded,
  valueSet: Resource,
  context: ValueSetContext,
  path: Path,
): Promise<Member | undefined> {
  let found: Member | undefined;
  let fault: TerminologyFault | undefined;
  for (const include of objectsOf(compose['include'])) {
    try {
      found = await findInInclude(include, coded, valueSet, context, path);
    } catch (error) {
      if (!(error instanceof TerminologyFault)) throw error;
      fault ??= error;
    }
    if (found !== undefined) break;
  }
  if (found === undefined && fault !== undefined) throw fault;
  if (found === undefined) return undefined;
  for (const exclude of objectsOf(compose['exclude'])) {
    if ((await findInInclude(exclude, coded, valueSet, context, path)) !== undefined) return undefined;
  }
  return compose['inactive'] === false && found.isInactive ? undefined : found;
}

/** What a value set is computed from; undefined: nothing. A stored one that was never validated may have anything in its place. */
function composeOf({ compose }: Resource): JsonObject | undefined {
  return isObject(compose) ? compose : undefined;
}

/** Systems that a value set draws codes from, those of imported value sets included. */
export function systemsOf(valueSet: Resource, context: ValueSetContext): Promise<ReadonlySet<string>> {
  return systems(valueSet, context, top(context));
}

async function systems(valueSet: Resource, context: ValueSetContext, above: Path): Promise<ReadonlySet<string>> {
  const path = enter(valueSet, above);
  const compose = composeOf(valueSet);
  const found = new Set<string>();
  if (compose === undefined) for (const { system } of membersOfExpansion(valueSet).values()) found.add(system);
  for (const include of objectsOf(compose?.['include'])) {
    if (typeof include['system'] === 'string') found.add(include['system']);
    else {
      for (const each of await importsOf(include, context, path)) {
        for (const system of await known(path, path.work.systems, each, () => systems(each, context, path)))
          found.add(system);
      }
    }
  }
  return found;
}

/**
 * Looks at all value sets that one is made of. A code may be found to be no member before they are all reached.
 *
 * @throws FhirError `value-set-invalid` where they contain each other in a circle
 */
export async function checkImports(valueSet: Resource, context: ValueSetContext): Promise<void> {
  const seen = new Set<Resource>();
  const look = async (each: Resource, above: Path): Promise<void> => {
    const path = enter(each, above);
    if (seen.has(each)) return;
    seen.add(each);
    const compose = composeOf(each);
    for (const part of [...objectsOf(compose?.['include']), ...objectsOf(compose?.['exclude'])]) {
      if (part['valueSet'] === undefined) continue;
      await path.work.pace();
      for (const imported of await importsOf(part, context, path).catch(unlessMissing)) await look(imported, path);
    }
  };
  await look(valueSet, top(context));
}

/** What is missing did not decide. */
function unlessMissing(error: unknown): readonly Resource[] {
  if (error instanceof TerminologyFault) return [];
  throw error;
}

/** What a code is known by. */
export function keyOf(system: string, code: string): string {
  return `${system}|${code}`;
}

/** @throws FhirError `value-set-invalid` where value sets contain each other in a circle */
function enter(valueSet: Resource, above: Path): Path {
  const url = String(valueSet['url'] ?? '');
  const { urls } = above;
  if (url !== '' && urls.includes(url)) {
    const circle = [...urls.slice(urls.indexOf(url)), url].join(' → ');
    throw new FhirError('value-set-invalid', `The value set cannot be used: it contains itself: ${circle}`);
  }
  if (urls.length > DEEPEST) throw new FhirError('value-set-invalid', 'The value set imports others too deeply');
  return {
    urls: [...urls, url],
    contained: urls.length === 0 ? objectsOf(valueSet['contained']) : above.contained,
    supplements: [...new Set([...above.supplements, ...supplementsNamedBy(valueSet)])],
    work: above.work,
  };
}

async function membersOfInclude(
  include: JsonObject,
  valueSet: Resource,
  context: ValueSetContext,
  path: Path,
): Promise<ReadonlyMap<string, Member>> {
  await path.work.pace();
  checkInclude(include);
  let found: ReadonlyMap<string, Member> | undefined;
  if (typeof include['system'] === 'string') found = await membersOfSystem(include, valueSet, context, path);
  for (const imported of await importsOf(include, context, path)) {
    const inner = await known(path, path.work.members, imported, () => members(imported, context, path));
    path.work.effort.spend(found?.size ?? 0);
    found = found === undefined ? inner : new Map([...found].filter(([key]) => inner.has(key)));
  }
  return found ?? new Map<string, Member>();
}

/** What was found out of an imported value set. Supplements above it may change that, so that it is looked at anew then. */
async function known<T>(
  { supplements }: Path,
  before: Map<Resource, Known<T>>,
  imported: Resource,
  make: () => Promise<T>,
): Promise<T> {
  let found = supplements.length > 0 ? undefined : before.get(imported);
  if (found === undefined) {
    found = await make().then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    before.set(imported, found);
  }
  if ('error' in found) throw found.error;
  return found.value;
}

/** https://hl7.org/fhir/R5/valueset.html#invs @throws FhirError `value-set-invalid` */
function checkInclude({ system, valueSet, concept, filter }: JsonObject): void {
  if (typeof system === 'string') return;
  const lacks = concept !== undefined || filter !== undefined ? 'concepts or filters without a system (vsd-2)' : valueSet === undefined ? 'neither a system nor a value set (vsd-1)' : undefined; // prettier-ignore
  if (lacks !== undefined)
    throw new FhirError('value-set-invalid', `The value set cannot be used: an include has ${lacks}`);
}

async function findInInclude(
  include: JsonObject,
  coded: Coded,
  valueSet: Resource,
  context: ValueSetContext,
  path: Path,
): Promise<Member | undefined> {
  await path.work.pace();
  checkInclude(include);
  let found: Member | undefined;
  if (typeof include['system'] === 'string') {
    if (include['system'] !== coded.system) return undefined;
    found = await findInSystem(include, coded, valueSet, context, path);
    if (found === undefined) return undefined;
  }
  for (const imported of await importsOf(include, context, path)) {
    const member = await known(path, path.work.found, imported, () => find(imported, coded, context, path));
    if (member === undefined) return undefined;
    found ??= member;
  }
  return found;
}

/** The value sets that an include draws from; `#id` names one that is contained. @throws TerminologyFault */
async function importsOf(
  include: JsonObject,
  { resolver, used }: ValueSetContext,
  path: Path,
): Promise<readonly Resource[]> {
  const canonicals = Array.isArray(include['valueSet']) ? include['valueSet'].map(String) : [];
  const found: Resource[] = [];
  for (const canonical of canonicals) {
    const isWithin = canonical.startsWith('#');
    const valueSet = isWithin
      ? (path.contained.find(({ id }) => `#${String(id)}` === canonical) as Resource | undefined)
      : await resolver.valueSet(canonical);
    if (valueSet === undefined) {
      throw new TerminologyFault(
        'value-set',
        canonical,
        `The server does not know the value set ${JSON.stringify(canonical)}`,
      );
    }
    if (!isWithin) used.valueSets.add(canonicalOf(valueSet));
    found.push(valueSet);
  }
  return found;
}

async function membersOfSystem(
  include: JsonObject,
  valueSet: Resource,
  context: ValueSetContext,
  { supplements, work }: Path,
): Promise<ReadonlyMap<string, Member>> {
  const opened = await openSystem(include, context, supplements, work.effort);
  const { url, system, concepts, filters } = opened;
  const found = new Map<string, Member>();
  const add = (member: Member): void => {
    if (found.size >= MOST_CODES) throw new FhirError('expansion-too-costly');
    work.effort.spend(STEPS_OF_MEMBER);
    found.set(keyOf(url, member.code), member);
  };
  if (concepts !== undefined) {
    for (const member of await listedMembers(concepts, opened, valueSet)) add(named(member, valueSet));
    return found;
  }
  if (system === undefined) {
    throw new FhirError('expansion-too-costly', `The codes of ${url} cannot be listed: a rule defines them`);
  }
  for (const concept of candidates(opened, system)) {
    // Hardly ever: to wait for nothing takes longer than most filters.
    const turn = work.pace();
    if (turn !== undefined) await turn;
    work.effort.spend(1 + filters.length);
    if (filters.every(({ test }) => test(concept))) add(madeOnce(opened, concept, work));
  }
  return found;
}

/** A member that a code system defines. Includes that overlap share it. */
function madeOnce(opened: OpenSystem, concept: Concept, { made }: Work): Member {
  const known = made.get(concept);
  if (known?.system === opened.url && known.version === opened.version) return known;
  const member = systemMember(opened, concept);
  made.set(concept, member);
  return member;
}

/** The concepts that may pass the filters, in the order of the code system: those of the closure that is smallest, if there is any. */
function candidates({ filters }: OpenSystem, system: CodeSystemIndex): Iterable<Concept> {
  const sets = filters.flatMap(({ among }) => (among === undefined ? [] : [among()]));
  const [smallest] = sets.sort((a, b) => a.size - b.size);
  if (smallest === undefined || smallest.size * 2 > system.concepts.size) return system.concepts.values();
  const found = [...smallest].flatMap((code) => system.concepts.get(code) ?? []);
  return found.sort((a, b) => a.position - b.position);
}

async function findInSystem(
  include: JsonObject,
  coded: Coded,
  valueSet: Resource,
  context: ValueSetContext,
  { supplements, work }: Path,
): Promise<Member | undefined> {
  const opened = await openSystem(include, context, supplements, work.effort, coded.version);
  const { url, system, concepts, filters, grammar, mismatch } = opened;
  work.effort.spend(1 + (concepts?.length ?? filters.length));
  const { code } = coded;
  const concept = system?.find(code);
  let member: Member | undefined;
  if (concepts !== undefined) {
    const isSame = (listed: string): boolean =>
      listed === code || (concept !== undefined && system?.find(listed) === concept);
    const listed = concepts.find((each) => isSame(String(each['code'])));
    if (listed !== undefined) [member] = await listedMembers([listed], opened, valueSet);
    if (member !== undefined) member = named(member, valueSet);
  } else if (system === undefined) {
    const known = await grammar?.check(code);
    if (known !== undefined) member = ruleMember(url, code, known.display);
  } else if (concept === undefined) checkComplete(system, code);
  else if (filters.every(({ test }) => test(concept))) member = systemMember(opened, concept);
  if (member !== undefined && mismatch !== undefined) {
    context.mismatches?.push(mismatch);
    return undefined;
  }
  return member;
}

/** @throws TerminologyFault for a code that a part of a code system lacks */
export function checkComplete({ url, content }: CodeSystemIndex, code: string): void {
  if (content === 'complete') return;
  const text = `The server has a part of the code system ${url} only, and ${JSON.stringify(code)} is not in it: whether the code exists cannot be decided`;
  throw new TerminologyFault(content === 'fragment' ? 'fragment' : 'system', url, text);
}

/** Whether the expansion that a value set comes with is the answer: its definition needs what the server does not know, and it is whole. */
function canBeReplaced(error: unknown, valueSet: Resource): boolean {
  if (!(error instanceof TerminologyFault) || (error.kind !== 'system' && error.kind !== 'value-set')) return false;
  const { total, offset = 0, parameter, contains } = (valueSet['expansion'] ?? {}) as JsonObject;
  const isLimited = objectsOf(parameter).some(({ name }) => name === 'limitedExpansion' || name === 'count');
  if (contains === undefined || offset !== 0 || isLimited) return false;
  return total === undefined || total === membersOfExpansion(valueSet).size;
}

const listed = new WeakMap<Resource, ReadonlyMap<string, Member>>();

/** The members that the expansion of a value set lists. */
function membersOfExpansion(valueSet: Resource): ReadonlyMap<string, Member> {
  const known = listed.get(valueSet);
  if (known !== undefined) return known;
  const found = new Map<string, Member>();
  listed.set(valueSet, found);
  const visit = (list: JsonValue | undefined): void => {
    for (const each of objectsOf(list)) {
      const { system, code, display, version } = each;
      if (typeof system === 'string' && typeof code === 'string') {
        found.set(keyOf(system, code), {
          ...{ system, code },
          ...(typeof display === 'string' && { display }),
          ...(typeof version === 'string' && { version }),
          designations: objectsOf(each['designation']).map(toDesignation),
          isAbstract: each['abstract'] === true,
          isInactive: each['inactive'] === true,
        });
      }
      visit(each['contains']);
    }
  };
  visit((valueSet['expansion'] as JsonObject | undefined)?.['contains']);
  return found;
}

/** A code that neither its code system nor the list names has its name from the expansion that the value set comes with. */
function named(member: Member, valueSet: Resource): Member {
  if (member.display !== undefined) return member;
  const { display } = membersOfExpansion(valueSet).get(keyOf(member.system, member.code)) ?? {};
  return display === undefined ? member : { ...member, display };
}

function toDesignation({ language, use, value }: JsonObject): Designation {
  return {
    ...(typeof language === 'string' && { language }),
    ...(isObject(use) && { use }),
    value: String(value),
  };
}
