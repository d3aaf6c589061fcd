import { FhirError } from '../fhir/errors.js';
import { isObject, type JsonObject, type JsonValue, objectsOf, type Resource } from '../fhir/resource.js';
import { canonicalOf, type CodeSystemIndex, type Concept, toDesignation } from './concepts.js';
import { Effort } from './effort.js';
import { TerminologyFault } from './fault.js';
import { costOfTests } from './filter.js';
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
  /** What is contained in the outermost one, by `#id`. */
  readonly contained: ReadonlyMap<string, JsonObject>;
  readonly supplements: readonly string[];
  /** Names the supplements. */
  readonly key: string;
  readonly work: Work;
}

/**
 * What is known of imported value sets while one question is answered: however often they are imported, each is looked at once with the
 * supplements of those that import it.
 */
interface Work {
  readonly members: KnownOf<ReadonlyMap<string, Member>>;
  readonly found: KnownOf<Member | undefined>;
  readonly systems: KnownOf<ReadonlySet<string>>;
  /** The members that code systems define. */
  readonly made: Map<Concept, Member>;
  readonly effort: Effort;
}

/** By value set and key of a path. */
type KnownOf<T> = Map<Resource, Map<string, Known<T>>>;
type Known<T> = { readonly value: T } | { readonly error: unknown };

function top({ signal, effort = new Effort(signal) }: ValueSetContext): Path {
  const known = { members: new Map(), found: new Map(), systems: new Map(), made: new Map() };
  return { urls: [], contained: new Map(), supplements: [], key: '', work: { ...known, effort } };
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
  const { effort } = path.work;
  if (compose === undefined) return membersOfExpansion(valueSet, effort);
  return computed(compose, valueSet, context, path).catch(async (error: unknown) => {
    if (await canBeReplaced(error, valueSet, effort)) return membersOfExpansion(valueSet, effort);
    throw error;
  });
}

