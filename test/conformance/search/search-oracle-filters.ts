import type { ComponentRow, SearchRow } from '../../../runtime/contract/index.js';
import type { Store } from '../../../runtime/store/store.js';
import { compareText } from '../../../runtime/search/query/compare-text.js';
import { createRandom, type Random } from '../../contract/random.js';
import type { LinkWorld } from './search-oracle-link-trials.js';
import type { Edge, Located } from './search-oracle-links.js';
import { fulfils, normal, parts, type OracleContext } from './search-oracle-rules.js';
import { drawCriterion } from './search-oracle-trials.js';
import { spanOfDate, type Item } from './search-oracle-values.js';

/** A filter as it is drawn, and decided on the JSON of samples. https://hl7.org/fhir/R5/search_filter.html */
type Drawn =
  | { readonly is: 'and' | 'or'; readonly left: Drawn; readonly right: Drawn; readonly isBracketed: boolean }
  | { readonly is: 'not'; readonly inner: Drawn }
  | { readonly is: 'test'; readonly row: SearchRow; readonly operator: string; readonly value: string }
  | {
      readonly is: 'chain';
      readonly row: SearchRow;
      readonly type: string;
      readonly filter?: Drawn;
      readonly inner: Path;
    }
  | { readonly is: 'has'; readonly row: SearchRow; readonly type: string; readonly inner: Path };

type Path = Drawn & { readonly is: 'test' | 'chain' | 'has' };

/** Fails where a store, `matches` and the oracle do not find the same by a random filter. @returns how many found something */
export async function runFilters(
  world: LinkWorld,
  stores: readonly Store[],
  seed: number,
  count: number,
): Promise<number> {
  const random = createRandom(seed);
  let fruitful = 0;
  for (let n = 0; n < count;) {
    const at = random.pick(world.located);
    const drawn = draw(random, world, at, 2);
    if (drawn === undefined) continue;
    n++;
    const text = write(drawn, random);
    const what = `seed ${seed}, ${n}: ${at.type}?_filter=${text}`;
    if ((await world.compare(stores, at.type, ['_filter', text], (each) => finds(world, drawn, each), what)) > 0)
      fruitful++;
  }
  return fruitful;
}

/** A filter that a sample may fulfil, or one near it. */
function draw(random: Random, world: LinkWorld, at: Located, depth: number): Drawn | undefined {
  const form = random.below(10);
  if (depth === 0 || form < 4) return drawPath(random, world, at, 2);
  if (form === 4) return wrap(draw(random, world, at, depth - 1), (inner) => ({ is: 'not', inner }));
  const [left, right] = [draw(random, world, at, depth - 1), draw(random, world, at, depth - 1)];
  if (left === undefined || right === undefined) return left ?? right;
  return { is: random.pick(['and', 'or'] as const), left, right, isBracketed: random.chance(0.3) };
}

function wrap(inner: Drawn | undefined, make: (inner: Drawn) => Drawn): Drawn | undefined {
  return inner === undefined ? undefined : make(inner);
}

function drawPath(random: Random, world: LinkWorld, at: Located, links: number): Path | undefined {
  const ways: readonly [Edge, boolean][] = [
    ...(world.leaving.get(at.sample) ?? []).map((edge): [Edge, boolean] => [edge, true]),
    ...(world.arriving.get(at.sample) ?? []).map((edge): [Edge, boolean] => [edge, false]),
  ];
  if (links === 0 || ways.length === 0 || random.chance(0.6)) return drawTest(random, world, at);
  const [{ from, row, to }, isForwards] = random.pick(ways);
  const inner = drawPath(random, world, isForwards ? to : from, links - 1);
  if (inner === undefined) return undefined;
  if (!isForwards) return { is: 'has', row, type: from.type, inner };
  const filter = random.chance(0.3) ? draw(random, world, to, 1) : undefined;
  return { is: 'chain', row, type: to.type, inner, ...(filter !== undefined && { filter }) };
}

const ORDERED = ['eq', 'ne', 'gt', 'lt', 'ge', 'le', 'sa', 'eb', 'ap'];
const OPERATORS: Readonly<Partial<Record<SearchRow['type'], readonly string[]>>> = {
  string: ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'lt', 'ge', 'le'],
  token: ['eq', 'eq', 'ne'],
  date: [...ORDERED, 'co', 'po'],
  number: ORDERED,
  quantity: ORDERED,
  reference: ['re', 'eq'],
  uri: ['eq'],
  composite: ['eq'],
};

function drawTest(random: Random, world: LinkWorld, { type, sample }: Located): Path | undefined {
  for (let tries = 0; tries < 20; tries++) {
    const row = random.pick(world.rowsOf(type));
    const operators = OPERATORS[row.type];
    if (random.chance(0.05)) return { is: 'test', row, operator: 'pr', value: random.pick(['true', 'false']) };
    if (operators === undefined) continue;
    const { modifier, text } = drawCriterion(random, world.oracle, row, [sample]) ?? { modifier: 'none', text: '' };
    if (row.code === '_id' || (modifier !== '' && row.type !== 'string') || modifier === 'missing') continue;
    const [one = ''] = parts(text, ',');
    const isOrdered = ['date', 'number', 'quantity'].includes(row.type);
    const value = isOrdered ? one.replace(/^(?:eq|ne|gt|lt|ge|le|sa|eb|ap)/, '') : isRaw(row) ? plain(one) : one;
    if (value === '' || (row.type === 'string' && normal(value) === '')) continue;
    return { is: 'test', row, operator: random.pick(operators), value };
  }
  return undefined;
}

