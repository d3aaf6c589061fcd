import { SILENT } from '../../../runtime/observe/log.js';
import { readConfig } from '../../../runtime/config/read-config.js';
import { startServer, type RunningServer } from '../../../runtime/start-server.js';

/** A part of a Bundle that tests look at. */
export interface Entry {
  readonly resource: { readonly resourceType: string; readonly id: string; readonly issue?: readonly Issue[] };
  readonly search: { readonly mode: string };
}

/** An issue of an OperationOutcome. */
export interface Issue {
  readonly severity: string;
  readonly code: string;
  readonly details: { readonly text: string; readonly coding: readonly [{ readonly code: string }] };
  readonly expression?: readonly string[];
}

/** What came of a request. */
export interface Answered {
  readonly status: number;
  readonly body: { readonly issue?: readonly Issue[]; readonly entry?: readonly Entry[] } & Readonly<
    Record<string, unknown>
  >;
}

/** A server of this process, as clients see it. */
export interface Client {
  readonly server: RunningServer;
  send(method: string, path: string, body?: object, token?: string): Promise<Answered>;
  /** `Type/id` of the matches and what was included, in order, and texts of warnings. */
  search(path: string, token?: string): Promise<{ readonly found: string[]; readonly warnings: string[] }>;
  /** The same of a search that warns of nothing. */
  found(path: string): Promise<string[]>;
}

const SETTINGS = { port: '0', auth: 'open', 'audit-sink': 'off', 'reindex-automatic': 'false' };

/** Starts a server on a store. It reindexes when it is asked to: by itself it would do so a second after a change, in the midst of a test. */
export async function startClient(store: string, flags: Readonly<Record<string, string>> = {}): Promise<Client> {
  const { config } = readConfig({ ...SETTINGS, store, ...flags }, {});
  const server = await startServer(config, SILENT);
  const send: Client['send'] = async (method, path, body, token) => {
    const answer = await fetch(`${server.url}${path === '' ? '' : `/${path}`}`, {
      method,
      headers: {
        'content-type': 'application/fhir+json',
        prefer: 'return=representation',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? {} : (JSON.parse(text) as Answered['body']) };
  };
  const search: Client['search'] = async (path, token) => {
    const { status, body } = await send('GET', path, undefined, token);
    if (status !== 200) throw new Error(`${path}: ${status} ${body.issue?.[0]?.details.text ?? ''}`);
    const entries = body.entry ?? [];
    const outcomes = entries.filter(({ search: { mode } }) => mode === 'outcome');
    return {
      found: entries
        .filter(({ search: { mode } }) => mode !== 'outcome')
        .map(({ resource: { resourceType, id } }) => `${resourceType}/${id}`),
      warnings: outcomes.flatMap(({ resource: { issue = [] } }) => issue.map(({ details: { text } }) => text)),
    };
  };
  return {
    server,
    send,
    search,
    async found(path) {
      const { found, warnings } = await search(path);
      if (warnings.length > 0) throw new Error(`${path}: ${warnings.join()}`);
      return found;
    },
  };
}

/** A SearchParameter that is active. */
export function parameter(code: string, more: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return {
    resourceType: 'SearchParameter',
    id: code,
    url: `http://example.org/SearchParameter/${code}`,
    name: 'Test',
    description: 'For a test.',
    status: 'active',
    code,
    base: ['Patient'],
    type: 'token',
    ...more,
    // A rule of the definitions asks for it with an expression (spd-1).
    ...(more['expression'] !== undefined && { processingMode: more['processingMode'] ?? 'normal' }),
  };
}

/** Code of the first issue, its element and its text. */
export function complaint({ status, body }: Answered): readonly [number, string, string, string] {
  const [issue] = body.issue ?? [];
  const { details, expression = [] } = issue ?? { details: { text: '', coding: [{ code: '' }] } };
  return [status, details.coding[0].code, expression.join(), details.text];
}
