import type { SearchRow } from '../../../../runtime/contract/search.js';
import { operatorsOf } from '../../../../runtime/search/filter/operators.js';
import { searchDefinitions } from '../../../../runtime/indexing/definitions.js';
import { isSearchable } from '../../../../runtime/indexing/parameter-kinds.js';
import { modifiersOf } from '../../../../runtime/search/parse/modifiers.js';
import type { Random } from '../../../contract/random.js';
import type { Values } from './leak-values.js';
import { leakTables } from './leak-parameters.js';
import { DRAFT_TYPES, idsOfType } from './leak-world.js';

const definitions = searchDefinitions(leakTables);

/** Result parameters, and what some values of each are. What searches have beyond that is read off the tables. */
const RESULTS: readonly (readonly [name: string, values: readonly string[]])[] = [
  ['_total', ['accurate', 'estimate', 'none']],
  ['_summary', ['count', 'true', 'text', 'data', 'false']],
  ['_count', ['0', '1', '2', '50']],
  ['_elements', ['id', 'language,id', 'meta']],
  ['_count', ['1', '2', '3']],
  ['_maxresults', ['1', '3']],
  ['_score', ['true']],
];

/** Those that go together with what is contained. */
const BESIDE = RESULTS.filter(([name]) => name !== '_count' && name !== '_score');

const PREFIXES = ['', 'eq', 'ne', 'gt', 'lt', 'ge', 'le', 'sa', 'eb', 'ap'];

/**
 * Makes the query of a search of one type, or of several: pairs of names and values as they are before encoding.
 *
 * @param isOfType it is all resources of a type that are searched, not those of a compartment
 */
export type MakeSearch = (type: string | undefined, isOfType: boolean) => [name: string, value: string][];

/**
 * Makes searches with any parameters of the tables, chains, includes and orders, whether the client may ask for them or not.
 *
 * @param known types that links lead to most of the time
 */
