import type { Config } from '../../config/settings.js';

/** What a worker receives: first what to serve, in the end by what signal to stop. */
export type ToWorker =
  { readonly kind: 'serve'; readonly config: Config } | { readonly kind: 'stop'; readonly signal: string };

/** What a worker tells: that it listens to its parent (what comes before is lost), and then where it serves. */
export type FromWorker = { readonly kind: 'listens' } | { readonly kind: 'serves'; readonly url: string };
