import type { StoredVersion } from '../store/store.js';
import type { Call } from './call.js';

/** What a hook learns of a read beside the version. */
export interface ReadContext {
  readonly interaction: 'read' | 'vread';
  /** The client that reads; absent: there is no authorization. */
  readonly clientId?: string;
  readonly requestId?: string;
}

/**
 * Hooks of the application around the server that learn of reads by id.
 *
 * @param version what the client gets, which is no deletion
 */
export type AfterRead = (version: StoredVersion, context: ReadContext) => void;

/** Has the hooks learn of a version that a client gets, where it asked for this one: operations read by id as well. */
export function noteRead(
  version: StoredVersion,
  { interaction, principal: { clientId }, trace }: Call,
  { afterRead }: { readonly afterRead: AfterRead | undefined },
): void {
  if (afterRead === undefined || (interaction !== 'read' && interaction !== 'vread')) return;
  afterRead(version, {
    interaction,
    ...(clientId !== '' && { clientId }),
    ...(trace !== undefined && { requestId: trace.requestId }),
  });
}
