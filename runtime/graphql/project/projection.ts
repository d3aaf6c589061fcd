import type { PathRow, SearchRow } from '../../contract/search.js';
import type { PlannedField } from '../plan/planner.js';
import { schemaName, type TypeCatalog } from '../schema/schema.js';
import { MemberFinder } from './member-finder.js';

/** What is copied of an object, from its JSON text into that of the answer. */
export interface Projection {
  /** By name in the resource. */
  readonly members: ReadonlyMap<string, Member>;
  readonly finder: MemberFinder<Member>;
  /** What the answer has, in its order. */
  readonly slots: readonly Slot[];
}

/** A member of an object that is looked at. */
export interface Member {
  readonly name: string;
  /** Its place in the answer; -1: it has none. */
  readonly slot: number;
  /** Its name and a colon, as in the answer. */
  readonly head: string;
  readonly isRenamed: boolean;
  readonly isList: boolean;
  /** What is copied of its value; absent: all. */
  readonly below?: Projection;
  /** Ways from its value to references that are wanted. */
  readonly ways?: readonly ReferenceWay[];
}

/** The way to references: names of members, and the type that they have to lead to. */
export interface ReferenceWay {
  readonly names: readonly string[];
  readonly type?: string;
}

/** What is at a place of the answer: a member, a text that is always the same, or something that is not in the resource. */
export type Slot =
  | { readonly is: 'member' }
  | { readonly is: 'constant'; readonly text: string }
  | { readonly is: 'gap'; readonly field: PlannedField };

/** Projections that are known, by the parameter. */
const known = new WeakMap<PlannedField, WeakMap<object, Projection | 'none'>>();

/** Stands for no parameter. */
const NONE = {};

/**
 * How the fields on matches of a search are copied; undefined: they need values. That is so where directives, arguments, references or
 * resources within the resource have a say. Reverse look-ups are gaps, which are filled when the answer is written.
 *
 * @param by the parameter whose references say for which resource a match was looked up; undefined: that is not asked
 */
export function planProjection(
  field: PlannedField,
  by: SearchRow | undefined,
  catalog: TypeCatalog,
): Projection | undefined {
  const ofField = known.get(field) ?? new WeakMap<object, Projection | 'none'>();
  known.set(field, ofField);
  let found = ofField.get(by ?? NONE);
  if (found === undefined) ofField.set(by ?? NONE, (found = planMatches(field, by, catalog) ?? 'none'));
  return found === 'none' ? undefined : found;
}

function planMatches(field: PlannedField, by: SearchRow | undefined, catalog: TypeCatalog): Projection | undefined {
  const { facts, isPlain } = field;
  if (facts.is !== 'search' || facts.isConnection || !isPlain) return undefined;
  const ways = by === undefined ? [] : by.paths.map(wayOf);
  if (!ways.every((each) => each !== undefined)) return undefined;
  const planned = planObject(field.fieldsOn(facts.type), facts.type, catalog, true);
  return planned && withWays(planned, ways);
}

/** A projection of these members. */
export function projectionOf(members: Projection['members'], slots: readonly Slot[]): Projection {
  return { members, slots, finder: new MemberFinder(members) };
}

function planObject(
  fields: readonly PlannedField[],
  type: string,
  catalog: TypeCatalog,
  isResource: boolean,
): Projection | undefined {
  const members = new Map<string, Member>();
  const slots: Slot[] = [];
  for (const field of fields) {
    const { facts, name, key } = field;
    const head = `${JSON.stringify(key)}:`;
    if (!field.isPlain) return undefined;
    if (facts.is === 'typename') {
      slots.push({ is: 'constant', text: head + JSON.stringify(schemaName(type)) });
      continue;
    }
    if (facts.is === 'search' && isResource && facts.isReverse && !facts.isConnection) {
      slots.push({ is: 'gap', field });
      continue;
    }
    if (facts.is !== 'value' && facts.is !== 'complex' && facts.is !== 'resourceType') return undefined;
    // Of a member that is there under two names the second is rare.
    if (members.has(name)) return undefined;
    const isList = facts.is !== 'resourceType' && facts.isList;
    const member = { name, head, isList, slot: slots.length, isRenamed: key !== name };
    if (facts.is === 'complex') {
      if (field.looksUp || field.choice !== undefined || catalog.isAnyResource(facts.type)) return undefined;
      const below = planObject(field.fieldsOn(facts.type), facts.type, catalog, false);
      if (below === undefined) return undefined;
      members.set(name, { ...member, below });
    } else members.set(name, member);
    slots.push({ is: 'member' });
  }
  return projectionOf(members, slots);
}

/** The way of a path that names elements only; undefined: it is more than that. */
function wayOf({ steps, library }: PathRow): ReferenceWay | undefined {
  if (library === true) return undefined;
  const names: string[] = [];
  for (const [i, step] of steps.entries()) {
    if ('get' in step) names.push(step.get);
    else return 'refers' in step && i > 0 && i === steps.length - 1 ? { names, type: step.refers } : undefined;
  }
  return names.length === 0 ? undefined : { names };
}

function withWays({ members, slots }: Projection, ways: readonly ReferenceWay[]): Projection {
  const all = new Map(members);
  for (const { names, ...way } of ways) {
    const [name = '', ...rest] = names;
    const member = all.get(name) ?? { name, slot: -1, head: '', isRenamed: false, isList: false };
    all.set(name, { ...member, ways: [...(member.ways ?? []), { ...way, names: rest }] });
  }
  return projectionOf(all, slots);
}
