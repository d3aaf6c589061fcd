import { setTimeout as sleep } from 'node:timers/promises';

import { createClient, type Answer, type Send } from './http-client.js';
import { faultsOf, type Acknowledged, type Shown } from './ledger.js';

/** Every request has to be answered within this time, milliseconds. */
export const ANSWER_MS = 15_000;

const SHARED = 40;
const PAGE = 1000;
/** The part of the writes that are read again. */
const READ_AGAIN = 0.3;
let loads = 0;

/** The server that a client writes to: its FHIR base, which changes when another process takes its place. */
export interface Target {
  base: string;
}

/** Clients that write, and remember what they were told. */
export interface WriteLoad {
  readonly acknowledged: readonly Acknowledged[];
  /** How often each status was answered; 0: no answer, the connection was cut. */
  readonly statuses: ReadonlyMap<number, number>;
  /** Answers that none may get, in sentences. */
  readonly wrong: readonly string[];
  /** Longest time to an answer, milliseconds. */
  readonly slowest: number;
  /** Resolves when any client had a write acknowledged that it began after now: milliseconds that this took. */
  served(): Promise<number>;
  /** The same of every client, of which some may first have to wait for an answer that says nothing. */
  resumed(): Promise<number>;
  /** Lets the clients finish their last request. */
  stop(): Promise<void>;
  /**
   * Reads the whole history, and writes once more to everything that was touched.
   *
   * @returns what is wrong with it, in sentences
   */
  audit(target: Target): Promise<string[]>;
}

/** Starts clients that write in turn to each of the targets: half of it to resources that all of them write to. */
export function startWriteLoad(targets: readonly Target[], clients: number): WriteLoad {
  // Past the bound, so that a late answer is told from none.
  const send = createClient(clients, 2 * ANSWER_MS);
  const name = `load${loads++}`;
  const acknowledged: Acknowledged[] = [];
  const statuses = new Map<number, number>();
  const wrong: string[] = [];
  const latest = new Array<number>(clients).fill(0);
  let slowest = 0;
  let isOver = false;

  async function attempt(client: number, target: Target, token: string, random: () => number): Promise<void> {
    const { method, path, body } = chooseWrite(token, random);
    const begun = performance.now();
    const answer = await send(target.base, method, path, body).catch((error: Error) => error);
    const took = performance.now() - begun;
    slowest = Math.max(slowest, took);
    const status = answer instanceof Error ? 0 : answer.status;
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    if (took > ANSWER_MS) wrong.push(`${method} ${path} took ${Math.round(took)} ms: ${status}`);
    if (answer instanceof Error) return void (await sleep(50));
    if (status === 503) {
      if (answer.headers['retry-after'] === undefined) wrong.push(`503 without Retry-After: ${answer.text}`);
      return void (await sleep(100));
    }
    if (![200, 201, 204].includes(status)) return void wrong.push(`${method} ${path}: ${status} ${answer.text}`);
    latest[client] = begun;
    const version = versionIn(answer, path);
    // Where there was nothing to delete no version is named.
    if (version !== undefined) acknowledged.push({ version, ...(body === undefined ? {} : { token }) });
    else if (body !== undefined) wrong.push(`${method} ${path}: ${status} names no version`);
    if (version !== undefined && random() < READ_AGAIN) await readAgain(target, version);
  }

  /** Who was told that a write was done finds it, or a later one, at once. */
  async function readAgain({ base }: Target, acknowledgedVersion: string): Promise<void> {
    const [type, id, version] = acknowledgedVersion.split('/');
    const answer = await send(base, 'GET', `/${type}/${id}`).catch(() => undefined);
    // Gone names no version; it may be a later one.
    if (answer === undefined || answer.status === 503 || answer.status === 410) return;
    const seen = Number(/\d+/.exec(answer.headers.etag ?? '')?.[0] ?? 0);
    if (seen >= Number(version)) return;
    wrong.push(`after ${acknowledgedVersion} was acknowledged a read shows version ${seen} (${answer.status})`);
  }

  const running = Array.from({ length: clients }, async (_, client) => {
    const target = targets[client % targets.length]!;
    const random = createRandom(client + 1);
    for (let i = 0; !isOver; i++) await attempt(client, target, `${name}-${client}-${i}`, random);
  });

  return {
    acknowledged,
    statuses,
    wrong,
    get slowest() {
      return slowest;
    },
    async served() {
      const start = performance.now();
      while (latest.every((begun) => begun < start)) await sleep(10);
      return performance.now() - start;
    },
    async resumed() {
      const start = performance.now();
      while (latest.some((begun) => begun < start)) await sleep(10);
      return performance.now() - start;
    },
    async stop() {
      isOver = true;
      await Promise.all(running);
    },
    async audit({ base }) {
      const faults = faultsOf(acknowledged, await wholeHistory(send, base));
      for (let n = 0; n < SHARED; n++) {
        const answer = await send(base, 'PUT', `/Patient/s${n}`, patient(`s${n}`, `${name}-after-${n}`));
        if (![200, 201].includes(answer.status)) faults.push(`Patient/s${n} takes no write: ${answer.text}`);
      }
      send.close();
      return faults;
    },
  };
}

