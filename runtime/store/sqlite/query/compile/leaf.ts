import { append } from '../../../../fhir/lists.js';
import {
  type CompositeLeaf,
  type Leaf,
  type PresenceLeaf,
  type TokenTest,
  type ValueTest,
  type WordsTest,
  valuedBy,
} from '../../../../search/query/query.js';
import { isCovered } from '../../../../search/query/criterion.js';
import { canonicalCode, codedCode } from '../../write/dictionary.js';
import { tooCostly } from '../../file/too-costly.js';
import { beginsWith, toRowTests, updatedTest, type Names } from './row-tests.js';
import { beginningsOf, toMatch } from '../../write/words.js';
import { placeTests } from './places.js';
import { column, TABLES, type Index, type RowTest, type Shape } from './shape.js';
import { keyOf, sql, type Value } from './sql.js';
import { rowTest } from './terms.js';

/** The dictionary as a search sees it: of one type. */
export interface TypeNames {
  /** The type's own number. */
  readonly type: number;
  param(code: string, part: number): number | undefined;
  term(text: string): number | undefined;
}

/**
 * Alternatives of a leaf that have the same shape, one for each part of a composite (any other has one part): rows of the
 * same group of a resource have to fulfil all parts of one alternative. The values of the parts are one after the other.
 */
export interface LeafGroup {
  readonly shapes: readonly Shape[];
  /** Place of each part's first value. */
  readonly places: readonly number[];
  readonly alternatives: readonly (readonly Value[])[];
  /** Whether its rows are in the indexes by value; else only the rows of a resource that is known can be asked. */
  readonly isListed: boolean;
}

/** A leaf as alternatives by shape; none: nothing can fulfil it. */
export function toGroups(leaf: Leaf, names: TypeNames): readonly LeafGroup[] {
  const groups = grouped(alternativesOf(leaf, names));
  if (!isCovered(leaf)) return groups;
  // What is kept by itself for each code is one part.
  return groups.map((group) => ({ ...group, isListed: 'composite' in leaf && group.shapes.length === 1 }));
}

type Alternative = CompositeLeaf['composite'][number];

/** Most alternatives of a leaf, the parts of composites combined. */
const MOST = 200_000;

function alternativesOf(leaf: Leaf, names: TypeNames): readonly (readonly RowTest[])[] {
  if ('ids' in leaf) {
    return [...new Set(leaf.ids)].map((id) => [rowTest('resource_by_id', names.type, { range: [['id', '=', id]] })]);
  }
  if ('updated' in leaf) return leaf.updated.map((ends) => [updatedTest(ends, names.type)]);
  if ('present' in leaf) return presence(leaf.param, leaf.present, names).map((test) => [test]);
  if ('places' in leaf) {
    const param = names.param(leaf.param, 0);
    return param === undefined ? [] : leaf.places.flatMap((test) => placeTests(param, test)).map((test) => [test]);
  }
  if ('words' in leaf) {
    const params = valuedBy(leaf).flatMap((code) => names.param(code, 0) ?? []);
    return wordsTests(params, leaf.words).map((test) => [test]);
  }
  if ('any' in leaf) {
    const part = namesOf(leaf.param, 0, names);
    return leaf.any.flatMap((test) => toRowTests(test, part)).map((test) => [test]);
  }
  const parts = leaf.composite[0]?.map((_, i) => namesOf(leaf.param, i + 1, names)) ?? [];
  return leaf.composite.flatMap(
    (alternative) =>
      coded(leaf.param, alternative, names) ??
      alternative.reduce<readonly (readonly RowTest[])[]>(
        (before, tests, i) => {
          const here = tests.flatMap((test) => toRowTests(test, parts[i] ?? NOBODY));
          if (before.length * here.length > MOST) throw tooCostly();
          return before.flatMap((row) => here.map((test) => [...row, test]));
        },
        [[]],
      ),
  );
}

/**
 * @param params those that have the words, together
 * @param test of beginnings alone, or of none: see `simplify`
 */
