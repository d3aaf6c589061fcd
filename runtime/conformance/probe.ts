import { randomBytes } from 'node:crypto';

import { printable } from '../cli/terminal.js';
import type { ServerClient } from '../cli/jobs/server-client.js';

/** A JSON object that is made and changed. */
export type MutableJson = Record<string, unknown>;

/** An answer, read whole. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Absent: the body is no JSON object. */
  readonly body?: MutableJson;
  /** The status, and what the OperationOutcome says, in one line. */
  readonly summary: string;
}

/** A resource that a check has created. */
export interface Created {
  readonly type: string;
  readonly id: string;
  readonly version: string;
  readonly body: MutableJson;
}

/** Something asked of the server does not work; the message says what came instead. */
export class Unmet extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'Unmet';
  }
}

/** Error of a check whose data the server refuses to store, so that the check cannot decide whether the requirement is met. */
export class NotTaken extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'NotTaken';
  }
}

/** A running server that is asked, and what was created there. */
export interface Probe {
  /** Returns a word that no resource of the server has. */
  word(): string;
  ask(method: string, path: string, options?: AskOptions): Promise<Answer>;
  /** Creates a resource, to be removed at the end. @throws NotTaken where the server finds fault with it, Unmet where it refuses it otherwise */
  create(resource: MutableJson, headers?: Readonly<Record<string, string>>): Promise<Created>;
  /** Remembers what the server made otherwise, to be removed at the end. */
  keep(type: string, id: string): void;
  /** Removes everything that was created, the latest first. @returns names of what could not be removed */
  removeAll(): Promise<readonly string[]>;
}

/** Headers and body of a request. */
export interface AskOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

const FHIR_JSON = 'application/fhir+json';

/** Returns a probe of a server. @param cleaner the same server, to remove what was created */
export function createProbe(client: ServerClient, cleaner: ServerClient): Probe {
  const run = `kiln-${randomBytes(5).toString('hex')}`;
  const created: string[] = [];
  let words = 0;

  async function ask(method: string, path: string, { headers = {}, body }: AskOptions = {}): Promise<Answer> {
    const own = { accept: FHIR_JSON, ...(body !== undefined && { 'content-type': FHIR_JSON }), ...headers };
    const text = body === undefined ? undefined : JSON.stringify(body);
    const url = path === '' ? client.base : `${client.base}/${path}`;
    return readAnswer(await client.send(method, url, own, text));
  }

  return {
    word: () => `${run}-${++words}`,
    ask,
    async create(resource, headers = {}) {
      const type = String(resource['resourceType']);
      const prefer = { prefer: 'return=representation', ...headers };
      const answer = await ask('POST', type, { headers: prefer, body: resource });
      const id = idOf(answer);
      if (answer.status === 400 || answer.status === 422) {
        throw new NotTaken(`the ${type} that was made for it is refused: ${answer.summary}`);
      }
      if (answer.status !== 201 || id === undefined) throw new Unmet(`POST ${type} is answered ${answer.summary}`);
      created.push(`${type}/${id}`);
      const version = /\/_history\/([^/]+)$/.exec(answer.headers.get('location') ?? '')?.[1];
      return { type, id, version: version ?? '1', body: answer.body ?? { ...resource, id } };
    },
    keep: (type, id) => void created.push(`${type}/${id}`),
    async removeAll() {
      const left: string[] = [];
      for (const path of created.splice(0).reverse()) {
        const { status } = await cleaner.send('DELETE', `${cleaner.base}/${path}`, { accept: FHIR_JSON });
        if (status >= 400 && status !== 404 && status !== 410) left.push(path);
      }
      return left;
    },
  };
}

/** The id that the server gave to what it created. */
function idOf({ headers, body }: Answer): string | undefined {
  const located = /\/([A-Za-z0-9.-]{1,64})(?:\/_history\/[^/]+)?$/.exec(headers.get('location') ?? '')?.[1];
  return located ?? (typeof body?.['id'] === 'string' ? body['id'] : undefined);
}

async function readAnswer(response: Response): Promise<Answer> {
  const { status, headers } = response;
  const text = await response.text();
  const body = parse(text);
  const issues = Array.isArray(body?.['issue']) ? (body['issue'] as MutableJson[]) : [];
  const texts = issues.flatMap(({ details, diagnostics }) => {
    const said = (details as MutableJson | undefined)?.['text'] ?? diagnostics;
    return typeof said === 'string' ? [said] : [];
  });
  const summary = printable([String(status), ...texts.slice(0, 2)].join(': ')).slice(0, 300);
  return { status, headers, ...(body !== undefined && { body }), summary };
}

function parse(text: string): MutableJson | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as MutableJson) : undefined;
  } catch {
    return undefined;
  }
}
