import type { Config } from '../../config/settings.js';

/** Message to a worker: first the configuration to serve with, at the end the signal to stop by. */
export type ToWorker =
  { readonly kind: 'serve'; readonly config: Config } | { readonly kind: 'stop'; readonly signal: string };

/**
 * Message from a worker. The first says that it listens to its parent; messages to it before that are lost. The second says
 * where it serves.
 */
export type FromWorker = { readonly kind: 'listens' } | { readonly kind: 'serves'; readonly url: string };
