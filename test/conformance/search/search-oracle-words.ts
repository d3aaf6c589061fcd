import { expect } from 'vitest';

import { OwnBases } from '../../../runtime/path/own-bases.js';
import type { Tables } from '../../../runtime/contract/index.js';
import { parametersOf } from '../../../runtime/indexing/parameters-of.js';
import { matches } from '../../../runtime/search/query/match.js';
import { parseCriterion } from '../../../runtime/search/parse/parse-criterion.js';
import { utc } from '../../../runtime/indexing/values/zone.js';
import type { Store } from '../../../runtime/store/store.js';
import { idsOf, query } from '../../contract/search/behaviour-search-helpers.js';
import { createRandom, type Random } from '../../contract/random.js';
import { oracle } from '../extraction/fhirpath-oracle.js';
import type { Sample } from './search-matrix-data.js';
import { spaced } from './search-oracle-rules.js';

/* eslint-disable @typescript-eslint/no-explicit-any -- JSON of any type is taken apart here, as it comes. */

/** Words of values, one list for each. */
type Values = readonly (readonly string[])[];

const segmenter = new Intl.Segmenter('en', { granularity: 'word' });

const known = new Map<string, string[]>();

/** By the segmenter alone, each text once. */
function words(text: string): string[] {
  const found = known.get(text) ?? segmented(text);
  known.set(text, found);
  return found;
}

