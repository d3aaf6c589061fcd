import type { KilnOptions } from '../../../runtime/http/kiln.js';
import type { Store } from '../../../runtime/store/store.js';
import type { Answer, ToyServer } from '../server.js';
import { EVERYTHING, serveWith, type GuardedServer } from './support.js';

/** A server that asks for tokens, and the same for who may do everything, who arranges what there is. */
export function scopedServer(
  store: Store,
  options: Partial<KilnOptions> = {},
): GuardedServer & { readonly all: ToyServer } {
  const server = serveWith(store, options);
  const all: ToyServer = Object.assign(Object.create(server) as ToyServer, server.as(EVERYTHING));
  return Object.assign(server, { all });
}

/** The scopes that a refusal names; undefined: it is none for want of scopes. */
export function neededBy(answer: Answer): string | undefined {
  if (answer.status !== 403) return undefined;
  return /scope="([^"]*)"/.exec(String(answer.headers['www-authenticate']))?.[1];
}
