import { setTimeout as wait } from 'node:timers/promises';

import { writeJson } from '../../format/write-json.js';
import { openClient, whyRefused, type ServerClient } from '../jobs/server-client.js';
import { httpSink, type HttpTarget } from './http-sink.js';
import type { LoadItem } from './items.js';
import { LoadStopped, type Outcome, type Sink } from './sink.js';

/** Size of one upload, in characters: well below the limit of bodies. */
const PART = 16 * 1024 * 1024;

const NDJSON = 'application/fhir+ndjson';

type Done = (item: LoadItem, outcome: Outcome) => void;

interface Taken {
  readonly item: LoadItem;
  readonly done: Done;
}

interface ImportResult {
  readonly output: readonly { readonly created: number; readonly updated: number; readonly unchanged: number }[];
  readonly error: readonly { readonly url: string }[];
}

/**
 * Uploads resources as NDJSON and has the server import them by `$import`: one upload is imported while the next is made. An upload
 * is deleted when it is imported. What packages have is put one by one: an import would replace what has another canonical.
 */
export function bulkSink(target: HttpTarget): Sink {
  const { url, tokens, sleep = wait } = target;
  const onePerRequest = httpSink(target);
  const client = openClient(url, tokens, new AbortController().signal);
  let lines: string[] = [];
  let taken: Taken[] = [];
  let size = 0;
  let running: Promise<void> = Promise.resolve();

  async function flush(): Promise<void> {
    if (taken.length === 0) return;
    const [text, all] = [`${lines.join('\n')}\n`, taken];
    [lines, taken, size] = [[], [], 0];
    await running;
    running = importPart(text, all, client, sleep);
    running.catch(() => {}); // thrown by the next flush, or by end
  }

  return {
    keepsOthers: true,
    async take(items, done) {
      const packaged = items.filter(({ from }) => from !== undefined);
      if (packaged.length > 0) {
        // A later resource of the same id stays.
        await flush();
        await running;
        await onePerRequest.take(packaged, done);
      }
      for (const item of items) {
        if (item.from !== undefined) continue;
        const line = writeJson(item.id === undefined ? item.resource : { ...item.resource, id: item.id });
        lines.push(line);
        taken.push({ item, done });
        size += line.length;
        if (size >= PART) await flush();
      }
    },
    execute(item, done) {
      done(item, { error: new Error('batches and transactions are not executed with --bulk') });
      return Promise.resolve();
    },
    async end() {
      await flush();
      await running;
    },
  };
}

async function importPart(text: string, all: readonly Taken[], client: ServerClient, sleep: Sleep): Promise<void> {
  const binary = await upload(text, client);
  try {
    const { output, error } = await runImport(binary, client, sleep);
    const faults = await readFaults(error, client);
    const { created = 0, updated = 0, unchanged = 0 } = output[0] ?? {};
    const outcomes = [
      ...Array<Outcome>(created).fill('created'),
      ...Array<Outcome>(updated).fill('updated'),
      ...Array<Outcome>(unchanged).fill('unchanged'),
    ];
    // Which of them was created the server does not say; how many it does.
    for (const [i, { item, done }] of all.entries()) {
      const fault = faults.get(i + 1);
      const outcome = fault === undefined ? outcomes.pop() : { error: new Error(fault) };
      done(item, outcome ?? { error: new Error('the server says nothing of it') });
    }
  } finally {
    await client.send('DELETE', `${client.base}/${binary}`);
  }
}

type Sleep = (milliseconds: number) => Promise<unknown>;

/** @returns `Binary/[id]` */
async function upload(text: string, client: ServerClient): Promise<string> {
  const headers = { 'content-type': NDJSON, prefer: 'return=minimal' };
  const answer = await client.send('POST', `${client.base}/Binary`, headers, text);
  const [binary] = /Binary\/[^/]+/.exec(answer.headers.get('location') ?? '') ?? [];
  if (answer.status === 201 && binary !== undefined) return binary;
  throw new LoadStopped(`the upload failed: ${await whyRefused(answer)}`);
}

async function runImport(binary: string, client: ServerClient, sleep: Sleep): Promise<ImportResult> {
  const body = {
    resourceType: 'Parameters',
    parameter: [{ name: 'input', part: [{ name: 'url', valueUri: binary }] }],
  };
  const headers = { 'content-type': 'application/fhir+json', prefer: 'respond-async' };
  const answer = await client.send('POST', `${client.base}/$import`, headers, JSON.stringify(body));
  const status = answer.headers.get('content-location');
  if (answer.status !== 202 || status === null)
    throw new LoadStopped(`the import did not begin: ${await whyRefused(answer)}`);
  for (;;) {
    const asked = await client.send('GET', status, { accept: 'application/json' });
    if (asked.status === 200) return (await asked.json()) as ImportResult;
    if (asked.status !== 202) throw new LoadStopped(`the import ended: ${await whyRefused(asked)}`);
    await sleep(Math.min(1000, 1000 * Number(asked.headers.get('retry-after') ?? 1)));
  }
}

/** What is wrong, by number of the line. */
async function readFaults(errors: ImportResult['error'], client: ServerClient): Promise<ReadonlyMap<number, string>> {
  const faults = new Map<number, string>();
  for (const { url } of errors) {
    const answer = await client.send('GET', url);
    if (answer.status !== 200)
      throw new LoadStopped(`the errors of the import cannot be read: ${await whyRefused(answer)}`);
    for (const line of (await answer.text()).split('\n').filter((each) => each !== '')) {
      const { issue } = JSON.parse(line) as { issue: { details: { text: string } }[] };
      const number = Number(/\(\S+, line (\d+)(?:; [^()]*)?\)$/.exec(issue[0]?.details.text ?? '')?.[1] ?? 0);
      faults.set(number, issue.map(({ details }) => details.text).join('; '));
    }
  }
  return faults;
}
