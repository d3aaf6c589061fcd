import { tables } from '../../generated/tables.js';
import { parseElements, selectElements } from '../../runtime/format/summary-elements.js';
import { summarize } from '../../runtime/format/summary.js';
import type { KilnOptions } from '../../runtime/http/kiln.js';
import { createExtractor } from '../../runtime/search/extract.js';
import { toyTables } from '../toy/tables.js';
import { useToyServer, type Answer, type ToyServer } from './server.js';

/** A toy server that knows the search parameters of the specification. */
export function useSearchServer(options: Partial<KilnOptions> = {}): ToyServer {
  return useToyServer({
    tables: { ...toyTables, search: tables.search },
    extract: createExtractor(tables),
    subset: (resource, { summary, elements = [] }) =>
      summary === undefined
        ? selectElements(resource, parseElements(elements.join(','), [resource.resourceType], tables), tables)
        : summarize(resource, summary, tables),
    ...options,
  });
}

export const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' };

interface Entry {
  readonly fullUrl?: string;
  readonly resource: { readonly id: string; readonly resourceType: string };
  readonly search: { readonly mode: string };
}

/** Ids of the matches, in their order. */
export function idsOf(answer: Answer): string[] {
  const entries: Entry[] = answer.json().entry ?? [];
  return entries.filter(({ search }) => search.mode === 'match').map(({ resource }) => resource.id);
}

/** What the answer tells beside the matches: our codes and words. */
export function notesOf(answer: Answer): { readonly code: string; readonly text: string; readonly severity: string }[] {
  const entries: { search: { mode: string }; resource: any }[] = answer.json().entry ?? []; // eslint-disable-line @typescript-eslint/no-explicit-any
  return entries
    .filter(({ search }) => search.mode === 'outcome')
    .flatMap(({ resource }) => resource.issue)
    .map(({ severity, details }) => ({ severity, code: details.coding[0].code, text: details.text }));
}

/** The query and path of a link below `/fhir`; undefined: there is none. */
export function linkOf(answer: Answer, relation: string): string | undefined {
  const links: { relation: string; url: string }[] = answer.json().link;
  return links.find((link) => link.relation === relation)?.url.replace(/^.*?\/fhir(?=\/)/, '');
}
