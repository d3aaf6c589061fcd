import { isAssignedId } from '../../fhir/id.js';
import { writeMeta } from '../../search-execution/present/search-bundle.js';
import { formatInstant } from '../../fhir/instant.js';
import type { StoredVersion } from '../../store/store.js';
import type { VisiblePage } from './history-visibility.js';

/** Content of the Bundle of a history page. */
export interface HistoryBundle {
  readonly page: VisiblePage;
  /** Absolute URL of the FHIR base. */
  readonly base: string;
  /** URL of this page. */
  readonly self: string;
  /** URL of the next page. */
  readonly next?: string;
  /** Leaves the entries out. */
  readonly isTotalOnly: boolean;
  /** The JSON text of each version as returned to the client; undefined for deletions. */
  readonly texts: readonly (string | undefined)[];
}

/**
 * JSON text of a Bundle of type `history`. Resources are inserted as stored text, so that every number keeps its form.
 * https://hl7.org/fhir/R5/http.html#history
 */
export function writeHistoryBundle({ page, base, self, next, isTotalOnly, texts }: HistoryBundle): string {
  const links = [{ relation: 'self', url: self }, ...(next === undefined ? [] : [{ relation: 'next', url: next }])];
  const head =
    `{"resourceType":"Bundle",${writeMeta(page.complete)}"type":"history",` +
    `${page.total === undefined ? '' : `"total":${page.total},`}"link":${JSON.stringify(links)}`;
  if (isTotalOnly || page.versions.length === 0) return `${head}}`;
  return `${head},"entry":[${page.versions.map((version, i) => writeEntry(version, base, texts[i])).join(',')}]}`;
}

function writeEntry(stored: StoredVersion, base: string, text: string | undefined): string {
  const { type, id, version, lastUpdated, json } = stored;
  const url = `${type}/${id}`;
  const fullUrl = JSON.stringify(`${base}/${url}`);
  const request = JSON.stringify(requestOf(stored));
  const status = json !== undefined && version === 1 ? '201 Created' : '200 OK';
  const response = `{"status":"${status}","etag":"W/\\"${version}\\"","lastModified":"${formatInstant(lastUpdated)}"}`;
  const resource = text === undefined ? '' : `"resource":${text},`;
  return `{"fullUrl":${fullUrl},${resource}"request":${request},"response":${response}}`;
}

/** The request that wrote a version. A first version with an id as the server assigns it was written by a POST. */
function requestOf({ type, id, version, json }: StoredVersion): { readonly method: string; readonly url: string } {
  if (json === undefined) return { method: 'DELETE', url: `${type}/${id}` };
  return version === 1 && isAssignedId(id) ? { method: 'POST', url: type } : { method: 'PUT', url: `${type}/${id}` };
}
