import type { IncomingMessage, ServerResponse } from 'node:http';

import type { ExchangeTable } from '../../contract/index.js';
import type { Principal } from '../../auth/scopes/principal.js';
import type { Trace } from '../../core/call.js';
import type { Release } from '../../format/negotiate.js';
import type { LargeBodies } from '../../core/write/large-bodies.js';
import type { Destination } from '../router.js';

/** A request on its way to become a call. */
export interface Incoming {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly destination: Destination;
  readonly principal: Principal;
  readonly trace: Trace;
  readonly params: URLSearchParams;
  readonly base: string;
  /** Of a Binary the content is wanted. */
  readonly wantsContent: boolean;
  /** Of FHIR, that is served: `5.0`. */
  readonly release: Release;
  /** What the bodies of operations are. */
  readonly exchanges: ExchangeTable;
  /** Media types of the patches that are taken. */
  readonly patchTypes: () => readonly string[];
  /** Where large bodies are read; absent: where all are. */
  readonly large?: LargeBodies | undefined;
  /** Has something done when the request has been answered, or has failed. */
  readonly whenDone: (action: () => void) => void;
}
