import type { Contained } from '../indexing/contained.js';
import type { Condition } from '../search/query/query.js';
import type { IndexEntry, ReferenceEntry } from '../indexing/entry.js';

/**
 * Contained resources are found as members of types of their own, `#Medication`, which no client can name and nothing but searches
 * looks at. A member has index entries, but no content and no version: these are its container's.
 * https://hl7.org/fhir/R5/references.html#contained
 */
const MARK = '#';

/**
 * Parameters that find a member besides those of its type: its own id, the type of its container, and the container
 * itself.
 */
export const CONTAINED = { id: '.id', in: '.in', container: '.container' } as const;

/** A member as the store has it. */
export interface ContainedResource {
  /** `#Medication`. */
  readonly type: string;
  /** `MedicationRequest/23#m1`. */
  readonly id: string;
  readonly entries: readonly IndexEntry[];
}

/** The type of members that are of a resource type. */
export function containedType(type: string): string {
  return MARK + type;
}

/** Whether a type is one of members. */
export function isContainedType(type: string): boolean {
  return type.startsWith(MARK);
}

/** The resource type of members, or of resources. */
export function plainType(type: string): string {
  return isContainedType(type) ? type.slice(MARK.length) : type;
}

/** Where a member is: its container, and its id in it. @param id of a member */
export function placeOfContained(id: string): {
  readonly type: string;
  readonly id: string;
  readonly fragment: string;
} {
  const [container = '', fragment = ''] = id.split(MARK, 2);
  const at = container.indexOf('/');
  return { type: container.slice(0, at), id: container.slice(at + 1), fragment };
}

/** Returns the beginning of the ids of all members in containers of a type. */
export function idsOfContainers(type: string): string {
  return `${type}/`;
}

/** Ids of all members in a container are from `from` on, and before `to`. */
export function containedIds({ type, id }: { readonly type: string; readonly id: string }): {
  readonly from: string;
  readonly to: string;
} {
  // What follows the mark is no letter of an id.
  return { from: `${type}/${id}${MARK}`, to: `${type}/${id}${String.fromCharCode(MARK.charCodeAt(0) + 1)}` };
}

/** The members that a resource has. */
export function containedIn(
  container: { readonly type: string; readonly id: string },
  contained: readonly Contained[],
): readonly ContainedResource[] {
  const placed = placeEntries(container, contained);
  return contained.map(({ type, id, entries }) => ({
    type: containedType(type),
    id: `${container.type}/${container.id}${MARK}${id}`,
    entries: [
      ...placed(entries),
      { kind: 'token', param: CONTAINED.id, code: id },
      { kind: 'token', param: CONTAINED.in, code: container.type },
      { kind: 'reference', param: CONTAINED.container, type: container.type, id: container.id },
    ],
  }));
}

/**
 * Makes entries of a resource, or of what is within it, lead to members of it where they name them (`localParam`). Those that name
 * nothing that is found there are left out.
 */
export function placeEntries(
  container: { readonly type: string; readonly id: string },
  contained: readonly Contained[] = [],
): (entries: readonly IndexEntry[]) => readonly IndexEntry[] {
  const types = new Map(contained.map(({ id, type }) => [id, type]));
  return (entries) => {
    if (!entries.some(isLocal)) return entries;
    return entries.flatMap((entry): readonly IndexEntry[] => {
      if (!isLocal(entry)) return [entry];
      const { kind, param, fragment } = entry;
      const type = types.get(fragment);
      if (type === undefined) return [];
      return [{ kind, param, type: containedType(type), id: `${container.type}/${container.id}${MARK}${fragment}` }];
    });
  };
}

function isLocal(entry: IndexEntry): entry is ReferenceEntry & { readonly fragment: string } {
  return entry.kind === 'reference' && entry.fragment !== undefined && entry.param.endsWith(MARK);
}

/**
 * Removes from a condition the parts that ask for members of types that a store has none of, so that they take no time.
 *
 * @param has whether there may be any of a member type
 */
export function withoutAbsentContained(
  condition: Condition,
  has: (type: string) => boolean,
  done = new Map<Condition, Condition>(),
): Condition {
  // The same may be at many places.
  const known = done.get(condition);
  if (known !== undefined) return known;
  const made = without(condition, has, (each) => withoutAbsentContained(each, has, done));
  done.set(condition, made);
  return made;
}

function without(
  condition: Condition,
  has: (type: string) => boolean,
  inner: (condition: Condition) => Condition,
): Condition {
  if ('all' in condition) return { all: condition.all.map(inner) };
  if ('not' in condition) return { not: inner(condition.not) };
  if ('has' in condition) return { has: { ...condition.has, where: inner(condition.has.where) } };
  if ('some' in condition) {
    const some = condition.some.map(inner).filter((each) => !('some' in each && each.some.length === 0));
    return some.length === 1 ? some[0]! : { some };
  }
  if (!('chain' in condition)) return condition;
  const chain = condition.chain.filter(({ type }) => !isContainedType(type) || has(type));
  if (chain.length === 0) return { some: [] };
  return { ...condition, chain: chain.map((target) => ({ ...target, where: inner(target.where) })) };
}

/** Whether members are asked for by links. */
export function asksForContained(condition: Condition, done = new Set<Condition>()): boolean {
  if (done.has(condition)) return false;
  done.add(condition);
  const inner = (each: Condition): boolean => asksForContained(each, done);
  if ('all' in condition) return condition.all.some(inner);
  if ('some' in condition) return condition.some.some(inner);
  if ('not' in condition) return inner(condition.not);
  if ('has' in condition) return inner(condition.has.where);
  if (!('chain' in condition)) return false;
  return condition.chain.some(({ type, where }) => isContainedType(type) || inner(where));
}
