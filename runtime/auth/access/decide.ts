import type { ScopeNeed, ScopeRow } from '../../contract/rest.js';
import type { Access } from '../scopes/access.js';
import type { Reach } from '../scopes/reach.js';
import { BRINGS, type Content } from './content.js';
import { neededOn, NONE_NEEDED, uniteNeeded, type NeededScopes } from './needed-scopes.js';

/** A request, as far as scopes are concerned. */
export interface Demand {
  readonly row: ScopeRow;
  /**
   * The type in the URL; in a compartment search the type searched. Absent where the URL has none (`*`, or a conditional
   * delete of the whole server): then each type counts that the request names or touches.
   */
  readonly type?: string;
  /** The type that opens the compartment. */
  readonly compartment?: string;
  readonly content: Content;
}

/** Decision that a token may not do what a request asks for. */
export interface Refused {
  readonly is: 'refused';
  /** All that the request needs, held or not. */
  readonly needed: NeededScopes;
}

/** Decision that a token may do it. Searches and visibility ask its access for the bounds themselves. */
export interface Allowed {
  readonly is: 'allowed';
}

/**
 * Decision that is not complete. All needs that are known are allowed; the others are decided when more of the request's
 * content is known.
 */
export interface Pending {
  readonly is: 'pending';
  /** What has to be known: properties of `Content`. */
  readonly needs: readonly (keyof Content)[];
}

/** `open`: for everybody, without a token as well. */
export type Decision = { readonly is: 'open' } | Refused | Allowed | Pending;

/**
 * Decides whether a token may do what a request asks for: all needs of the scope row, those that the content brings as far
 * as it is known. It may be asked twice, before the body is read and after; what was refused once stays refused.
 *
 * @throws Error where the row needs what the demand lacks, or nothing at all was decided: a defect, never allowed
 */
export function decide(demand: Demand, access: Access): Decision {
  const { row } = demand;
  if (row.open === true) return { is: 'open' };
  const verdicts = row.needs.map((need) => judge(need, demand, access));
  const hasAdmin = row.admin === undefined || access.holds(row.admin);
  if (!hasAdmin || verdicts.some(({ isMet }) => isMet === false)) {
    const admin = row.admin === undefined ? NONE_NEEDED : { scopes: [], customs: [row.admin] };
    return { is: 'refused', needed: uniteNeeded([...verdicts.map(({ needed }) => needed?.() ?? NONE_NEEDED), admin]) };
  }
  const later = [...new Set(verdicts.flatMap((verdict) => verdict.later ?? []))];
  if (later.length > 0) return { is: 'pending', needs: later };
  const isDecided = row.anyToken === true || row.owner === true || row.admin !== undefined;
  if (!isDecided && !verdicts.some(({ isMet }) => isMet)) {
    throw new Error(`the scope row of ${row.operation ?? row.interaction} decides nothing`);
  }
  return { is: 'allowed' };
}

/** What came of one need; all absent: it does not concern this request. */
interface Verdict {
  readonly isMet?: boolean;
  /** Asked for where the request is refused. */
  readonly needed?: () => NeededScopes;
  readonly later?: keyof Content;
}

function judge(need: ScopeNeed, demand: Demand, access: Access): Verdict {
  const { on, when } = need;
  const reach = (type: string): Reach => reachOf(need, type, access);
  // What comes along is left out where the token does not show it.
  if (on === 'filter') return {};
  const isOfContent = on === 'each' || on === 'any' || (on === 'type' && demand.type === undefined);
  const source = when ?? (isOfContent ? 'touched' : undefined);
  if (source !== undefined) {
    const brought = demand.content[source];
    if (brought === undefined) return { later: source };
    if (brought === false) return {};
  }
  if (on === 'any') return judgeAny(need, groupsOf(need, demand), access);
  const types = isOfContent ? typesOf(need, demand) : [fixedType(on, demand)];
  if (types.length === 0) return {};
  return {
    isMet: types.every((type) => reach(type) !== 'nothing'),
    needed: () => uniteNeeded(types.map((type) => neededOn(type, lettersOf(need, type, access)))),
  };
}

/** In each group one type has to do, whichever it is. */
function judgeAny(need: ScopeNeed, groups: readonly (readonly string[])[], access: Access): Verdict {
  const chosen = groups.map((types) => types.find((type) => reachOf(need, type, access) !== 'nothing'));
  const neededIn = (types: readonly string[], i: number): NeededScopes => {
    const type = chosen[i] ?? (types.length === 1 ? types[0]! : '*');
    return neededOn(type, lettersOf(need, type, access));
  };
  return { isMet: chosen.every((type) => type !== undefined), needed: () => uniteNeeded(groups.map(neededIn)) };
}

function fixedType(on: string, { type, compartment, row }: Demand): string {
  const found = on === 'type' ? type : on === 'compartment' ? compartment : on;
  if (found === undefined) throw new Error(`${row.operation ?? row.interaction} needs a ${on} to be judged`);
  return found;
}

function typesOf({ when }: ScopeNeed, { content, row }: Demand): readonly string[] {
  const found = when === undefined ? content.touched : content[when];
  if (!Array.isArray(found) || (when !== undefined && BRINGS[when] !== 'types')) {
    throw new Error(`${row.operation ?? row.interaction} needs types to be judged${when ? ` (${when})` : ''}`);
  }
  return found as readonly string[];
}

function groupsOf(need: ScopeNeed, demand: Demand): readonly (readonly string[])[] {
  const { when } = need;
  if (when !== undefined && BRINGS[when] === 'groups') {
    return demand.content[when] as readonly (readonly string[])[];
  }
  return [typesOf(need, demand)];
}

function reachOf({ letters = '', anyOf, unconstrained }: ScopeNeed, type: string, access: Access): Reach {
  const reach = anyOf === undefined ? access.on(type, letters) : access.onAny(type, anyOf);
  return unconstrained === true && reach !== 'everything' ? 'nothing' : reach;
}

/** Of several sets of letters one that is held, else the one that gives least: reading. */
function lettersOf({ letters = '', anyOf }: ScopeNeed, type: string, access: Access): string {
  if (anyOf === undefined) return letters;
  const held = anyOf.find((each) => access.on(type, each) !== 'nothing');
  return held ?? anyOf.find((each) => each === 'r') ?? anyOf[0] ?? '';
}
