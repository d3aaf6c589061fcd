import { FhirError } from '../../fhir/errors.js';
import type { Designation } from '../concepts.js';

/** The languages that displays are wanted in. https://hl7.org/fhir/R5/http.html#version-parameter, RFC 9110, 12.5.4 */
export interface Languages {
  /** The best first; none: any language will do. */
  readonly tags: readonly string[];
  /** `*;q=0`: a display in another language is no display. */
  readonly isStrict: boolean;
  /** Places of the tags, in lower case, from the best on. */
  readonly ranks: LanguageRanks;
  /** The same with what each falls back to: `de-CH` is followed by `de`. RFC 4647, 3.4 */
  readonly fallbackRanks: LanguageRanks;
}

/** Places of language tags in lower case. */
export type LanguageRanks = ReadonlyMap<string, number>;

/** Languages that a client may ask for. */
const MOST_LANGUAGES = 50;

/** BCP 47, as far as form goes, with as many parts as any language has. */
const TAG = /^[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8}){0,15}$/;

/** The languages of some tags, the best first. */
export function languagesIn(tags: readonly string[], isStrict = false): Languages {
  const fallbacks = tags.flatMap((tag) => prefixesOf(tag.toLowerCase()));
  return { tags, isStrict, ranks: ranksOf(tags.map((tag) => tag.toLowerCase())), fallbackRanks: ranksOf(fallbacks) };
}

function ranksOf(tags: readonly string[]): LanguageRanks {
  const found = new Map<string, number>();
  for (const tag of tags) if (!found.has(tag)) found.set(tag, found.size);
  return found;
}

/** No language is asked for. */
export const ANY_LANGUAGE: Languages = languagesIn([]);

/**
 * Reads a list of language tags with weights: `de, en;q=0.5, *;q=0`.
 *
 * @throws FhirError `parameter-invalid` where it is none
 */
export function parseLanguages(text: string): Languages {
  let isStrict = false;
  const weighted: { tag: string; weight: number }[] = [];
  for (const part of text.split(',', MOST_LANGUAGES + 1)) {
    const [tag = '', ...parameters] = part.split(';', 4).map((each) => each.trim());
    const weight = Number(parameters.find((each) => /^q\s*=/.test(each))?.split('=')[1] ?? 1);
    if ((tag !== '*' && !TAG.test(tag)) || !(weight >= 0 && weight <= 1)) {
      throw new FhirError('parameter-invalid', `${JSON.stringify(text.slice(0, 64))} is no list of languages; "de, en;q=0.5" is one`); // prettier-ignore
    }
    if (tag === '*') isStrict = weight === 0;
    else if (weight > 0) weighted.push({ tag, weight });
    if (weighted.length > MOST_LANGUAGES) {
      throw new FhirError('parameter-invalid', `A list of languages has ${MOST_LANGUAGES} of them at most`);
    }
  }
  const tags = weighted.sort((a, b) => b.weight - a.weight).map(({ tag }) => tag);
  return languagesIn(tags, isStrict && tags.length > 0);
}

/** Whether a tag is of one of some languages. */
export function isLanguageOf(tag: string, ranks: Pick<LanguageRanks, 'has'>): boolean {
  return prefixesOf(tag.toLowerCase()).some((each) => ranks.has(each));
}

/** The place of the best language that a tag is of; undefined: it is of none. */
function rankOf(tag: string, ranks: LanguageRanks): number | undefined {
  let best: number | undefined;
  for (const each of prefixesOf(tag.toLowerCase())) {
    const rank = ranks.get(each);
    if (rank !== undefined && (best === undefined || rank < best)) best = rank;
  }
  return best;
}

/** A tag and what it falls back to: `de-CH`, `de`. */
function prefixesOf(tag: string): readonly string[] {
  if (!tag.includes('-')) return [tag];
  const parts = tag.split('-', MOST_PARTS);
  return parts.map((_, i) => parts.slice(0, parts.length - i).join('-'));
}

/** Parts of a tag that count. */
const MOST_PARTS = 16;

/** Something that has names. */
export interface WithDesignations<Name = Pick<Designation, 'language' | 'value'>> {
  readonly display?: string;
  /** Of the display. */
  readonly language?: string;
  readonly designations: readonly Name[];
}

/** https://terminology.hl7.org/CodeSystem-designation-usage.html */
const DISPLAY = { system: 'http://terminology.hl7.org/CodeSystem/designation-usage', code: 'display' };

/** The designations of something; its display is one of them where another one is shown in its place. */
export function designationsIn(
  { display, language, designations }: WithDesignations<Designation>,
  shown: string | undefined,
): readonly Designation[] {
  if (display === undefined || display === shown) return designations;
  return [{ ...(language !== undefined && { language }), use: DISPLAY, value: display }, ...designations];
}

/** The display in the best of the languages: the display itself, else a designation. Without one any display will do, unless the client is strict. */
export function displayIn(
  { display, language, designations }: WithDesignations,
  { fallbackRanks, isStrict }: Languages,
): string | undefined {
  if (fallbackRanks.size === 0) return isStrict ? undefined : display;
  const own = language === undefined ? undefined : rankOf(language, fallbackRanks);
  let found: string | undefined;
  let [best, isExact] = [own ?? Infinity, own !== undefined];
  for (const each of designations) {
    const rank = each.language === undefined ? undefined : rankOf(each.language, fallbackRanks);
    if (rank === undefined || rank > best) continue;
    const exact = fallbackRanks.get(each.language!.toLowerCase()) === rank;
    if (rank === best && (isExact || !exact)) continue;
    [best, isExact, found] = [rank, exact, each.value];
  }
  return found ?? (own !== undefined || !isStrict ? display : undefined);
}

/** The names of something in any of the languages, else in those that they fall back to; all of them where no language is asked for. */
export function namesIn(named: WithDesignations, { ranks, fallbackRanks }: Languages): readonly string[] {
  const own = namesOf(named, ranks);
  return own.length > 0 ? own : namesOf(named, fallbackRanks);
}

function namesOf({ display, language, designations }: WithDesignations, ranks: LanguageRanks): readonly string[] {
  const isWanted = (own: string | undefined): boolean =>
    ranks.size === 0 || (own !== undefined && isLanguageOf(own, ranks));
  return [
    ...(display !== undefined && isWanted(language) ? [display] : []),
    ...designations.filter((each) => isWanted(each.language)).map(({ value }) => value),
  ];
}