function segmented(text: string): string[] {
  const seen = text.replaceAll('\u200b', ' ').replace(/\p{Cf}/gu, '');
  return [...segmenter.segment(spaced(seen).replaceAll(':', ' '))]
    .filter(({ isWordLike }) => isWordLike)
    .map(({ segment }) => segment.replace(/['"’‘ʼ＇״׳]/g, '').slice(0, 40))
    .filter((word) => word !== '');
}

const INLINE =
  'a|abbr|acronym|b|bdo|big|cite|code|dfn|em|font|i|kbd|q|s|samp|small|span|strike|strong|sub|sup|tt|u|var';

/** The blocks of a narrative, by patterns over the whole of it. */
function blocks(div: string): string[] {
  const lines = div
    .replace(/<!--.*?-->/gs, '')
    .replace(new RegExp(`</?(?:${INLINE})(?![a-z0-9])[^>]*>`, 'gi'), '')
    .split(/<[^>]*>/);
  return lines.map(
    (line) =>
    line
      .replace(/&#x([0-9a-f]+);/gi, (_, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16)))
      .replace(/&#(\d+);/g, (_, point: string) => String.fromCodePoint(Number(point)))
      .replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&apos;', "'").replaceAll('&amp;', '&'), // prettier-ignore
  );
}

const all = oracle('descendants()');
const unreadOf = oracle(
  'descendants().ofType(Reference).reference.combine(descendants().ofType(SampledData).data).combine(descendants().ofType(SampledData).offsets)',
);
const compiled = new Map<string, ReturnType<typeof oracle>>();

function evaluate(path: string, resource: object) {
  const run = compiled.get(path) ?? oracle(path);
  compiled.set(path, run);
  return run(resource);
}

/** What stands beside a value for people. */
function displays(value: any, type: string): string[] {
  const concept = (one: any): string[] => [one?.text, ...(one?.coding ?? []).map((coding: any) => coding?.display)];
  if (type === 'Coding' || type === 'Reference') return [value?.display];
  if (type === 'CodeableConcept') return concept(value);
  if (type === 'CodeableReference') return [...concept(value?.concept), value?.reference?.display];
  return type === 'Identifier' ? [value?.type?.text] : [];
}

/** The values of samples, by parameter: read once for all searches. */
const read = new WeakMap<Sample, Map<string, Values>>();

/** A search for words, and what decides it. */
interface Asked {
  readonly text: string;
  readonly holds: (values: Values) => boolean;
}

function follow(value: readonly string[], wanted: readonly string[], at: number): boolean {
  return wanted.every((word, i) => value[at + i] === word);
}

function draw(random: Random, vocabulary: readonly (readonly string[])[], depth = 2): Asked {
  const again = (): Asked => draw(random, vocabulary, depth - 1);
  if (depth > 0 && random.chance(0.5)) {
    const [left, right] = [again(), again()];
    const form = random.below(3);
    if (form === 0) return { text: `(${left.text} OR ${right.text})`, holds: (v) => left.holds(v) || right.holds(v) };
    if (form === 1) return { text: `(${left.text} NOT ${right.text})`, holds: (v) => left.holds(v) && !right.holds(v) };
    return {
      text: `(${left.text}${random.pick([' ', ' and ', ' AND '])}${right.text})`,
      holds: (v) => left.holds(v) && right.holds(v),
    };
  }
  const from = random.pick(vocabulary);
  const at = random.below(from.length);
  const wanted = from.slice(at, at + 1 + (random.chance(0.4) ? random.below(3) : 0));
  const text = wanted.map((word) => (random.chance(0.2) ? word.toUpperCase() : word)).join(' ');
  return {
    text: `"${text}"`,
    holds: (values) => values.some((value) => value.some((_, i) => follow(value, words(text), i))),
  };
}

/**
 * Random searches for words of the samples: fails where a store, `matches` and what is read off the JSON here differ.
 *
 * @returns how many found something
 */
export async function runWords(
  tables: Tables,
  samples: ReadonlyMap<string, readonly Sample[]>,
  stores: readonly Store[],
  seed: number,
  count: number,
): Promise<number> {
  const random = createRandom(seed);
  const searchTables = new Map(tables.search.map((table) => [table.type, table]));
  const types = [...samples.keys()];
  let fruitful = 0;
  for (let n = 0; n < count;) {
    const type = random.pick(types);
    const rows = parametersOf(type, searchTables);
    const coded = [...rows.values()].filter((row) => row.type === 'token' || row.type === 'reference');
    const row = random.chance(0.5) ? undefined : random.pick(coded);
    const code = row?.code ?? random.pick(['_text', '_content', '_content']);
    const valuesOf = (resource: any): Values => {
      const strings = (): string[] => {
        if (code === '_text') return blocks(resource.text?.div ?? '');
        if (row !== undefined) {
          return row.paths.flatMap((path) =>
            evaluate(path.text, resource).flatMap(({ value, type: of }) =>
              displays(value, path.types.length === 1 ? path.types[0]! : of),
            ),
          );
        }
        // As often as they stand where nobody reads them: elsewhere the same is read.
        const unread = new Map<unknown, number>();
        for (const { value } of unreadOf(resource)) unread.set(value, (unread.get(value) ?? 0) + 1);
        return all(resource).flatMap(({ value, type: of }) => {
          if (typeof value !== 'string') return [];
          if (/xhtml$/.test(of)) return blocks(value);
          if (!/(?:^|\.)(?:string|markdown)$/.test(of)) return [];
          const left = unread.get(value) ?? 0;
          if (left === 0) return [value];
          unread.set(value, left - 1);
          return [];
        });
      };
      return strings().filter((text) => typeof text === 'string').map(words).filter((value) => value.length > 0); // prettier-ignore
    };
    const each = samples.get(type)!.map((sample) => {
      const ofSample = read.get(sample) ?? new Map<string, Values>();
      read.set(sample, ofSample);
      const values = ofSample.get(code) ?? valuesOf(sample.resource);
      ofSample.set(code, values);
      return { sample, values };
    });
    const vocabulary = each.flatMap(({ values }) => values);
    if (vocabulary.length === 0) continue;
    n++;
    const isBeginning = row !== undefined && random.chance(0.4);
    const asked = isBeginning ? beginning(random, vocabulary) : draw(random, vocabulary);
    const name = row === undefined ? code : `${code}:${isBeginning ? 'text' : 'text-advanced'}`;
    const what = `seed ${seed}, ${n}: ${type}?${name}=${asked.text}`;
    const where = parseCriterion(name, asked.text.replace(/[\\,|$]/g, '\\$&'), {
      rows,
      isResourceType: (word) => samples.has(word),
      zone: utc,
      own: new OwnBases(),
      now: 0,
      maxAlternatives: 10,
    });
    const said = each.filter(({ values }) => asked.holds(values)).map(({ sample }) => sample.id).sort(); // prettier-ignore
    const matched = each.filter(({ sample: { id, entries } }) => matches(where, { id, lastUpdated: 0, entries })).map(({ sample }) => sample.id).sort(); // prettier-ignore
    expect(matched, `matches, ${what}`).toEqual(said);
    for (const [i, store] of stores.entries()) {
      expect(idsOf(await store.find(query(type, { where }))).sort(), `store ${i}, ${what}`).toEqual(said);
    }
    if (said.length > 0) fruitful++;
  }
  return fruitful;
}

function beginning(random: Random, vocabulary: readonly (readonly string[])[]): Asked {
  const value = random.pick(vocabulary).slice(0, 1 + random.below(3));
  const whole = value.join(' ');
  const text = whole.slice(0, whole.length - random.below(Math.max(1, value.at(-1)!.length)));
  const wanted = words(text);
  return {
    text,
    holds: (values) =>
      wanted.length > 0 &&
      values.some(
        (each) => follow(each, wanted.slice(0, -1), 0) && each[wanted.length - 1]?.startsWith(wanted.at(-1)!) === true,
      ),
  };
}
