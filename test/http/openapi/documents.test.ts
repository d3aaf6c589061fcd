import { once } from 'node:events';
import { get as request, type IncomingMessage } from 'node:http';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { createApp } from '../../../runtime/http/app.js';
import { listen } from '../../../runtime/http/listen.js';
import { isWired } from '../../../runtime/interactions/registry.js';
import { OPERATIONS, SWITCHES, WEBSOCKET } from '../../../runtime/operations/registry.js';
import { SILENT } from '../../../runtime/observe/log.js';
import { openStore } from '../../contract/open-store.js';
import { extract } from '../../bench/data/load-clinic.js';

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { operationId: string; security?: object[] }>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, object>>>>;
}

describe('OpenAPI documents', () => {
  let url = '';
  let close = (): Promise<void> => Promise.resolve();
  const get = async (name: string): Promise<Document> => {
    const answer = await fetch(`${url}/openapi/${name}.json`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    return (await answer.json()) as Document;
  };
  const documents = new Map<string, Document>();

  beforeAll(async () => {
    const store = await openStore('sqlite::memory:');
    const server = await listen(createApp({ tables, store, extract }), '127.0.0.1', 0);
    url = server.url;
    close = async () => {
      await server.close(0);
      await store.close();
    };
    for (const name of ['system', 'datatypes', ...tables.resourceTypes]) documents.set(name, await get(name));
  });
  afterAll(() => close());

  it('are listed in an index', async () => {
    const index = (await (await fetch(`${url}/openapi/index.json`)).json()) as { documents: { url: string }[] };
    expect(index.documents).toHaveLength(161);
    for (const each of ['nonsense.json', 'Nope.json', '../x.json', 'constructor.json', '']) {
      expect((await fetch(`${url}/openapi/${each}`)).status).toBe(404);
    }
  });

  it('have exactly the routes that the router has', () => {
    const documented = [...documents.values()].flatMap(({ paths }) =>
      Object.entries(paths).flatMap(([path, item]) =>
        Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
      ),
    );
    const off: ReadonlySet<string | undefined> = new Set(['admin.expunge', 'publish.types']);
    const isOff = (id: string): boolean => off.has(SWITCHES.get(id)) || WEBSOCKET.has(id);
    const wired = tables.routes.filter((row) => isWired(row, OPERATIONS) && !isOff(row.operation ?? row.interaction));
    const routed = wired.flatMap(({ method, path }) => {
      const written = path.replace('[id]', '{id}').replace('[vid]', '{vid}');
      if (!path.startsWith('[type]')) return [`${method} /${written}`];
      return tables.resourceTypes.map((type) => `${method} /${written.replace('[type]', type)}`);
    });
    expect(new Set(documented)).toEqual(new Set(routed));
    expect(documented).toHaveLength(routed.length);
  });

  it('say that a server without authorization needs no token', async () => {
    for (const document of [...documents.values(), await get('all')]) expect(document).toHaveProperty('security', []);
  });

  it('give each operation an id of its own', () => {
    const ids = [...documents.values()].flatMap(({ paths }) =>
      Object.values(paths).flatMap((item) => Object.values(item).map(({ operationId }) => operationId)),
    );
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('refer only to what is there', () => {
    for (const [name, document] of documents) {
      for (const ref of refsOf(document)) {
        const [file = '', fragment = ''] = ref.split('#/components/');
        const [kind = '', key = ''] = fragment.split('/');
        const target = file === '' ? document : documents.get(file.replace('.json', ''));
        expect(target?.components[kind]?.[key], `${name}: ${ref}`).toBeDefined();
      }
    }
  });

  it('describe every element of a type, and nothing else', () => {
    const patient = documents.get('Patient')?.components['schemas']?.['Patient'] as {
      properties: Record<string, object>;
      required: string[];
    };
    expect(Object.keys(patient.properties)).toEqual(
      expect.arrayContaining(['resourceType', 'id', 'name', 'birthDate', '_birthDate', 'deceasedBoolean', 'contained']),
    );
    expect(patient.properties).not.toHaveProperty('deceased');
    expect(patient.required).toEqual(['resourceType']);
    expect(patient.properties['birthDate']).toMatchObject({ type: 'string', pattern: expect.any(String) as string });
  });

  it('are all in one, which refers to itself alone', async () => {
    const whole = await get('all');
    expect(refsOf(whole).filter((ref) => !ref.startsWith('#/'))).toEqual([]);
    const count = [...documents.values()].reduce((sum, { paths }) => sum + Object.keys(paths).length, 0);
    expect(Object.keys(whole.paths)).toHaveLength(count);
  });
});

function refsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(refsOf);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) => (name === '$ref' ? [String(each)] : refsOf(each)));
}

it('a client that left while it was sent an OpenAPI document was logged as a defect', async () => {
  const defects: unknown[] = [];
  const store = await openStore('sqlite::memory:');
  const log = { ...SILENT, defect: (_id: string, error: unknown) => defects.push(error) };
  const server = await listen(createApp({ tables, store, extract, log }), '127.0.0.1', 0);
  const req = request(`${server.url}/openapi/all.json`);
  const [answer] = (await once(req, 'response')) as [IncomingMessage];
  await once(answer, 'data');
  req.destroy();
  await server.close(0);
  await store.close();
  expect(defects).toEqual([]);
});
