import { formatInstant } from '../fhir/instant.js';
import { noteOutcome, type Note } from '../fhir/note.js';
import type { FindPage, StoredVersion } from '../store/store.js';

/** What stands in the Bundle of a page of matches. */
export interface SearchBundle {
  readonly page: Pick<FindPage, 'versions' | 'complete'>;
  /** How many match on all pages; absent: nobody counted. */
  readonly total?: number;
  /** Absolute URL of the FHIR base. */
  readonly base: string;
  /** URL of this page. */
  readonly self: string;
  /** URL of the next page. */
  readonly next?: string;
  /** The JSON text of each match as it is to be shown. */
  readonly texts: readonly (string | undefined)[];
  /** What the client should know. */
  readonly notes: readonly Note[];
}

/**
 * JSON text of a Bundle of type `searchset`. Resources are put in as the text that the store has, so that every number
 * keeps its form. https://hl7.org/fhir/R5/bundle.html#searchset
 */
export function writeSearchBundle({ page, total, base, self, next, texts, notes }: SearchBundle): string {
  const links = [{ relation: 'self', url: self }, ...(next === undefined ? [] : [{ relation: 'next', url: next }])];
  const entries = page.versions.flatMap((version, i) => {
    const text = texts[i];
    return text === undefined ? [] : [writeMatch(version, base, text)];
  });
  if (notes.length > 0) {
    entries.push(`{"resource":${JSON.stringify(noteOutcome(notes))},"search":{"mode":"outcome"}}`);
  }
  return (
    `{"resourceType":"Bundle","meta":{"lastUpdated":"${formatInstant(page.complete)}"},"type":"searchset",` +
    `${total === undefined ? '' : `"total":${total},`}"link":${JSON.stringify(links)}` +
    `${entries.length === 0 ? '' : `,"entry":[${entries.join(',')}]`}}`
  );
}

function writeMatch({ type, id }: StoredVersion, base: string, text: string): string {
  return `{"fullUrl":${JSON.stringify(`${base}/${type}/${id}`)},"resource":${text},"search":{"mode":"match"}}`;
}
