import { hash } from 'node:crypto';

import type { Call } from '../../core/call.js';
import { PAGE_PARAMETER, type PageBinding } from '../../core/search-services/page-links/page-link.js';
import { writeLink } from '../../search-execution/pages/page-walk.js';
import { FORM } from '../../search/control-parameters.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import type { RecordFilter } from './members.js';

/** Parameters of the request that began a walk through the pages. */
export interface AskedRecord extends RecordFilter {
  readonly count: number;
}

/** How far a walk is. */
export interface Position {
  /** Where the list of foci goes on, as their source says; absent: at the beginning. */
  readonly list?: string;
  /** The focus whose members are being shown; absent: the next of the list comes. */
  readonly focus?: string;
  /** Place among the members of that focus in the store's order; absent: at their beginning. */
  readonly members?: string;
  /** Digests of what came along because members refer to it, one after the other: it comes once. */
  readonly shown: string;
  /** Names of what is to come along, too, and had no room yet: pages go on with these. */
  readonly left?: readonly string[];
  /** Nothing comes after these. */
  readonly isOver?: true;
}

/** Where a page begins. */
export interface EverythingCursor {
  readonly asked: AskedRecord;
  readonly position: Position;
}

/** The walk that a page link goes on with; undefined: the call begins one. @throws FhirError `page-invalid` */
export async function openWalk(call: Call, { pages }: Services): Promise<EverythingCursor | undefined> {
  const token = call.params.get(PAGE_PARAMETER);
  if (token === null) return undefined;
  const extra = [...call.params.keys()].find((name) => name !== PAGE_PARAMETER && !FORM.has(name));
  if (extra !== undefined || call.params.getAll(PAGE_PARAMETER).length > 1 || call.body !== undefined) {
    throw new FhirError('parameter-invalid', 'A page link is complete; send it as it is, without other parameters');
  }
  const { query, after } = await pages.open(bindingOf(call), token);
  return { asked: JSON.parse(query) as AskedRecord, position: JSON.parse(after) as Position };
}

/** The link that goes on from a position. */
export async function nextLink(
  call: Call,
  { asked, position }: EverythingCursor,
  { pages }: Services,
): Promise<string> {
  const state = { query: JSON.stringify(asked), after: JSON.stringify(position) };
  const token = await pages.seal(bindingOf(call), state);
  return writeLink(call, pathOf(call), [[PAGE_PARAMETER, token]]);
}

/** The operation's own path below the base. */
export function pathOf({ type = '', id }: Call): string {
  return id === undefined ? `${type}/$everything` : `${type}/${id}/$everything`;
}

/** Letters of a digest. */
const DIGEST = 12;

/** A short name of a resource that collides with no other's. */
export function digestOf(key: string): string {
  return hash('sha256', key, 'base64url').slice(0, DIGEST);
}

/** The digests that a position names. */
export function shownBy({ shown }: Position): ReadonlySet<string> {
  const digests = new Set<string>();
  for (let at = 0; at < shown.length; at += DIGEST) digests.add(shown.slice(at, at + DIGEST));
  return digests;
}

function bindingOf({ interaction, operation = '', type = '', id }: Call): PageBinding {
  return { interaction, type, ...(id !== undefined && { id }), member: operation };
}
