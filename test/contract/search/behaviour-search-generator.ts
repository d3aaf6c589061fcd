import type { IndexEntry, ReferenceEntry, SimpleEntry, WordsEntry } from '../../../runtime/indexing/entry.js';
import type {
  CompositeLeaf,
  Condition,
  Ends,
  Interval,
  SortKey,
  ValueTest,
} from '../../../runtime/search/query/query.js';
import { composite, date, number, of, quantity, reference, text, token, uri } from './behaviour-search-helpers.js';
import { randomWords, randomWordsTest } from './behaviour-search-words.js';
import { createPlaces } from './places-generator.js';
import type { Random } from '../random.js';

/** What random queries are made from: of everything few, so that values meet. */
export interface Generator {
  entries(): IndexEntry[];
  condition(depth?: number): Condition;
  sort(): SortKey[];
}

type Kind = SimpleEntry['kind'];

/** Parameters by kind; the first of each has a sort slot where there are slots (`slotOf`). */
const PARAMS: Readonly<Record<Kind, readonly string[]>> = {
  token: ['code', 'status'],
  string: ['name', 'city'],
  date: ['when', 'issued'],
  number: ['count', 'size'],
  quantity: ['amount', 'weight'],
  reference: ['subject', 'related'],
  uri: ['url', 'source'],
};
const KINDS = Object.keys(PARAMS) as Kind[];

/** Composites, and the kinds of their parts. */
const COMPOSITES: Readonly<Record<string, readonly Kind[]>> = {
  'code-amount': ['token', 'quantity'],
  'code-when': ['token', 'date'],
  'three-of-them': ['reference', 'string', 'number'],
  'two-codes': ['token', 'token'],
  'url-name': ['uri', 'string'],
  'covered-code-amount': ['token', 'quantity'],
  'covered-count-status-when': ['number', 'token', 'date'],
};

/** Composites whose parts are values of other parameters, too; and these. */
const COVERED: Readonly<Record<string, readonly string[]>> = {
  'covered-code-amount': ['code', 'amount'],
  'covered-count-status-when': ['size', 'status', 'when'],
};

/** Parameters that are words, one of which has tokens too; the content includes the narrative. */
const WORDS = ['_text', '_content', 'code', 'detail'];
/** Two of them are a union, of which the beginnings of values are known. */
const UNION = ['code', 'detail'];

const CODES = ['a', 'A', 'ab', 'AB', 'abc', 'é', 'É', 'z_', 'z%', '$gt', 'a\u{10ffff}'];
const SYSTEMS = [undefined, 'urn:s', 'urn:t'] as const;
const FOLDED = ['a', 'ab', 'abc', 'b', 'bab', 'a b', 'é', 'z%', '.*', '\u{1f525}', '\uff5e', "'"];
const IDS = ['1', '2', '10'];
const TYPES = ['Patient', 'Group', 'Device'];
const URLS = ['http://a', 'http://a/b', 'http://a/b/c', 'http://a/bc', 'urn:oid:1.2', 'urn:oid:1.2.3', 'urn:oid:1.23'];
/** The base of absolute references. */
export const BASE = 'http://x/fhir';
const UNITS = ['g', 'mg', 'm'];
const UCUM = 'http://unitsofmeasure.org';

/** Types whose resources refer to each other. */
export interface World {
  /** Those of the resources, and some that there are none of. */
  readonly types: readonly string[];
  /** URLs that nothing else in the store has. */
  readonly urls: readonly string[];
  /** Whether references may name them; else they name places, but for a few identifiers. */
  readonly hasCanonicals?: boolean;
}

/**
 * @param ids those that resources may have
 * @param world absent: no reference leads anywhere, and no condition asks for other resources
 */
