import type { Access } from '../auth/scopes/access.js';
import type { Reach } from '../auth/scopes/reach.js';
import type { Call } from '../core/call.js';
import type { Services } from '../core/services.js';
import { liveVersion, type LiveVersion } from '../core/write/preconditions.js';
import type { WriteView } from '../core/write/write-plan.js';
import { isShown } from '../core/access/visibility.js';
import type { OwnBases } from '../path/own-bases.js';
import type { ResourceKey } from '../store/store.js';

/** Whether a reference is a URL of another server, which is believed. One below a base of this server that names no resource leads nowhere. */
export function isElsewhere(reference: string, own: OwnBases): boolean {
  return /^https?:\/\//i.test(reference) && own.below(reference) === undefined;
}

/** Whether a reference is a search for a resource of a type, which a transaction resolves. */
export function isConditional(reference: string, type: string, own: OwnBases): boolean {
  return (own.below(reference) ?? reference).startsWith(`${type}?`);
}

/** A reference in the one form that all of the same resource have. */
export function nameOf(reference: string, own: OwnBases): string {
  const local = own.readLocal(reference);
  return local === undefined ? reference : `${local.type}/${local.id}`;
}

/**
 * A resource that a publication refers to; undefined: it is not there. To ask is the server's act, so that no scope is needed. What a token with
 * scopes on the type does not show is unknown to it; where none of them shows anything, what lies outside of all of them.
 */
export async function findKnown(
  { type, id }: ResourceKey,
  view: WriteView,
  call: Call,
  services: Services,
): Promise<LiveVersion | undefined> {
  const live = liveVersion(await view.read(type, id));
  if (live === undefined) return undefined;
  const letters = knownBy(call.principal.access, type);
  if (letters.length === 0) return live;
  return (await isShown(live, call, services, letters)) ? live : undefined;
}

/** Returns where resources of a type lie that `findKnown` knows. */
export function knownReach(access: Access, type: string): Reach {
  const letters = knownBy(access, type);
  return letters.length === 0 ? 'everything' : access.onAny(type, letters);
}

/** The letters of which one has to show a resource; none: all are known. */
function knownBy(access: Access, type: string): readonly string[] {
  const given = (letters: string): string[] => [...letters].filter((letter) => access.on(type, letter) !== 'nothing');
  const showing = given('rs');
  return showing.length > 0 ? showing : given('cud');
}