/** Texts stand for themselves; what has parts is written as in other searches. */
const isRaw = ({ type }: SearchRow): boolean => type === 'string' || type === 'uri';
const plain = (text: string): string => text.replace(/\\([,|$\\])/g, '$1');

function write(drawn: Drawn, random: Random): string {
  switch (drawn.is) {
    case 'not':
      return `not (${write(drawn.inner, random)})`;
    case 'and':
    case 'or': {
      // What stands to the right goes first in brackets alone.
      const isBracketed = drawn.right.is === 'and' || drawn.right.is === 'or';
      const right = write(drawn.right, random);
      const text = `${write(drawn.left, random)} ${drawn.is} ${isBracketed ? `(${right})` : right}`;
      return drawn.isBracketed ? `(${text})` : text;
    }
    default: {
      const { path, operator, value } = writePath(drawn, random);
      const isBare = !/[\s)\]"]/.test(value) && random.chance(0.5);
      return `${path} ${operator} ${isBare ? value : JSON.stringify(value)}`;
    }
  }
}

function writePath(drawn: Path, random: Random): { path: string; operator: string; value: string } {
  if (drawn.is === 'test') return { path: drawn.row.code, operator: drawn.operator, value: drawn.value };
  const { path, ...rest } = writePath(drawn.inner, random);
  if (drawn.is === 'has') return { path: `_has:${drawn.type}:${drawn.row.code}:${path}`, ...rest };
  const filter = drawn.filter === undefined ? '' : `[${write(drawn.filter, random)}]`;
  return { path: `${drawn.row.code}:${drawn.type}${filter}.${path}`, ...rest };
}

function finds(world: LinkWorld, drawn: Drawn, at: Located): boolean {
  const { oracle, links, located } = world;
  switch (drawn.is) {
    case 'not':
      return !finds(world, drawn.inner, at);
    case 'and':
      return finds(world, drawn.left, at) && finds(world, drawn.right, at);
    case 'or':
      return finds(world, drawn.left, at) || finds(world, drawn.right, at);
    case 'has':
      return located.some((from) => from.type === drawn.type && leads(from, at) && finds(world, drawn.inner, from));
    case 'chain':
      return located.some(
        (to) =>
          to.type === drawn.type &&
          leads(at, to) &&
          finds(world, drawn.inner, to) &&
          (drawn.filter === undefined || finds(world, drawn.filter, to)),
      );
    case 'test': {
      const { row, operator, value } = drawn;
      const { resource } = at.sample;
      if (operator === 'pr') return oracle.finds(row, 'missing', String(value !== 'true'), resource);
      if (row.type === 'composite') {
        const wanted = parts(value, '$');
        return oracle.composites(row, resource).some((values) =>
          values.every((items, i) => {
            const [component, text = ''] = [row.components![i]!, wanted[i]];
            return items.some((item) => comparesPart(item, text, component, world.context));
          }),
        );
      }
      return oracle.items(row, resource).some((item) => compares(item, operator, value, row, world.context));
    }
  }

  function leads(from: Located, to: Located): boolean {
    return drawn.is !== 'chain' && drawn.is !== 'has'
      ? false
      : oracle.items(drawn.row, from.sample.resource).some((item) => links.leads(item, to));
  }
}

/** https://hl7.org/fhir/R5/search_filter.html#ops */
function compares(
  item: Item,
  operator: string,
  value: string,
  row: SearchRow | ComponentRow,
  context: OracleContext,
): boolean {
  switch (item.is) {
    case 'string':
      return comparesText(normal(item.text), operator, normal(value));
    case 'date': {
      if (operator !== 'co' && operator !== 'po') return fulfils(item, '', `${operator}${value}`, row, context);
      const { low, high } = spanOfDate(value)!;
      return operator === 'co' ? item.low <= low && high <= item.high : item.low <= high && low <= item.high;
    }
    case 'number':
    case 'quantity':
      return fulfils(item, '', `${operator}${value}`, row, context);
    case 'token': {
      const lower = { ...item, ...(item.code !== undefined && { code: lowerAscii(item.code) }) };
      const [first = '', code] = parts(value, '|');
      const asked = code === undefined ? lowerAscii(first) : `${first}|${lowerAscii(code)}`;
      return fulfils(lower, '', asked, row, context) === (operator === 'eq');
    }
    case 'uri':
      return item.text === value;
    default:
      return fulfils(item, '', value, row, context);
  }
}

/** A part of a composite; numbers, quantities and dates with the prefixes of other searches. */
function comparesPart(item: Item, text: string, component: ComponentRow, context: OracleContext): boolean {
  const isEqual = item.is === 'token' || item.is === 'string';
  if (!isEqual) return fulfils(item, '', text, component, context);
  return compares(item, 'eq', item.is === 'string' ? plain(text) : text, component, context);
}

const lowerAscii = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

function comparesText(text: string, operator: string, value: string): boolean {
  const order = compareText(text, value);
  switch (operator) {
    case 'co':
      return text.includes(value);
    case 'sw':
      return text.startsWith(value);
    case 'ew':
      return text.endsWith(value);
    case 'ne':
      return order !== 0;
    case 'gt':
      return order > 0;
    case 'lt':
      return order < 0;
    case 'ge':
      return order >= 0;
    case 'le':
      return order <= 0;
    default:
      return order === 0;
  }
}
