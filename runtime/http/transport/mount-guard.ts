import type { IncomingMessage } from 'node:http';

import { FhirError } from '../../fhir/errors.js';
import { isLoopback } from '../open-mode.js';
import type { Proxies } from './client-address.js';

/** Facts about Kiln mounted in another application that are known before any request. */
export interface MountSettings {
  /** The path that it is to be mounted on. */
  readonly path: string;
  /** Whether the settings say by which URL clients reach it. */
  readonly isNamed: boolean;
  readonly proxies: Pick<Proxies, 'isPeer'>;
}

/** Parts of a request that the guard reads. */
export type MountRequest = Pick<IncomingMessage, 'headers' | 'socket'> & { readonly baseUrl?: string };

/**
 * The guard in front of Kiln in another application, whose sockets it does not know: tokens and data go over TLS, of the
 * application or of a proxy that is known by its address, or stay on this machine.
 *
 * @returns why a request is not served; undefined: it is
 */
export function createMountGuard({
  path,
  isNamed,
  proxies,
}: MountSettings): (req: MountRequest) => FhirError | undefined {
  return (req) => {
    const { baseUrl: mounted = '', headers, socket } = req;
    // Express takes paths in capitals too.
    if (mounted.toLowerCase() !== path.toLowerCase()) {
      const text = `Kiln is mounted on ${JSON.stringify(mounted)}, and its option path says ${JSON.stringify(path)}`;
      return new FhirError('mount-path', text);
    }
    const isLocal = isLoopback(socket.remoteAddress ?? '');
    if (!isNamed) return isLocal && !isForwarded(headers) ? undefined : new FhirError('mount-local');
    const isSecure = 'encrypted' in socket || isLocal || proxies.isPeer(req);
    return isSecure ? undefined : new FhirError('mount-insecure');
  };
}

function isForwarded(headers: MountRequest['headers']): boolean {
  return Object.keys(headers).some((name) => name === 'forwarded' || name.startsWith('x-forwarded-'));
}
