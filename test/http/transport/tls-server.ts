import { spawn } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { request, type RequestOptions } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll } from 'vitest';

import { createApp, type AppOptions } from '../../../runtime/http/app.js';
import { listen, type Listening } from '../../../runtime/http/listen.js';
import { withFront } from '../../../runtime/http/transport/front.js';
import { openTls } from '../../../runtime/http/transport/tls.js';
import { toyExtract } from '../../toy/extract.js';
import { createToyStore } from '../../toy/store.js';
import { toyTables } from '../../toy/tables.js';
import type { Made } from '../../unit/http/make-certificate.js';

/** A server of https for the tests of one file. */
export interface TlsServer {
  readonly listening: Listening;
  /** What was logged. */
  readonly logged: string[];
  /** Replaces its files, as whoever renews certificates does. */
  replace(files: Partial<Made>): void;
  remove(file: keyof Made): void;
}

/** How often it looks at its files, in milliseconds. */
const INTERVAL = 20;

/** Started before the tests and stopped after them. @param root under which it is known */
export function useTlsServer(
  made: Made & { readonly ca?: string },
  root?: string,
  options: Partial<AppOptions> = {},
): TlsServer {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-tls-'));
  const logged: string[] = [];
  const log = {
    request: () => {},
    info: (text: string) => logged.push(text),
    warn: (text: string) => logged.push(`warning: ${text}`),
    defect: (_id: string, error: unknown) => logged.push(`defect: ${String(error)}`),
  };
  const replace = (files: Partial<Made & { readonly ca?: string }>): void => {
    for (const [name, text] of Object.entries(files)) {
      writeFileSync(join(folder, 'new'), text);
      renameSync(join(folder, 'new'), join(folder, `${name}.pem`));
    }
  };
  let listening: Listening;
  beforeAll(async () => {
    replace(made);
    const clientCa = made.ca === undefined ? undefined : join(folder, 'ca.pem');
    const tls = await openTls(
      { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem'), clientCa },
      log,
      INTERVAL,
    );
    const app = createApp({ tables: toyTables, store: createToyStore(), extract: toyExtract, log, ...options });
    listening = await listen(withFront(app, { root, hsts: true }), '127.0.0.1', 0, options.limits, tls);
  });
  afterAll(async () => {
    await listening.close(1000);
    rmSync(folder, { recursive: true });
  });
  return {
    get listening() {
      return listening;
    },
    logged,
    replace,
    remove: (file) => rmSync(join(folder, `${file}.pem`)),
  };
}

/** In milliseconds. */
const PROBE_TIME = 5000;

/** What a second program says of a connection. */
export interface Probe {
  /** The version and suite that were agreed on; undefined: none was. */
  readonly agreed: string | undefined;
  /** Numbers of the alerts that the server sent. */
  readonly alerts: readonly number[];
  readonly text: string;
}

/**
 * `openssl s_client`, which offers everything that it knows: at its own level it would keep back what is old, and be refused for
 * the wrong reason.
 *
 * @param input what it sends: `R` renegotiates
 */
export async function probe(port: number, options: readonly string[], input = ''): Promise<Probe> {
  const hasCipher = options.includes('-cipher');
  const all = [...options, ...(hasCipher ? [] : ['-cipher', 'ALL:COMPLEMENTOFALL@SECLEVEL=0'])];
  const child = spawn('openssl', ['s_client', '-connect', `127.0.0.1:${port}`, ...all]);
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const ended = new Promise((resolve) => child.once('close', resolve));
  if (input === '') child.stdin.end();
  else child.stdin.write(input);
  // Where the server does as it was told, nothing ends it.
  const timer = setTimeout(() => child.kill(), PROBE_TIME);
  await ended;
  clearTimeout(timer);
  const [, version, suite] = /^New, (\S+), Cipher is (?!\(NONE\))(\S+)$/m.exec(text) ?? [];
  const alerts = [...text.matchAll(/SSL alert number (\d+)/g)].map(([, number]) => Number(number));
  return { agreed: suite === undefined ? undefined : `${version} ${suite}`, alerts, text };
}

/** What a client of Node gets. */
export function get(
  port: number,
  path: string,
  options: RequestOptions = {},
): Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; cert: string; isReused: boolean }> {
  return new Promise((resolve, reject) => {
    const req = request({ host: '127.0.0.1', port, path, agent: false, ...options }, (res) => {
      res.resume();
      const cert = (res.socket as TLSSocket).getPeerX509Certificate()?.toString() ?? '';
      res.on('end', () =>
        resolve({ status: res.statusCode ?? 0, headers: res.headers, cert, isReused: req.reusedSocket }),
      );
    });
    req.on('error', reject);
    req.end();
  });
}
