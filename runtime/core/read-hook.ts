import type { StoredVersion } from '../store/store.js';
import type { Call } from './call.js';

/** Context of a read that a hook receives beside the version. */
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

/** Calls the hooks with a version that a read or vread answers with. Operations that read by id do not call them. */
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