export function createGenerator(random: Random, ids: readonly string[], world?: World): Generator {
  const { below, chance, pick, some } = random;
  const targetTypes = world?.types ?? TYPES;
  const urls = world?.urls ?? URLS;
  const targetIds = world === undefined ? IDS : ids;
  const places = createPlaces(random);
  const maybe = <T>(value: T, probability = 0.5): T | undefined => (chance(probability) ? value : undefined);
  const point = (): number => below(12) * 10 - 20;
  const system = (): string | undefined => pick(SYSTEMS);

  function interval(): { low?: number; high?: number } {
    const low = point();
    const high = low + below(4) * 10;
    const open = below(8);
    return { ...(open !== 0 && { low }), ...(open !== 1 && { high }) };
  }

  function amount(): SimpleEntry {
    const value = below(8);
    const code = maybe(pick(UNITS), 0.8);
    const isUcum = code !== undefined && chance(0.7);
    const ends = chance(0.3) ? intervalFrom(value) : {};
    const factor = code === 'mg' ? 0.001 : 1;
    const scale = (n: number | undefined): number | undefined => (n === undefined ? undefined : n * factor);
    const canonical = isUcum
      ? {
          unit: code === 'm' ? 'm' : 'g',
          value: value * factor,
          ...defined({ low: scale(ends.low), high: scale(ends.high) }),
        }
      : undefined;
    return quantity({
      value,
      ...ends,
      system: isUcum ? UCUM : maybe('urn:s', 0.3),
      code,
      unit: maybe(pick(UNITS)),
      canonical,
    });
  }

  function intervalFrom(value: number): { low?: number; high?: number } {
    const kind = below(3);
    return kind === 0 ? { low: value } : kind === 1 ? { high: value } : { low: value, high: value + below(4) };
  }

  function place(): Partial<ReferenceEntry> {
    const base = maybe(BASE, 0.2);
    return defined({ type: pick(targetTypes), id: pick(targetIds), base, version: maybe(pick(['1', '2']), 0.2) });
  }

  function target(): SimpleEntry {
    const identifier = { value: pick(['v', 'w', '1']), ...defined({ system: system() }) };
    const form = world?.hasCanonicals === false ? (chance(0.1) ? 0 : 7) : below(8);
    if (form === 0) return reference({ type: maybe(pick(targetTypes)), identifier });
    if (form === 1 || (form === 3 && world !== undefined))
      return reference({ url: pick(urls), version: maybe('1'), fragment: maybe('f', 0.3) });
    if (form === 2)
      return reference({
        type: maybe(pick(targetTypes)),
        url: world === undefined ? 'urn:uuid:1' : pick(urls),
        identifier: maybe(identifier),
      });
    return reference({ ...place(), identifier: maybe(identifier, 0.2), fragment: maybe('f', 0.1) });
  }

  function ofTypes(): { code: string; system?: string }[] | undefined {
    const types = some(3, () => ({ code: pick(['MR', 'SS']), ...defined({ system: system() }) }));
    return types.length === 0 ? undefined : types;
  }

  const entry: Readonly<Record<Kind, () => SimpleEntry>> = {
    token: () => (chance(0.1) ? token(undefined, 'urn:s') : token(pick(CODES), system(), maybe(ofTypes(), 0.3))),
    string: () => {
      const folded = pick(FOLDED);
      return text(folded, chance(0.5) ? folded : folded.toUpperCase());
    },
    date: () => {
      const { low, high } = interval();
      return date(low, high);
    },
    number: () => number(below(16) / 2),
    quantity: amount,
    reference: target,
    uri: () => uri(pick(urls)),
  };

  function bounds(value: number): Interval {
    const [sign, other] = [pick(['gt', 'gte', 'lt', 'lte'] as const), pick(['lt', 'lte'] as const)];
    return { [sign]: value, ...(chance(0.15) && sign.startsWith('g') && { [other]: value + below(4) }) };
  }

  function ends(value: () => number): Ends {
    const which = below(8);
    return {
      ...(which !== 0 && which < 5 && { low: bounds(value()) }),
      ...((which === 0 || which > 3) && { high: bounds(value()) }),
    };
  }

  function amountTest(): ValueTest {
    const units: readonly object[] = [
      {},
      { unit: pick(UNITS) },
      { system: 'urn:s' },
      { system: UCUM, unit: pick(UNITS) },
    ];
    const canonical = chance(0.5) ? pick(['g', 'm', 's']) : undefined;
    const factor = canonical === 'g' && chance(0.5) ? 0.001 : 1;
    const numbers = ends(() => below(8) * factor);
    return canonical === undefined
      ? { is: 'quantity', ...pick(units), ...numbers }
      : { is: 'quantity', canonical, ...numbers };
  }

  function referenceTest(): ValueTest {
    const form = below(8);
    if (form === 0) return { is: 'identifier', ...defined({ system: systemTest() }), value: pick(['v', 'w', '1']) };
    if (form === 1) return { is: 'identifier', system: pick(['urn:s', 'urn:t', null]) };
    if (form === 2)
      return { is: 'reference', url: pick(urls), ...defined({ version: maybe('1'), fragment: maybe('f') }) };
    if (form === 3) return { is: 'reference', url: 'urn:uuid:1', ...defined({ types: maybe([pick(TYPES)]) }) };
    const { id, base, version } = place();
    const types = maybe([pick(TYPES), ...some(2, () => pick(TYPES))], 0.7);
    return { is: 'reference', ...defined({ id, base, version, types, fragment: maybe('f', 0.05) }) };
  }

  function systemTest(): string | null | undefined {
    return chance(0.2) ? null : system();
  }

  function tokenTest(): ValueTest {
    const form = below(12);
    const any = pick(CODES).replace(/[A-Z]/g, (letter) => letter.toLowerCase());
    if (form > 9) {
      const is = pick(['token-any-case', 'token-other'] as const);
      return chance(0.2)
        ? { is, system: pick(['urn:s', null]) }
        : { is, lower: any, ...defined({ system: systemTest() }) };
    }
    if (form === 0) return { is: 'token', system: pick(['urn:s', 'urn:t', null]) };
    if (form === 1)
      return { is: 'token-code-begins', lower: pick(CODES).replace(/[A-Z]/g, (letter) => letter.toLowerCase()) };
    if (form === 2)
      return { is: 'of-type', ...defined({ system: systemTest() }), code: pick(['MR', 'SS']), value: pick(CODES) };
    return { is: 'token', code: pick(CODES), ...defined({ system: systemTest() }) };
  }

  const test: Readonly<Record<Kind, () => ValueTest>> = {
    token: tokenTest,
    string: () => {
      const folded = pick(FOLDED);
      if (chance(0.3)) return { is: 'string-equals', text: chance(0.5) ? folded : folded.toUpperCase() };
      if (chance(0.3)) {
        const [low, high] = [pick(['gt', 'gte']), pick(['lt', 'lte'])];
        const other = pick(FOLDED);
        const bounds = pick([
          { [low]: folded },
          { [high]: folded },
          { [low]: folded, [high]: other },
          { gte: folded, lte: folded },
        ]);
        return { is: 'string-range', ...bounds };
      }
      return { is: pick(['string-begins', 'string-contains', 'string-ends']), folded };
    },
    date: () => ({ is: 'date', ...ends(point) }),
    number: () => ({ is: 'number', ...ends(() => below(16) / 2) }),
    quantity: amountTest,
    reference: referenceTest,
    uri: () => ({
      is: pick(['uri-equals', 'uri-below', 'uri-above'] as const),
      value: pick([...urls, 'http://a/b/c/d']),
    }),
  };

  const tests = (kind: Kind): ValueTest[] => [test[kind](), ...(chance(0.3) ? some(4, test[kind]) : [])];

  function leaf(): Condition {
    const form = below(22);
    if (form > 19) {
      if (chance(0.3)) return { param: 'union', words: randomWordsTest(random, 'code'), unionOf: UNION };
      const param = pick(WORDS);
      return { param, words: randomWordsTest(random, param) };
    }
    if (form === 0) return { ids: some(6, () => pick(ids)) };
    if (form === 1) return { updated: [{ low: { gte: 0 } }] };
    if (form > 17) return places.condition();
    if (form < 4) {
      const kind = pick([...KINDS, 'composite'] as const);
      const param = pick(kind === 'composite' ? Object.keys(COMPOSITES) : PARAMS[kind]);
      return { param, present: kind, ...(kind === 'composite' && coveredBy(param)) };
    }
    if (form < 9) {
      const param = pick(Object.keys(COMPOSITES));
      const alternative = (): ValueTest[][] => COMPOSITES[param]!.map(tests);
      return { param, composite: [alternative(), ...some(3, alternative)], ...coveredBy(param) };
    }
    const kind = pick(KINDS);
    return { param: pick(PARAMS[kind]), any: tests(kind) };
  }

  function link(depth: number): Condition {
    const param = pick(PARAMS.reference);
    const inner = (): Condition => (chance(0.15) ? { all: [] } : chance(0.3) ? condition(depth - 1) : depth > 1 && chance(0.4) ? link(depth - 1) : leaf()); // prettier-ignore
    if (chance(0.45)) return { has: { type: pick(targetTypes), param, where: inner() } };
    const types = new Set([pick(targetTypes), ...some(3, () => pick(targetTypes))]);
    return { param, chain: [...types].map((type) => ({ type, where: inner() })) };
  }

  function condition(depth = 3): Condition {
    if (world !== undefined && depth > 0 && chance(0.5)) return link(depth);
    if (depth === 0 || chance(0.4)) return leaf();
    const form = below(6);
    if (form === 0) return { not: condition(depth - 1) };
    if (form < 3) return { some: some(4, () => condition(depth - 1)) };
    return { all: some(4, () => condition(depth - 1)) };
  }

  return {
    entries() {
      const simple = KINDS.flatMap((kind) =>
        PARAMS[kind].flatMap((param) =>
          chance(0.25) ? [] : [entry[kind](), ...some(3, entry[kind])].map((one) => of(param, one)),
        ),
      );
      const composites = Object.entries(COMPOSITES).flatMap(([param, kinds]) =>
        some(4, () => {
          const parts = kinds.map((kind) => [entry[kind](), ...(chance(0.2) ? [entry[kind]()] : [])]);
          const own = of(param, composite(...parts));
          const covering = COVERED[param];
          if (covering === undefined) return [own];
          // Those of an older file are not marked.
          const marked = chance(0.7) ? { ...own, isCovered: true as const } : own;
          return [marked, ...parts.flatMap((part, i) => part.map((each) => of(covering[i]!, each)))];
        }).flat(),
      );
      const versions = world === undefined ? [] : some(3, () => of('version', token(pick(['1', '2']))));
      const texts = randomTexts(random);
      return [...simple, ...composites, ...versions, ...texts, ...places.entries()];
    },
    condition,
    sort: () =>
      some(4, (): SortKey => {
        const isDescending = chance(0.5);
        if (chance(0.1)) return { param: '_id', by: 'id', isDescending };
        if (chance(0.1)) return { param: '_lastUpdated', by: 'updated', isDescending };
        const by = pick(KINDS);
        if (chance(0.15)) {
          return { param: 'union', by, isDescending, unionOf: chance(0.5) ? PARAMS[by] : [pick(PARAMS[by])] };
        }
        return { param: pick(PARAMS[by]), by, isDescending };
      }),
  };
}

function coveredBy(param: string): Pick<CompositeLeaf, 'coveredBy'> {
  const covering = COVERED[param];
  if (covering === undefined) return {};
  return { coveredBy: covering.map((each, i) => ({ param: each, kind: COMPOSITES[param]![i]! })) };
}

/** Without what is undefined. */
function defined<T extends object>(fields: T): { [name in keyof T]: Exclude<T[name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

/** The content includes the narrative, wherever in it that stands. */
function randomTexts(random: Random): WordsEntry[] {
  const texts = new Map(WORDS.filter(() => random.chance(0.7)).map((param) => [param, randomWords(random)]));
  const [narrative, content] = [texts.get('_text'), texts.get('_content')];
  if (narrative !== undefined) {
    const others = content?.text ?? '';
    const text = random.chance(0.5) ? others + narrative.text : narrative.text + others;
    texts.set('_content', { ...narrative, text });
  }
  return Array.from(texts, ([param, entry]) => of(param, entry));
}