export function searchMaker(random: Random, value: Values, known: readonly string[]): MakeSearch {
  const { pick, chance } = random;
  /** Parameters by each of their names. */
  const rowsOf = (type: string | undefined): SearchRow[] => {
    const rows = [...definitions.rowsOf(type ?? 'Resource')].map(([name, row]) => ({ ...row, code: name }));
    // There are few of them among many.
    const stored = chance(0.25) ? rows.filter(({ isStored }) => isStored === true) : [];
    if (stored.length > 0) return stored;
    const taken = chance(0.98) ? rows.filter(isSearchable) : rows;
    const valued = taken.filter(({ code }) => type !== undefined && value.has(type, code));
    return valued.length > 0 && chance(0.6) ? valued : taken;
  };
  const references = (type: string | undefined) => rowsOf(type).filter((row) => row.type === 'reference');
  const near = (types: readonly string[]): string => {
    const pool = pick([known, known, known, DRAFT_TYPES]).filter((type) => types.includes(type));
    return pick(pool.length > 0 && chance(0.95) ? pool : types);
  };
  const targetsOf = (row: SearchRow) => row.targets ?? DRAFT_TYPES;
  const referrers = (type: string): [string, SearchRow][] =>
    pick([known, known, DRAFT_TYPES])
      .flatMap((each) => references(each).map((row): [string, SearchRow] => [each, row]))
      .filter(([, row]) => targetsOf(row).includes(type));

  const plain = (type: string | undefined): [string, string] => {
    const row = pick(rowsOf(type));
    const modifiers = modifiersOf(row, { type: type ?? 'Resource', hierarchies: definitions.hierarchies() });
    const modifier = chance(0.3)
      ? pick(chance(0.05) ? ['text'] : [...modifiers, 'exact']).replace('[type]', near(targetsOf(row)))
      : '';
    const name = modifier === '' ? row.code : `${row.code}:${modifier}`;
    if (modifier === 'missing') return [name, pick(['true', 'false'])];
    // `ap` goes by what time it is.
    if (row.code === '_lastUpdated') return [name, `${pick(PREFIXES.slice(0, -1))}@${random.below(100)}@`];
    const one = () => {
      const text = value.find(
        type ?? pick(DRAFT_TYPES),
        definitions.rowsOf(type ?? 'Resource').get(row.code)!.code,
        random,
      );
      return ['date', 'number', 'quantity'].includes(row.type) ? pick(PREFIXES) + text : text;
    };
    return [name, chance(0.2) ? `${one()},${one()}` : one()];
  };

  const criterion = (type: string | undefined, depth: number): [string, string] => {
    const kind = depth > 2 ? 1 : random.next();
    if (kind < 0.25 && type !== undefined) {
      const ways = references(type);
      if (ways.length > 0) {
        const row = pick(ways);
        const target = near(targetsOf(row));
        const [name, text] = criterion(target, depth + 1);
        return [`${row.code}${chance(0.7) ? `:${target}` : ''}.${name}`, text];
      }
    }
    if (kind < 0.5 && type !== undefined) {
      const ways = referrers(type);
      if (ways.length > 0) {
        const [from, row] = pick(ways);
        const [name, text] = criterion(from, depth + 1);
        return [`_has:${from}:${row.code}:${name}`, text];
      }
    }
    return plain(type);
  };

  /** A comparison of a filter, its path over as many references. */
  const comparison = (type: string | undefined, depth: number): string => {
    const ways = depth > 2 || type === undefined ? [] : [...references(type).map((row) => [type, row] as const), ...referrers(type)]; // prettier-ignore
    if (ways.length > 0 && chance(0.5)) {
      const [from, row] = pick(ways);
      if (from !== type) return `_has:${from}:${row.code}:${comparison(from, depth + 1)}`;
      const target = near(targetsOf(row));
      const within = chance(0.3) ? `[${filter(target, depth + 1)}]` : '';
      return `${row.code}${chance(0.7) ? `:${target}` : ''}${within}.${comparison(target, depth + 1)}`;
    }
    const row = pick(rowsOf(type));
    const operator = pick(operatorsOf(row.type).length > 0 ? operatorsOf(row.type) : ['eq']);
    if (operator === 'pr') return `${row.code} pr ${pick(['true', 'false'])}`;
    if (row.code === '_lastUpdated') return `${row.code} ${operator === 'ap' ? 'gt' : operator} @${random.below(100)}@`;
    const code = definitions.rowsOf(type ?? 'Resource').get(row.code)!.code;
    return `${row.code} ${operator} ${JSON.stringify(value.find(type ?? pick(DRAFT_TYPES), code, random))}`;
  };

  const filter = (type: string | undefined, depth: number): string => {
    if (depth > 2 || chance(0.5)) return comparison(type, depth);
    if (chance(0.3)) return `not (${filter(type, depth + 1)})`;
    return `${filter(type, depth + 1)} ${pick(['and', 'or'])} (${filter(type, depth + 1)})`;
  };

  /** `_list`, `_in` and chains to it. */
  const membership = (type: string | undefined): [string, string] => {
    const id = (of: string): string => pick(idsOfType(of));
    if (chance(0.4)) return ['_list', id('List')];
    const of = pick(['Group', 'List']);
    const ways = references(type);
    const way = type !== undefined && ways.length > 0 && chance(0.4) ? pick(ways) : undefined;
    const name = `_in${chance(0.2) ? ':not' : ''}`;
    return [way === undefined ? name : `${way.code}:${near(targetsOf(way))}.${name}`, `${of}/${id(of)}`];
  };

  const include = (type: string | undefined): [string, string] => {
    const [isReverse, iterates] = [chance(0.5), chance(0.3)];
    const name = `${isReverse ? '_revinclude' : '_include'}${iterates ? ':iterate' : ''}`;
    if (chance(0.2)) return [name, '*'];
    const home = type ?? pick(DRAFT_TYPES);
    const ways = isReverse ? referrers(home) : references(home).map((row): [string, SearchRow] => [home, row]);
    if (ways.length === 0) return [name, `${home}:*`];
    const [from, row] = pick(ways);
    return [name, chance(0.3) ? `${from}:${row.code}:${near(targetsOf(row))}` : `${from}:${row.code}`];
  };

  /** Until it has none of what asks by which others something is referred to, and of what the store defines: of what is contained that is refused. */
  const without = <T>(draw: () => T, textOf: (drawn: T) => string): T => {
    for (let tries = 0; ; tries++) {
      const drawn = draw();
      if (tries === 20 || !/_has:|_list|_in\b|x-/.test(textOf(drawn))) return drawn;
    }
  };

  /** What is contained in others, or what contains it, by all that goes together with that: on pages, mostly small ones. */
  const within = (type: string): [string, string][] => {
    const shown = pick(['contained', 'container', '']);
    const query = random.some(2, () => without(() => criterion(type, 0), ([name]) => name)); // prettier-ignore
    if (chance(0.4)) query.push(['_filter', without(() => filter(type, 0), (text) => text)]); // prettier-ignore
    if (chance(0.2)) query.push(['_id', pick(['c1', 'c2', `c1,${pick(idsOfType(type))}`])]);
    // Of what a reference leads to, membership may be asked.
    const ways = references(type).filter(({ targets }) => targets?.some((each) => known.includes(each)) === true);
    if (ways.length > 0 && chance(0.15)) {
      const way = pick(ways);
      query.push([`${way.code}:${near(targetsOf(way))}._list`, pick(idsOfType('List'))]);
    }
    const order = shown === 'contained' && chance(0.6) ? pick(rowsOf(type)).code : pick(['_id', '_lastUpdated']);
    if (chance(0.5)) query.push(['_sort', (chance(0.5) ? '-' : '') + order]);
    query.push(['_contained', pick(['true', 'true', 'both', 'both', 'false'])]);
    if (shown !== '') query.push(['_containedType', shown]);
    if (chance(0.7)) query.push(['_count', pick(['1', '2', '3'])]);
    for (const [name, values] of random.some(2, () => pick(BESIDE))) query.push([name, pick(values)]);
    return query;
  };

  return (type, isOfType) => {
    if (type !== undefined && isOfType && chance(0.3)) return within(type);
    const query = random.some(3, () => criterion(type, 0));
    if (chance(0.2)) query.push(['_filter', filter(type, 0)]);
    // What mostly is refused, or means nothing.
    if (chance(0.02)) query.push(['_contained', pick(['true', 'both', 'x'])]);
    if (chance(0.02)) query.push(['_containedType', 'contained']);
    if (chance(0.5)) query.push(...random.some(3, () => include(type)));
    if (chance(0.2)) query.push(['_sort', (chance(0.5) ? '-' : '') + pick(rowsOf(type)).code]);
    for (const [name, values] of random.some(4, () => pick(RESULTS))) query.push([name, pick(values)]);
    if (type === undefined && chance(0.7)) query.push(['_type', `${pick(DRAFT_TYPES)},${pick(DRAFT_TYPES)}`]);
    if (chance(0.1)) query.push(membership(type));
    if (chance(0.1)) query.push(['_graph', pick(idsOfType('GraphDefinition'))]);
    return query;
  };
}
