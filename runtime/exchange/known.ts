import type { Call } from '../core/call.js';
import type { Services } from '../core/services.js';
import { liveVersion, type LiveVersion } from '../core/write/preconditions.js';
import type { WriteView } from '../core/write/write-plan.js';
import { isVisible } from '../core/access/visibility.js';
import type { OwnBases } from '../path/own-bases.js';

/** A resource of this server, as a reference names it. */
export interface LocalName {
  readonly type: string;
  readonly id: string;
}

const LOCAL = /^([A-Z][A-Za-z]*)\/([A-Za-z0-9\-.]{1,64})(?:\/_history\/[A-Za-z0-9\-.]{1,64})?$/;

/** What a literal reference names on this server; undefined: it leads elsewhere. */
export function localName(reference: string, own: OwnBases): LocalName | undefined {
  const [, type, id] = LOCAL.exec(own.below(reference) ?? reference) ?? [];
  return type === undefined || id === undefined ? undefined : { type, id };
}

/** A reference in the one form that all of the same resource have. */
export function nameOf(reference: string, own: OwnBases): string {
  const local = localName(reference, own);
  return local === undefined ? reference : `${local.type}/${local.id}`;
}

/**
 * A resource that a publication refers to; undefined: it is not there. To ask is the server's act, so that no scope is needed; what a token with
 * scopes on the type does not show is unknown to it.
 */
export async function findKnown(
  { type, id }: LocalName,
  view: WriteView,
  call: Call,
  services: Services,
): Promise<LiveVersion | undefined> {
  const live = liveVersion(await view.read(type, id));
  if (live === undefined) return undefined;
  const letters = ['r', 's'].filter((letter) => call.principal.access.on(type, letter) !== 'nothing');
  if (letters.length === 0) return live;
  for (const letter of letters) if (await isVisible(live, letter, call, services)) return live;
  return undefined;
}
