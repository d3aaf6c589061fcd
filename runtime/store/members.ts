import type { Contained } from '../search/contained.js';
import type { IndexEntry } from '../search/entry.js';

/**
 * Contained resources are found as members of types of their own, `#Medication`, which no client can name and nothing but searches
 * looks at. A member has index entries, but no content and no version: these are its container's.
 * https://hl7.org/fhir/R5/references.html#contained
 */
const MARK = '#';

/** What a member is found by besides the parameters of its type: its own id, the type it is in, and the resource. */
export const MEMBER = { id: '.id', in: '.in', container: '.container' } as const;

/** A member as the store has it. */
export interface Member {
  /** `#Medication`. */
  readonly type: string;
  /** `MedicationRequest/23#m1`. */
  readonly id: string;
  readonly entries: readonly IndexEntry[];
}

/** The type of members that are of a resource type. */
export function memberType(type: string): string {
  return MARK + type;
}

/** Whether a type is one of members. */
export function isMemberType(type: string): boolean {
  return type.startsWith(MARK);
}

/** The resource type of members, or of resources. */
export function plainType(type: string): string {
  return isMemberType(type) ? type.slice(MARK.length) : type;
}

/** Where a member is: its container, and its id in it. @param id of a member */
export function placeOfMember(id: string): { readonly type: string; readonly id: string; readonly fragment: string } {
  const [container = '', fragment = ''] = id.split(MARK, 2);
  const at = container.indexOf('/');
  return { type: container.slice(0, at), id: container.slice(at + 1), fragment };
}

/** What the ids of all members in containers of a type begin with. */
export function idsOfContainers(type: string): string {
  return `${type}/`;
}

/** Ids of all members in a container are from `from` on, and before `to`. */
export function idsWithin({ type, id }: { readonly type: string; readonly id: string }): {
  readonly from: string;
  readonly to: string;
} {
  // What follows the mark is no letter of an id.
  return { from: `${type}/${id}${MARK}`, to: `${type}/${id}${String.fromCharCode(MARK.charCodeAt(0) + 1)}` };
}

/** The members that a resource has. */
export function membersIn(
  container: { readonly type: string; readonly id: string },
  contained: readonly Contained[],
): readonly Member[] {
  return contained.map(({ type, id, entries }) => ({
    type: memberType(type),
    id: `${container.type}/${container.id}${MARK}${id}`,
    entries: [
      ...entries,
      { kind: 'token', param: MEMBER.id, code: id },
      { kind: 'token', param: MEMBER.in, code: container.type },
      { kind: 'reference', param: MEMBER.container, type: container.type, id: container.id },
    ],
  }));
}
