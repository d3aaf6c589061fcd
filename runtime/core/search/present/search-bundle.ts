import { formatInstant } from '../../../fhir/instant.js';
import { issuesOutcome, type OutcomeIssue } from '../../../fhir/outcome-issue.js';
import type { FindPage, StoredVersion } from '../../../store/store.js';
import type { RenderedVersion } from '../contained/contained-search.js';
import { type Reply, replyBundle } from '../../call.js';

/** What stands in the Bundle of a page of matches. */
export interface SearchBundle {
  readonly page: Pick<FindPage, 'complete'> & { readonly versions: readonly RenderedVersion[] };
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
  /** How well each match answers, from 0 to 1; absent: that is not told. */
  readonly scores?: readonly number[];
  /** What comes with the matches, and the JSON text of each as it is to be shown. */
  readonly included: readonly StoredVersion[];
  readonly includedTexts: readonly (string | undefined)[];
  /** What the client should know. */
  readonly notes: readonly OutcomeIssue[];
}

/**
 * The answer that is a Bundle of type `searchset`. Resources are put in as the text that the store has, so that every number
 * keeps its form. https://hl7.org/fhir/R5/bundle.html#searchset
 */
export function replySearchBundle(bundle: SearchBundle): Reply {
  const { page, total, base, self, next, texts, scores, included, includedTexts, notes } = bundle;
  const links = [{ relation: 'self', url: self }, ...(next === undefined ? [] : [{ relation: 'next', url: next }])];
  const entries = [
    ...writeEntries(page.versions, texts, 'match', base, scores),
    ...writeEntries(included, includedTexts, 'include', base),
  ];
  if (notes.length > 0) {
    entries.push(`{"resource":${JSON.stringify(issuesOutcome(notes))},"search":{"mode":"outcome"}}`);
  }
  const head =
    `{"resourceType":"Bundle",${writeMeta(page.complete)}"type":"searchset",` +
    `${total === undefined ? '' : `"total":${total},`}"link":${JSON.stringify(links)}`;
  if (entries.length === 0) return { status: 200, json: `${head}}` };
  return replyBundle({ head: `${head},"entry":[`, entries, tail: ']}' });
}

/** The `meta` of a Bundle with a comma behind it. A store that nothing was ever written to knows no instant; there is none. */
export function writeMeta(complete: number): string {
  return complete <= 0 ? '' : `"meta":{"lastUpdated":"${formatInstant(complete)}"},`;
}

/** https://hl7.org/fhir/R5/valueset-search-entry-mode.html */
function writeEntries(
  versions: readonly RenderedVersion[],
  texts: readonly (string | undefined)[],
  mode: 'match' | 'include',
  base: string,
  scores?: readonly number[],
): string[] {
  return versions.flatMap(({ type, id, path = `${type}/${id}` }, i) => {
    const text = texts[i];
    if (text === undefined) return [];
    const score = scores?.[i] === undefined ? '' : `,"score":${scores[i]}`;
    return [`{"fullUrl":${JSON.stringify(`${base}/${path}`)},"resource":${text},"search":{"mode":"${mode}"${score}}}`];
  });
}
