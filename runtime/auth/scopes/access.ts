import { createBoundedMap } from '../../fhir/memory/bounded-map.js';
import { coversCustom } from './custom.js';
import type { ConstraintReader } from './constraint.js';
import { readScopes, type ScopeRules } from './read-scopes.js';
import { commonReach, eitherReach, type Reach } from './reach.js';
import { lettersOn } from './reduce.js';
import type { Scope } from './scope.js';

/** Access that a token gives, computed from its scopes. */
export interface Access {
  /** Resources of a type on which all these letters are given: by one scope or by several together. */
  on(type: string, letters: string): Reach;
  /** Resources of a type on which one of these sets of letters is given. */
  onAny(type: string, anyOf: readonly string[]): Reach;
  /** Whether all resources of a type are given with all these letters, no constraint narrowing them. */
  isWhole(type: string, letters: string): boolean;
  /** Whether a custom scope is held, by itself or by its umbrella. */
  holds(custom: string): boolean;
}

/** Rules and readers by which scopes are understood. */
export interface AccessSettings {
  readonly rules: ScopeRules;
  readonly constraints: Pick<ConstraintReader, 'read'>;
}

/** Scope texts that are kept in their parsed form. */
const KEPT = 500;

/**
 * Makes a reader of canonical scopes, as tokens carry them. Each text is parsed once; the texts used last are kept. A
 * scope that is not understood gives nothing, and one with a constraint never more than it.
 */
export function createAccessReader(settings: AccessSettings, kept = KEPT): (canonical: string) => Access {
  const known = createBoundedMap<Access>(kept);
  return (canonical) => {
    let access = known.get(canonical);
    if (access === undefined) known.set(canonical, (access = readAccess(canonical, settings)));
    return access;
  };
}

function readAccess(canonical: string, { rules, constraints }: AccessSettings): Access {
  const { withheld = [] } = rules;
  const { read } = readScopes(canonical, 'v2', rules);
  const scopes = read.flatMap((each) => ('scope' in each ? [each.scope] : []));
  const held = read.flatMap((each) => ('custom' in each ? [each.text] : []));
  const byType = new Map<string, Map<string, Reach>>();

  /** Kept per type and letter: as many as there are types, times five, at most. */
  const reachOf = (type: string, letter: string): Reach => {
    let byLetter = byType.get(type);
    if (byLetter === undefined) {
      if (!rules.knows(type)) return 'nothing';
      byType.set(type, (byLetter = new Map()));
    }
    let reach = byLetter.get(letter);
    if (reach === undefined) byLetter.set(letter, (reach = findReach(type, letter)));
    return reach;
  };
  const findReach = (type: string, letter: string): Reach => {
    const given = scopes.filter((scope) => lettersOn(scope, type, withheld).includes(letter));
    return eitherReach(given.map((scope) => reachOfScope(scope, type, constraints)));
  };
  const on = (type: string, letters: string): Reach => {
    // No letters: nothing is asked, so that nothing is given.
    if (letters === '') return 'nothing';
    if (letters.length === 1) return reachOf(type, letters);
    return commonReach([...letters].map((letter) => reachOf(type, letter)));
  };
  return {
    on,
    onAny: (type, anyOf) => eitherReach(anyOf.map((letters) => on(type, letters))),
    isWhole: (type, letters) => on(type, letters) === 'everything',
    holds: (custom) => held.some((each) => coversCustom(each, custom)),
  };
}

function reachOfScope({ pairs }: Scope, type: string, constraints: AccessSettings['constraints']): Reach {
  return pairs.length === 0 ? 'everything' : (constraints.read(type, pairs) ?? 'nothing');
}
