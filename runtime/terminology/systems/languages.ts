import { FhirError } from '../../fhir/errors.js';
import type { Designation } from '../concepts.js';

/** The languages that displays are wanted in. https://hl7.org/fhir/R5/http.html#version-parameter, RFC 9110, 12.5.4 */
export interface Languages {
  /** The best first; none: any language will do. */
  readonly tags: readonly string[];
  /** `*;q=0`: a display in another language is no display. */
  readonly isStrict: boolean;
}

/** No language is asked for. */
export const ANY_LANGUAGE: Languages = { tags: [], isStrict: false };

/** BCP 47, as far as form goes. */
const TAG = /^[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*$/;

/**
 * Reads a list of language tags with weights: `de, en;q=0.5, *;q=0`.
 *
 * @throws FhirError `parameter-invalid` where it is none
 */
export function parseLanguages(text: string): Languages {
  let isStrict = false;
  const weighted: { tag: string; weight: number }[] = [];
  for (const part of text.split(',')) {
    const [tag = '', ...parameters] = part.split(';').map((each) => each.trim());
    const weight = Number(parameters.find((each) => /^q\s*=/.test(each))?.split('=')[1] ?? 1);
    if ((tag !== '*' && !TAG.test(tag)) || !(weight >= 0 && weight <= 1)) {
      throw new FhirError('parameter-invalid', `${JSON.stringify(text.slice(0, 64))} is no list of languages; "de, en;q=0.5" is one`); // prettier-ignore
    }
    if (tag === '*') isStrict = weight === 0;
    else if (weight > 0) weighted.push({ tag, weight });
  }
  const tags = weighted.sort((a, b) => b.weight - a.weight).map(({ tag }) => tag);
  return { tags, isStrict: isStrict && tags.length > 0 };
}

/** Whether a tag is of a language: `de-AT` is of `de`. */
export function isLanguage(tag: string, language: string): boolean {
  const [one, other] = [tag.toLowerCase(), language.toLowerCase()];
  return one === other || one.startsWith(`${other}-`);
}

/** Something that has names. */
export interface Named<Name = Pick<Designation, 'language' | 'value'>> {
  readonly display?: string;
  /** Of the display. */
  readonly language?: string;
  readonly designations: readonly Name[];
}

/** https://terminology.hl7.org/CodeSystem-designation-usage.html */
const DISPLAY = { system: 'http://terminology.hl7.org/CodeSystem/designation-usage', code: 'display' };

/** The designations of something; its display is one of them where another one is shown in its place. */
export function designationsIn(
  { display, language, designations }: Named<Designation>,
  shown: string | undefined,
): readonly Designation[] {
  if (display === undefined || display === shown) return designations;
  return [{ ...(language !== undefined && { language }), use: DISPLAY, value: display }, ...designations];
}

/** The tags to look for, the best first: `de-CH` is followed by `de`. RFC 4647, 3.4 */
function withFallbacks(tags: readonly string[]): readonly string[] {
  return tags.flatMap((tag) => {
    const parts = tag.split('-');
    return parts.map((_, i) => parts.slice(0, parts.length - i).join('-'));
  });
}

/** The display in the best of the languages: the display itself, else a designation. Without one any display will do, unless the client is strict. */
export function displayIn(
  { display, language, designations }: Named,
  { tags, isStrict }: Languages,
): string | undefined {
  for (const tag of withFallbacks(tags)) {
    if (language !== undefined && isLanguage(language, tag)) return display;
    const found =
      designations.find((each) => each.language === tag) ??
      designations.find((each) => each.language !== undefined && isLanguage(each.language, tag));
    if (found !== undefined) return found.value;
  }
  return isStrict ? undefined : display;
}

/** The names of something in any of the languages, else in those that they fall back to; all of them where no language is asked for. */
export function namesIn(named: Named, { tags }: Languages): readonly string[] {
  const own = namesOf(named, tags);
  return own.length > 0 ? own : namesOf(named, withFallbacks(tags));
}

function namesOf({ display, language, designations }: Named, tags: readonly string[]): readonly string[] {
  const isWanted = (own: string | undefined): boolean =>
    tags.length === 0 || (own !== undefined && tags.some((tag) => isLanguage(own, tag)));
  return [
    ...(display !== undefined && isWanted(language) ? [display] : []),
    ...designations.filter((each) => isWanted(each.language)).map(({ value }) => value),
  ];
}
