import type { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { RequestListener, Server as HttpServer, ServerOptions } from 'node:http';
import { createServer } from 'node:https';

import type { Log } from '../../observe/log.js';
import { repeat } from '../../observe/repeat.js';
import { checkMaterial, type TlsMaterial } from './certificate.js';
import { watchHandshakes } from './handshakes.js';
import { TLS_OPTIONS } from './tls-options.js';

/** Paths of the files of TLS, in PEM. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
  /** Authorities of clients; absent: clients need no certificate. */
  readonly clientCa?: string | undefined;
}

/** A server of https that is being made. */
export interface SecureServer {
  readonly server: HttpServer;
  /** Looks at the files no more, and ends connections that never came to speak TLS. */
  stop(): void;
}

/** TLS that is ready to be spoken. */
export interface Tls {
  /** The server's own certificate at the start. */
  readonly certificate: X509Certificate;
  createServer(options: ServerOptions, listener: RequestListener): SecureServer;
}

/** How often the files are looked at, in milliseconds: contents, because links and mounts hide changes. */
const LOOK_INTERVAL = 10_000;

/**
 * Reads and checks the files of TLS. Servers made of it look at them from time to time: new connections get the new certificate,
 * those that are there go on; files that are not good are logged, and those before them stay.
 *
 * @throws Error in one line, where they cannot be read or are not good enough
 */
export async function openTls(files: TlsFiles, log: Log, interval = LOOK_INTERVAL): Promise<Tls> {
  const first = await read(files);
  return {
    certificate: check(first, files),
    createServer(options, listener) {
      const mutual = first.ca === undefined ? {} : { requestCert: true, rejectUnauthorized: true };
      const handshakeTimeout = options.headersTimeout ?? 0;
      const server = createServer({ ...options, ...TLS_OPTIONS, ...first, ...mutual, handshakeTimeout }, listener);
      const endHandshakes = watchHandshakes(server);
      let seen = first;
      let last = '';
      const look = async (): Promise<void> => {
        const found = await read(files);
        last = '';
        if (isSame(found, seen)) return;
        seen = found;
        const certificate = check(found, files);
        server.setSecureContext({ ...TLS_OPTIONS, ...found });
        log.info(`new connections get the certificate that is valid until ${certificate.validTo}`);
      };
      const stopLooking = repeat(look, { first: interval, pause: interval }, (error) => {
        // What stays broken is reported once.
        const fault = error instanceof Error ? error.message : String(error);
        if (fault !== last) log.warn(`${fault}; what was there before stays in use`);
        last = fault;
      });
      return {
        server,
        stop() {
          stopLooking();
          endHandshakes();
        },
      };
    },
  };
}

async function read({ cert, key, clientCa }: TlsFiles): Promise<TlsMaterial> {
  const text = async (file: string): Promise<string> => {
    try {
      return await readFile(file, 'utf8');
    } catch (error) {
      const { code = String(error) } = error as NodeJS.ErrnoException;
      throw new Error(`TLS: ${file} cannot be read (${code})`, { cause: error });
    }
  };
  const ca = clientCa === undefined ? {} : { ca: await text(clientCa) };
  return { cert: await text(cert), key: await text(key), ...ca };
}

function check(material: TlsMaterial, files: TlsFiles): X509Certificate {
  try {
    return checkMaterial(material);
  } catch (error) {
    const fault = error instanceof Error ? error.message : String(error);
    throw new Error(`TLS with ${files.cert} and ${files.key}: ${fault}`, { cause: error });
  }
}

function isSame(a: TlsMaterial, b: TlsMaterial): boolean {
  return a.cert === b.cert && a.key === b.key && a.ca === b.ca;
}
