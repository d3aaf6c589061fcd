import { expect } from 'vitest';

import { exchangeOf, type ExchangeRow, type Method } from '../../../runtime/contract/index.js';
import { tables } from '../../../generated/tables.js';
import type { Answer, ToyServer } from '../server.js';

interface Content {
  readonly content?: Readonly<Record<string, unknown>>;
}

interface Described {
  readonly operationId: string;
  readonly parameters: readonly { readonly name?: string; readonly in?: string; readonly required?: true }[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content & { readonly description?: string; readonly headers?: object }>>;
}

/** A document of the interface. */
export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
}

/** Headers that rows can name; those that go with every answer are none of them. */
const HEADERS = Object.keys(tables.exchanges.headers);

/** What came of all requests. */
export class Documented {
  /** `GET /Patient/{id}` of what succeeded. */
  readonly seats = new Set<string>();
  /** What rows promise, and was seen: row, status, and a header or a media type. */
  readonly seen = new Set<string>();

  constructor(
    private readonly document: Document,
    private readonly send: ToyServer['send'],
  ) {}

  /** Sends a request and compares it, and what it is answered with, with the document. */
  async call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const answer = await this.send(method, path, body, headers);
    const [place = '', query = ''] = path.split('?');
    const { template, described } = this.find(method, place);
    const what = `${method} ${path}: ${answer.status} ${answer.text.slice(0, 300)}`;
    this.checkRequest(described, body, headers, query, what);
    const { status } = answer;
    const response = described.responses[String(status)] ?? described.responses[`${String(status)[0]}XX`];
    expect(response, `${what} is not documented: ${Object.keys(described.responses).join()}`).toBeDefined();
    if (status >= 400) return answer;
    const type = answer.headers['content-type']?.split(';')[0];
    const types = Object.keys(response?.content ?? {});
    if (answer.text === '') {
      const mayLack = types.length === 0 || /without a body/.test(response?.description ?? '');
      expect(mayLack, `${what} has no body; documented are ${types.join()}`).toBe(true);
    } else expect(types.includes('*/*') ? '*/*' : types, what).toContain(types.includes('*/*') ? '*/*' : type);
    const shown = HEADERS.filter((name) => answer.headers[name.toLowerCase()] !== undefined);
    const documented = Object.keys(response?.headers ?? {});
    expect(
      shown.filter((name) => !documented.includes(name)),
      `headers of ${what}`,
    ).toEqual([]);
    this.seats.add(`${method} ${template}`);
    const row = rowOf(method, template);
    for (const each of [type, ...shown]) this.seen.add(promise(row, status, each));
    this.seen.add(promise(row, status));
    return answer;
  }

  /** What rows promise, and no answer showed. */
  unseen(): string[] {
    return tables.exchanges.rows.flatMap((row) =>
      row.answers
        .flatMap(({ status, headers = [], body = [] }) => [
          promise(row, status),
          ...[...headers, ...body.filter((each) => /^[a-z]+\//.test(each))].map((each) => promise(row, status, each)),
        ])
        .filter((each) => !this.seen.has(each)),
    );
  }

  private find(method: string, place: string): { template: string; described: Described } {
    const parts = place.replace(/\/$/, '').split('/');
    const fits = (template: string): boolean => {
      const wanted = template.replace(/\/$/, '').split('/');
      return wanted.length === parts.length && wanted.every((part, at) => part.startsWith('{') || part === parts[at]);
    };
    const [template = ''] = Object.keys(this.document.paths)
      .filter(fits)
      .sort((a, b) => a.split('{').length - b.split('{').length);
    const described = this.document.paths[template]?.[method.toLowerCase()];
    if (described === undefined) throw new Error(`${method} ${place} is not documented`);
    return { template, described };
  }

  private checkRequest(
    { parameters, requestBody }: Described,
    body: unknown,
    headers: Record<string, string>,
    query: string,
    what: string,
  ): void {
    const named = parameters.filter((each) => each.in === 'header').map(({ name = '' }) => name.toLowerCase());
    const sent = Object.keys(headers).filter((name) => !['accept', 'content-type'].includes(name));
    expect(
      sent.filter((name) => !named.includes(name)),
      `headers of the request of ${what}`,
    ).toEqual([]);
    for (const { name = '', required } of parameters.filter((each) => each.in === 'header')) {
      if (required === true) expect(sent, what).toContain(name.toLowerCase());
    }
    if (requestBody === undefined) expect(query === '' || body === undefined, what).toBe(true);
    if (body === undefined) return;
    const types = Object.keys(requestBody?.content ?? {});
    const type = headers['content-type'] ?? 'application/fhir+json';
    expect(types.includes('*/*') ? '*/*' : types, `the body of ${what}`).toContain(
      types.includes('*/*') ? '*/*' : type,
    );
  }
}

function rowOf(method: string, template: string): ExchangeRow {
  const path = template.slice(1).replace('{id}', '[id]').replace('{vid}', '[vid]');
  const [first = ''] = path.split('/');
  const type = /^[A-Z]/.test(first) ? first : undefined;
  const route = tables.routes.find(
    (each) => each.method === method && (each.path === path || each.path === path.replace(/^[A-Z]\w*/, '[type]')),
  );
  const row = route && exchangeOf(tables.exchanges, { ...route, method: method as Method }, type);
  if (row === undefined) throw new Error(`${method} ${template} has no row`);
  return row;
}

function promise({ interactions, operations, types, methods }: ExchangeRow, status: number, what = ''): string {
  const names = (interactions ?? operations ?? []).join(' ');
  return [names, types?.join() ?? '', methods?.join() ?? '', status, what].join(' | ');
}
