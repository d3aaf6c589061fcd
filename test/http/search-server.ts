import { setTimeout as sleep } from 'node:timers/promises';

import { OWN } from '../toy/own.js';
import { tables } from '../../generated/tables.js';
import { parseElements, selectElements } from '../../runtime/format/summary-elements.js';
import { summarize } from '../../runtime/format/summary.js';
import type { KilnOptions } from '../../runtime/http/kiln.js';
import { createExtractor } from '../../runtime/indexing/extract.js';
import { toyTables } from '../toy/tables.js';
import { useToyServer, type Answer, type ToyServer } from './server.js';

/** A toy server that knows the search parameters of the specification. */
export function useSearchServer(options: Partial<KilnOptions> = {}): ToyServer {
  return useToyServer({
    tables: { ...toyTables, search: tables.search },
    extract: createExtractor(tables, { own: OWN }),
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

/** The search with its exact total. Without that a busy machine may have no time to count: a cheap total of several types takes 20 ms at most. */
export function withTotal(path: string): string {
  return `${path}${path.includes('?') ? '&' : '?'}_total=accurate`;
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

/** `Type/id` of what came with the matches, in code-point order. */
export function includedIn(answer: Answer): string[] {
  const entries: Entry[] = answer.json().entry ?? [];
  const included = entries.filter(({ search }) => search.mode === 'include');
  return included.map(({ resource }) => `${resource.resourceType}/${resource.id}`).sort();
}

/** A server that knows all types, their parameters and compartments. */
export function useWholeServer(options: Partial<KilnOptions> = {}): ToyServer {
  return useSearchServer({ tables, ...options });
}

export interface Sendable {
  readonly resourceType: string;
  readonly id: string;
  readonly [element: string]: unknown;
}

/** Writes resources one after the other, each at an instant of its own. */
export async function putAll(server: ToyServer, resources: readonly Sendable[]): Promise<void> {
  for (const resource of resources) {
    const answer = await server.send('PUT', `/${resource.resourceType}/${resource.id}`, resource);
    if (answer.status >= 300) throw new Error(answer.text);
    await sleep(2);
  }
}

/** Writes many resources in few requests. */
export async function putMany(server: ToyServer, resources: readonly Sendable[]): Promise<void> {
  for (let at = 0; at < resources.length; at += 500) {
    const entry = resources.slice(at, at + 500).map((resource) => ({
      resource,
      request: { method: 'PUT', url: `${resource.resourceType}/${resource.id}` },
    }));
    const answer = await server.send('POST', '', { resourceType: 'Bundle', type: 'transaction', entry });
    if (answer.status !== 200) throw new Error(answer.text.slice(0, 1000));
  }
}

/** The words of an answer that refuses, behind its status and code. */
export function refusalOf(answer: Answer): string {
  const { status } = answer;
  const { resourceType, issue } = answer.json();
  if (resourceType !== 'OperationOutcome') return `${status} ${resourceType}`;
  return `${status} ${issue[0].details.coding[0].code} ${issue[0].details.text}`;
}

/** The query and path of a link below `/fhir`, with a slash before; undefined: there is none. */
export function linkOf(answer: Answer, relation: string): string | undefined {
  const links: { relation: string; url: string }[] = answer.json().link;
  return links.find((link) => link.relation === relation)?.url.replace(/^.*?\/fhir(?:\/|(?=\?)|$)/, '/');
}