async function computed(
  compose: JsonObject,
  valueSet: Resource,
  context: ValueSetContext,
  path: Path,
): Promise<ReadonlyMap<string, Member>> {
  const { effort } = path.work;
  const found = new Map<string, Member>();
  for (const include of objectsOf(compose['include'])) {
    const part = await membersOfInclude(include, valueSet, context, path);
    await effort.forEach(part, ([key, member]) => {
      if (!found.has(key)) found.set(key, member);
      if (found.size > MOST_CODES) throw new FhirError('expansion-too-costly');
    });
  }
  for (const exclude of objectsOf(compose['exclude'])) {
    const part = await membersOfInclude(exclude, valueSet, context, path);
    await effort.forEach(part.keys(), (key) => void found.delete(key));
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
  const { effort } = path.work;
  const listed = async (): Promise<Member | undefined> =>
    (await membersOfExpansion(valueSet, effort)).get(keyOf(coded.system, coded.code));
  if (compose === undefined) return listed();
  return findComputed(compose, coded, valueSet, context, path).catch(async (error: unknown) => {
    if (await canBeReplaced(error, valueSet, effort)) return listed();
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
  const { effort } = path.work;
  if (compose === undefined) {
    await effort.forEach((await membersOfExpansion(valueSet, effort)).values(), ({ system }) => found.add(system));
  }
  for (const include of objectsOf(compose?.['include'])) {
    effort.spend(1);
    if (typeof include['system'] === 'string') found.add(include['system']);
    else {
      for (const each of await importsOf(include, context, path)) {
        const own = await known(path, path.work.systems, each, () => systems(each, context, path));
        await effort.forEach(own, (system) => found.add(system));
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
      path.work.effort.spend(1);
      if (part['valueSet'] === undefined) continue;
      await path.work.effort.pace();
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

/** Returns the key of a code: its system and the code. */
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
    contained: urls.length === 0 ? containedIn(valueSet) : above.contained,
    ...withSupplements(above, supplementsNamedBy(valueSet)),
    work: above.work,
  };
}

function containedIn(valueSet: Resource): ReadonlyMap<string, JsonObject> {
  const all = objectsOf(valueSet['contained']).map((each) => [`#${String(each['id'])}`, each] as const);
  // The first of two with the same id counts.
  return new Map(all.reverse());
}

function withSupplements({ supplements, key, work }: Path, own: readonly string[]): Pick<Path, 'supplements' | 'key'> {
  if (own.length === 0) return { supplements, key };
  work.effort.spend(own.length + supplements.length);
  const all = [...new Set([...supplements, ...own])];
  return { supplements: all, key: all.join(' ') };
}

async function membersOfInclude(
  include: JsonObject,
  valueSet: Resource,
  context: ValueSetContext,
  path: Path,
): Promise<ReadonlyMap<string, Member>> {
  const { effort } = path.work;
  await effort.pace();
  effort.spend(1);
  checkInclude(include);
  let found: ReadonlyMap<string, Member> | undefined;
  if (typeof include['system'] === 'string') found = await membersOfSystem(include, valueSet, context, path);
  for (const imported of await importsOf(include, context, path)) {
    const inner = await known(path, path.work.members, imported, () => members(imported, context, path));
    if (found === undefined) {
      found = inner;
      continue;
    }
    const both = new Map<string, Member>();
    await effort.forEach(found, ([key, member]) => {
      if (inner.has(key)) both.set(key, member);
    });
    found = both;
  }
  return found ?? new Map<string, Member>();
}

/** What was found out of an imported value set. */
async function known<T>({ key }: Path, before: KnownOf<T>, imported: Resource, make: () => Promise<T>): Promise<T> {
  const own = before.get(imported) ?? new Map<string, Known<T>>();
  before.set(imported, own);
  let found = own.get(key);
  if (found === undefined) {
    found = await make().then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    own.set(key, found);
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
  await path.work.effort.pace();
  path.work.effort.spend(1);
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
    path.work.effort.spend(1);
    const isWithin = canonical.startsWith('#');
    const valueSet = isWithin
      ? (path.contained.get(canonical) as Resource | undefined)
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
  const { effort } = work;
  const add = (member: Member): void => {
    if (found.size >= MOST_CODES) throw new FhirError('expansion-too-costly');
    effort.spend(STEPS_OF_MEMBER);
    found.set(keyOf(url, member.code), member);
  };
  if (concepts !== undefined) {
    const own = await listedMembers(concepts, opened, valueSet, effort);
    const isNamed = own.every(({ display }) => display !== undefined);
    const names = isNamed ? NO_MEMBERS : await membersOfExpansion(valueSet, effort);
    await effort.forEach(own, (member) => add(named(member, names)));
    return found;
  }
  if (system === undefined) {
    throw new FhirError('expansion-too-costly', `The codes of ${url} cannot be listed: a rule defines them`);
  }
  await effort.forEach(
    candidates(opened, system, effort),
    (concept) => {
      if (filters.every(({ test }) => test(concept))) add(madeOnce(opened, concept, work));
    },
    (concept) => costOfTests(concept, filters),
  );
  return found;
}

const NO_MEMBERS: ReadonlyMap<string, Member> = new Map();

/** A member that a code system defines. Includes that overlap share it. */
function madeOnce(opened: OpenSystem, concept: Concept, { made }: Work): Member {
  const known = made.get(concept);
  if (known?.system === opened.url && known.version === opened.version) return known;
  const member = systemMember(opened, concept);
  made.set(concept, member);
  return member;
}

/** Concepts that are sorted, where they are few among all of a code system. */
const FEW = 5000;

/** The concepts that may pass the filters, in the order of the code system: those of the closure that is smallest, if there is any. */
function candidates({ filters }: OpenSystem, system: CodeSystemIndex, effort: Effort): Iterable<Concept> {
  let smallest: ReadonlySet<string> | undefined;
  for (const { among } of filters) {
    const own = among?.();
    if (own !== undefined && (smallest === undefined || own.size < smallest.size)) smallest = own;
  }
  if (smallest === undefined || smallest.size * 2 > system.concepts.size) return system.concepts.values();
  if (smallest.size > FEW) {
    effort.spend(system.concepts.size / 10);
    return among(system.concepts.values(), smallest);
  }
  const found = [...smallest].flatMap((code) => system.concepts.get(code) ?? []);
  return found.sort((a, b) => a.position - b.position);
}

function* among(concepts: Iterable<Concept>, codes: ReadonlySet<string>): Iterable<Concept> {
  for (const concept of concepts) if (codes.has(concept.code)) yield concept;
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
  const { code } = coded;
  const concept = system?.find(code);
  work.effort.spend(concept === undefined ? 1 : costOfTests(concept, filters));
  let member: Member | undefined;
  if (concepts !== undefined) {
    const listed = listedAs(code, concept, concepts, system, work.effort);
    if (listed !== undefined) [member] = await listedMembers([listed], opened, valueSet, work.effort);
    if (member !== undefined && member.display === undefined)
      member = named(member, await membersOfExpansion(valueSet, work.effort));
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

/** By the list of an include, its concepts by code and by code in lower case: the first of two counts. */
const listings = new WeakMap<object, ReadonlyMap<string, JsonObject>>();

/** What a list says of a code, or of one that is the same where case does not count. */
function listedAs(
  code: string,
  concept: Concept | undefined,
  concepts: readonly JsonObject[],
  system: CodeSystemIndex | undefined,
  effort: Effort,
): JsonObject | undefined {
  let byCode = listings.get(concepts);
  if (byCode === undefined) {
    effort.spend(concepts.length);
    const made = new Map<string, JsonObject>();
    for (const each of concepts) {
      const own = String(each['code']);
      if (!made.has(own)) made.set(own, each);
      const folded = `${IN_LOWER_CASE}${own.toLowerCase()}`;
      if (!made.has(folded)) made.set(folded, each);
    }
    listings.set(concepts, (byCode = made));
  }
  const found = byCode.get(code);
  if (found !== undefined || concept === undefined || system?.ignoresCase !== true) return found;
  return byCode.get(concept.code) ?? byCode.get(`${IN_LOWER_CASE}${code.toLowerCase()}`);
}

/** No code begins with it. */
const IN_LOWER_CASE = ' ';

/** @throws TerminologyFault for a code that a part of a code system lacks */
export function checkComplete({ url, content }: CodeSystemIndex, code: string): void {
  if (content === 'complete') return;
  const text = `The server has a part of the code system ${url} only, and ${JSON.stringify(code)} is not in it: whether the code exists cannot be decided`;
  throw new TerminologyFault(content === 'fragment' ? 'fragment' : 'system', url, text);
}

/** Whether the expansion that a value set comes with is the answer: its definition needs what the server does not know, and it is whole. */
async function canBeReplaced(error: unknown, valueSet: Resource, effort: Effort): Promise<boolean> {
  if (!(error instanceof TerminologyFault) || (error.kind !== 'system' && error.kind !== 'value-set')) return false;
  const { total, offset = 0, parameter, contains } = (valueSet['expansion'] ?? {}) as JsonObject;
  const isLimited = objectsOf(parameter).some(({ name }) => name === 'limitedExpansion' || name === 'count');
  if (contains === undefined || offset !== 0 || isLimited) return false;
  return total === undefined || total === (await membersOfExpansion(valueSet, effort)).size;
}

const expansions = new WeakMap<Resource, ReadonlyMap<string, Member>>();

/** The members that the expansion of a value set lists. */
async function membersOfExpansion(valueSet: Resource, effort: Effort): Promise<ReadonlyMap<string, Member>> {
  const known = expansions.get(valueSet);
  if (known !== undefined) return known;
  const found = new Map<string, Member>();
  const begin = (list: JsonValue | undefined): Iterator<JsonObject> => objectsOf(list).values();
  const open = [begin((valueSet['expansion'] as JsonObject | undefined)?.['contains'])];
  for (let level = open.at(-1); level !== undefined; level = open.at(-1)) {
    const next = level.next();
    if (next.done === true) {
      open.pop();
      continue;
    }
    const turn = effort.pace();
    if (turn !== undefined) await turn;
    effort.spend(STEPS_OF_MEMBER);
    const { system, code, display, version, contains } = next.value;
    if (typeof system === 'string' && typeof code === 'string') {
      found.set(keyOf(system, code), {
        ...{ system, code },
        ...(typeof display === 'string' && { display }),
        ...(typeof version === 'string' && { version }),
        designations: objectsOf(next.value['designation']).map(toDesignation),
        isAbstract: next.value['abstract'] === true,
        isInactive: next.value['inactive'] === true,
      });
    }
    if (contains !== undefined) open.push(begin(contains));
  }
  expansions.set(valueSet, found);
  return found;
}

/** A code that neither its code system nor the list names has its name from the expansion that the value set comes with. */
function named(member: Member, names: ReadonlyMap<string, Member>): Member {
  if (member.display !== undefined) return member;
  const { display } = names.get(keyOf(member.system, member.code)) ?? {};
  return display === undefined ? member : { ...member, display };
}
