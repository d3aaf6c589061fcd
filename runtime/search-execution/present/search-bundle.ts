import { formatInstant } from '../../fhir/instant.js';
import { issuesOutcome, type OutcomeIssue } from '../../fhir/outcome-issue.js';
import type { FindPage, StoredVersion } from '../../store/store.js';
import type { RenderedVersion } from '../contained/contained-search.js';
import { type Reply, replyBundle } from '../../core/call.js';

/** The content of a Bundle of type `searchset`. */
export interface SearchBundle {
  readonly page: Pick<FindPage, 'complete'> & { readonly versions: readonly RenderedVersion[] };
  /** Number of matches on all pages; absent: it is unknown. */
  readonly total?: number;
  /** Absolute URL of the FHIR base. */
  readonly base: string;
  /** URL of this page. */
  readonly self: string;
  /** URL of the next page. */
  readonly next?: string;
  /** The JSON text of each match, cut down to its view. */
  readonly texts: readonly (string | undefined)[];
  /** The score of each match, from 0 to 1; absent: matches have none. */
  readonly scores?: readonly number[];
  /** The included resources, and the JSON text of each. */
  readonly included: readonly StoredVersion[];
  readonly includedTexts: readonly (string | undefined)[];
  /** Warnings: each is an issue of the Bundle's OperationOutcome. */
  readonly notes: readonly OutcomeIssue[];
}

/**
 * The answer that is a Bundle of type `searchset`. It has the text of each resource as the store has it, so that every number keeps
 * its precision. https://hl7.org/fhir/R5/bundle.html#searchset
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

/** The `meta` of a Bundle and a comma. @param complete milliseconds since the epoch; 0: the store is empty, and there is no `meta` */
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
  const start = `{"fullUrl":${JSON.stringify(`${base}/`).slice(0, -1)}`;
  const entries: string[] = [];
  for (const [i, { type, id, path }] of versions.entries()) {
    const text = texts[i];
    if (text === undefined) continue;
    const score = scores?.[i] === undefined ? '' : `,"score":${scores[i]}`;
    // Nothing in a type or an id is escaped.
    const rest = path === undefined ? `${type}/${id}` : JSON.stringify(path).slice(1, -1);
    entries.push(`${start}${rest}","resource":${text},"search":{"mode":"${mode}"${score}}}`);
  }
  return entries;
}