function chooseWrite(token: string, random: () => number): { method: string; path: string; body?: object } {
  const id = `s${Math.floor(random() * SHARED)}`;
  const kind = random();
  if (kind < 0.4) return { method: 'POST', path: '/Observation', body: observation(token) };
  if (kind < 0.9) return { method: 'PUT', path: `/Patient/${id}`, body: patient(id, token) };
  return { method: 'DELETE', path: `/Patient/${id}` };
}

function patient(id: string, token: string): object {
  return { resourceType: 'Patient', id, identifier: [{ system: 'urn:token', value: token }] };
}

function observation(token: string): object {
  return {
    resourceType: 'Observation',
    status: 'final',
    code: { text: 'x' },
    identifier: [{ system: 'urn:token', value: token }],
  };
}

/** `Type/id/version` of a write's answer. */
function versionIn({ headers }: Answer, path: string): string | undefined {
  const location = /([A-Z]\w+\/[^/]+)\/_history\/(\d+)$/.exec(headers.location ?? '');
  if (location !== null) return `${location[1]}/${location[2]}`;
  const tag = /^W\/"(\d+)"$/.exec(headers.etag ?? '');
  return tag === null ? undefined : `${path.slice(1)}/${tag[1]}`;
}

interface HistoryEntry {
  readonly fullUrl: string;
  readonly resource?: { readonly identifier?: readonly { readonly value: string }[] };
  readonly response: { readonly etag: string; readonly lastModified: string };
}

/** One page of a history. */
export interface HistoryBundle {
  readonly meta: { readonly lastUpdated: string };
  readonly link: readonly { readonly relation: string; readonly url: string }[];
  readonly entry?: readonly HistoryEntry[];
}

/** Every version of every resource. */
export async function wholeHistory(send: Send, base: string): Promise<Shown[]> {
  const shown: Shown[] = [];
  for await (const bundle of historyPages(send, base, `/_history?_count=${PAGE}`)) shown.push(...shownIn(bundle));
  return shown;
}

/** A history, page by page. */
export async function* historyPages(send: Send, base: string, path: string): AsyncGenerator<HistoryBundle> {
  for (let url: string | undefined = `${base}${path}`; url !== undefined;) {
    const { status, text } = await send(url, 'GET', '');
    if (status !== 200) throw new Error(`GET ${url}: ${status} ${text}`);
    const bundle = JSON.parse(text) as HistoryBundle;
    yield bundle;
    url = bundle.link.find(({ relation }) => relation === 'next')?.url;
  }
}

/** The versions of a page. */
export function shownIn({ entry = [] }: HistoryBundle): Shown[] {
  return entry.map(({ fullUrl, resource, response }) => {
    const [type = '', id = ''] = fullUrl.split('/').slice(-2);
    const token = resource?.identifier?.[0]?.value;
    const version = Number(/\d+/.exec(response.etag)?.[0]);
    return { type, id, version, lastUpdated: response.lastModified, ...(token === undefined ? {} : { token }) };
  });
}

/** Numbers from 0 to 1 (not included), the same ones for the same seed. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