function wordsTests(params: readonly number[], test: WordsTest): readonly RowTest[] {
  if (params.length === 0) return [];
  const beginnings = beginningsOf(test);
  if (beginnings === undefined) return [{ shape: WORDS, values: [params[0]!, toMatch(params, test)] }];
  return params.flatMap((param) =>
    beginnings.map((text) => rowTest('beginning_by_text', param, { range: beginsWith('text', text) })),
  );
}

/** Words, as the full text of SQLite is asked for them: value 1. */
const WORDS: Shape = {
  name: 'words',
  table: TABLES.words,
  finding: 0,
  accesses: [
    { index: 'words', order: ['rowid'], seek: (row, values) => sql`${column(row, 'words')} MATCH ${values(1)}` },
  ],
};

/** Whether an alternative of a composite is of codes with their systems and of canonical quantities: those are kept by themselves for each code. */
export function isCoded([tokens = [], quantities = [], ...more]: Alternative): boolean {
  return more.length === 0 && tokens.every(isWholeToken) && quantities.every(isCanonical);
}

function isWholeToken(test: ValueTest): test is TokenTest & { readonly system: string; readonly code: string } {
  return test.is === 'token' && typeof test.system === 'string' && test.code !== undefined;
}

function isCanonical(test: ValueTest): boolean {
  return test.is === 'quantity' && test.canonical !== undefined;
}

/** The tests of an alternative that `isCoded`; undefined: it is not. */
function coded(param: string, alternative: Alternative, names: TypeNames): readonly (readonly RowTest[])[] | undefined {
  if (!isCoded(alternative)) return undefined;
  const [tokens = [], quantities = []] = alternative;
  if (tokens.length * quantities.length > MOST) throw tooCostly();
  const found: RowTest[][] = [];
  for (const token of tokens.filter(isWholeToken)) {
    const own = namesOf(codedCode(param, token.system, token.code), 0, names);
    for (const test of quantities)
      append(
        found,
        toRowTests(test, own).map((each) => [each]),
      );
  }
  return found;
}

const NOBODY: Names = { param: () => undefined, term: () => undefined };

function namesOf(code: string, part: number, { param, term }: TypeNames): Names {
  return { param: (unit) => param(unit === undefined ? code : canonicalCode(code, unit), part), term };
}

/** Indexes in which a row is there for each value. */
const PRESENT: Readonly<Record<Exclude<PresenceLeaf['present'], 'composite'>, Index>> = {
  token: 'token_by_value',
  string: 'string_by_value',
  date: 'date_by_low',
  number: 'number_by_low',
  quantity: 'number_by_low',
  reference: 'reference_by_text',
  uri: 'uri_by_value',
  position: 'position_by_cell',
  region: 'region_by_cell',
};

function presence(code: string, kind: PresenceLeaf['present'], names: TypeNames): readonly RowTest[] {
  if (kind !== 'composite') {
    const param = names.param(code, 0);
    return param === undefined ? [] : [rowTest(PRESENT[kind], param, {})];
  }
  const parts: number[] = [];
  for (let param = names.param(code, 1); param !== undefined; param = names.param(code, parts.length + 1)) {
    parts.push(param);
  }
  const indexes = [...new Set(Object.values(PRESENT))];
  return parts.flatMap((param) => indexes.map((index) => rowTest(index, param, {})));
}

interface Grouped extends LeafGroup {
  readonly alternatives: Value[][];
  readonly seen: Set<string>;
}

function grouped(alternatives: readonly (readonly RowTest[])[]): readonly LeafGroup[] {
  const groups = new Map<string, Grouped>();
  for (const tests of alternatives) {
    const name = tests.map(({ shape }) => shape.name).join(' & ');
    let group = groups.get(name);
    if (group === undefined) {
      let next = 0;
      const places = tests.map(({ values }) => (next += values.length) - values.length);
      group = { shapes: tests.map(({ shape }) => shape), places, alternatives: [], isListed: true, seen: new Set() };
      groups.set(name, group);
    }
    const values = tests.flatMap((test) => test.values);
    const key = keyOf(values);
    if (group.seen.has(key)) continue;
    group.seen.add(key);
    group.alternatives.push(values);
  }
  return [...groups.values()].map(({ seen: _seen, ...group }) => group);
}
