import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';

import { ConfigError } from '../../config/config-error.js';
import { checkClient, DEFAULT_URL, readUrl, type LoadFlags } from '../load/load-options.js';
import { showProgress } from '../load/progress.js';
import { stopOnSignal, stoppedBy, type StopSignal } from '../stop-on-signal.js';
import { EXIT, failed, type Terminal } from '../terminal.js';
import { openClient, whyRefused, type ServerClient } from './server-client.js';

/** Options of `kiln export`. */
export interface ExportFlags extends Pick<LoadFlags, 'url' | 'token' | 'client' | 'key'> {
  readonly type?: string;
  readonly since?: string;
  readonly typeFilter?: string;
  /** `Patient`, `Patient/[id]` or `Group/[id]`; absent: everything. */
  readonly of?: string;
  /** The files stay on the server. */
  readonly keep?: boolean;
}

interface Item {
  readonly type: string;
  readonly url: string;
  readonly count?: number;
}

interface Manifest {
  readonly transactionTime: string;
  readonly output: readonly Item[];
  readonly deleted?: readonly Item[];
}

/** Pause between two questions where the server names none, and the longest one, in milliseconds. */
const PAUSE = { usual: 1000, longest: 10_000 };

/**
 * `kiln export DIR`: has a server export, waits, and downloads the files. Files that are not whole have another name. Stopped, it
 * cancels the export.
 *
 * @returns the exit code
 * @throws ConfigError
 */
export async function runExport(folder: string, options: ExportFlags, terminal: Terminal): Promise<number> {
  const url = readUrl(options.url, {}, terminal) ?? DEFAULT_URL;
  checkClient(options, url);
  if (options.of !== undefined && !/^(?:Patient|(?:Patient|Group)\/[A-Za-z0-9.-]{1,64})$/.test(options.of)) {
    throw new ConfigError('--of is Patient, Patient/[id] or Group/[id]');
  }
  await mkdir(folder, { recursive: true });
  if ((await readdir(folder)).length > 0) throw new ConfigError(`${folder} is not empty`);
  const stop = stopOnSignal();
  try {
    const { tokensFor } = await import('../load/load-tokens.js');
    const tokens = await tokensFor(url, options, options.token ?? (terminal.env['KILN_TOKEN'] || undefined));
    const client = openClient(url, tokens, stop.signal);
    const status = await start(client, options);
    try {
      const manifest = await waitFor(status, client, stop.signal, terminal);
      await download(manifest, folder, client, terminal);
      terminal.err(
        `as of ${manifest.transactionTime}; the next export can begin there: --since ${manifest.transactionTime}`,
      );
    } finally {
      if (options.keep !== true)
        await openClient(url, tokens, new AbortController().signal)
          .send('DELETE', status)
          .catch(() => {});
    }
    return EXIT.done;
  } catch (error) {
    if (stop.signal.aborted) {
      return stoppedBy(stop.signal.reason as StopSignal, 'the export is cancelled', terminal);
    }
    return failed(error, terminal);
  } finally {
    stop.forget();
  }
}

/** @returns URL of its status */
async function start(client: ServerClient, { type, since, typeFilter, of }: ExportFlags): Promise<string> {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries({ _type: type, _since: since, _typeFilter: typeFilter })) {
    if (value !== undefined) params.set(name, value);
  }
  const path = of === undefined ? '$export' : `${of}/$export`;
  const headers = { prefer: 'respond-async', accept: 'application/fhir+json' };
  const answer = await client.send('GET', `${client.base}/${path}?${params.toString()}`, headers);
  const status = answer.headers.get('content-location');
  if (answer.status === 202 && status !== null) return status;
  throw new Error(`the server did not begin an export: ${await whyRefused(answer)}`);
}

async function waitFor(
  status: string,
  client: ServerClient,
  signal: AbortSignal,
  terminal: Terminal,
): Promise<Manifest> {
  let done = 0;
  let total = 0;
  const progress = showProgress(terminal, () => ({ read: done, total, resources: done }));
  try {
    for (;;) {
      const answer = await client.send('GET', status, { accept: 'application/json' });
      if (answer.status === 200) return (await answer.json()) as Manifest;
      if (answer.status !== 202) throw new Error(`the export ended: ${await whyRefused(answer)}`);
      const [, some, all] = /, (\d+)(?: of (\d+))?/.exec(answer.headers.get('x-progress') ?? '') ?? [];
      [done, total] = [Number(some ?? done), Number(all ?? total)];
      const wanted = Number(answer.headers.get('retry-after') ?? PAUSE.usual / 1000) * 1000;
      await sleep(Math.min(PAUSE.longest, wanted), undefined, { signal });
    }
  } finally {
    progress.end();
  }
}

async function download(manifest: Manifest, folder: string, client: ServerClient, terminal: Terminal): Promise<void> {
  const items = [
    ...manifest.output.map((item) => ({ ...item, prefix: item.type })),
    ...(manifest.deleted ?? []).map((item) => ({ ...item, prefix: 'deleted' })),
  ];
  const total = items.reduce((sum, { count = 0 }) => sum + count, 0);
  const numbers = new Map<string, number>();
  let lines = 0;
  const progress = showProgress(terminal, () => ({ read: lines, total, resources: lines }));
  try {
    for (const { prefix, url, count } of items) {
      const number = (numbers.get(prefix) ?? 0) + 1;
      numbers.set(prefix, number);
      const file = join(folder, `${prefix}.${number}.ndjson`);
      const got = await downloadOne(url, file, client, (some) => (lines += some));
      if (count !== undefined && got !== count) throw new Error(`${file} has ${got} lines of ${count}`);
    }
  } finally {
    progress.end();
  }
  terminal.out(`${lines} resources in ${items.length} files in ${folder}`);
}

const NEWLINE = 10;

/** @returns the number of its lines */
async function downloadOne(
  url: string,
  file: string,
  client: ServerClient,
  onLines: (count: number) => void,
): Promise<number> {
  const answer = await client.send('GET', url, { accept: 'application/fhir+ndjson' });
  if (answer.status !== 200 || answer.body === null) throw new Error(`${url}: ${await whyRefused(answer)}`);
  let lines = 0;
  const count = new Transform({
    transform(chunk: Buffer, _encoding, callback) {
      let some = 0;
      for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) some++;
      lines += some;
      onLines(some);
      callback(null, chunk);
    },
  });
  const part = `${file}.part`;
  await pipeline(
    Readable.fromWeb(answer.body as Parameters<typeof Readable.fromWeb>[0]),
    count,
    createWriteStream(part, { mode: 0o600 }),
  );
  await rename(part, file);
  return lines;
}
