import type { RequestListener } from 'node:http';

import { isLoopback } from '../open-mode.js';
import { createStripPath } from './base-path.js';

/** Options of the front, which every request passes first. */
export interface FrontOptions {
  /** Root under which clients know the server, without a trailing slash; absent: whatever they call it. */
  readonly root?: string | undefined;
  /** Whether answers over https are to tell browsers to come by https only. */
  readonly hsts: boolean;
}

/** For a year, and for hosts below this one. RFC 6797; RFC 9325, 3.4 */
const HSTS = 'max-age=31536000; includeSubDomains';

/**
 * A listener behind the front: requests lose the path of the base URL, and answers over https have HSTS, unless the host is
 * loopback: that would close plain http there to everything else on the machine.
 */
export function withFront(listener: RequestListener, { root, hsts }: FrontOptions): RequestListener {
  const strip = createStripPath(root);
  const isStrict = hsts && root !== undefined && !isLoopback(new URL(root).hostname);
  if (strip === undefined && !isStrict) return listener;
  return (req, res) => {
    if (isStrict && 'encrypted' in req.socket) res.setHeader('Strict-Transport-Security', HSTS);
    strip?.(req);
    listener(req, res);
  };
}
