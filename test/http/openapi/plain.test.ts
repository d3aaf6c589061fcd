import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { createApp } from '../../../runtime/http/app.js';
import { listen } from '../../../runtime/http/listen.js';
import { extract } from '../../bench/data/load-clinic.js';
import { openStore } from '../../contract/open-store.js';

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: unknown;
}
interface Operation {
  readonly operationId: string;
  readonly parameters: readonly { readonly $ref?: string; readonly name?: string }[];
  readonly requestBody?: { readonly content: object };
  readonly responses: Readonly<Record<string, { readonly content?: object }>>;
}
interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly parameters: Readonly<Record<string, { readonly name: string }>>;
  };
}

/** `all` has every type and every path; the others have to be whole by themselves. */
const NAMES = ['all', 'Patient', 'Observation', 'DocumentReference', 'Binary', 'system', 'datatypes'];

/** What generators make of a name: `Patient.contact`, `patient-contact` and `_patientContact` are one. */
const made = (name: string): string => name.replace(/[^A-Za-z0-9]/g, '').toLowerCase();

function visit(value: unknown, at: (name: string, value: unknown) => void): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, each] of Object.entries(value)) {
    at(name, each);
    visit(each, at);
  }
}

function repeated(names: readonly string[]): string[] {
  const seen = new Set<string>();
  return names.filter((name) => seen.size === seen.add(made(name)).size);
}

describe('OpenAPI documents for generators of clients: ?primitives=plain', () => {
  let url = '';
  let close = (): Promise<void> => Promise.resolve();
  const documents = new Map<string, Document>();
  const fetchJson = async (file: string): Promise<Document> => (await fetch(`${url}/openapi/${file}`)).json() as Promise<Document>; // prettier-ignore

  beforeAll(async () => {
    const store = await openStore('sqlite::memory:');
    const server = await listen(createApp({ tables, store, extract }), '127.0.0.1', 0);
    url = server.url;
    close = async () => {
      await server.close(0);
      await store.close();
    };
    for (const name of NAMES) documents.set(name, await fetchJson(`${name}.json?primitives=plain`));
  });
  afterAll(() => close());

  it.each(NAMES)('%s refers to itself alone, and only to what is there', (name) => {
    const document = documents.get(name)!;
    const missing: string[] = [];
    let count = 0;
    visit(document, (key, value) => {
      if (key !== '$ref') return;
      count++;
      const [, , kind = '', target = ''] = String(value).split('/');
      const found = (document.components as unknown as Record<string, Record<string, unknown>>)[kind]?.[target];
      if (!String(value).startsWith('#/components/') || found === undefined) missing.push(String(value));
    });
    expect(missing).toEqual([]);
    expect(count).toBeGreaterThan(10);
  });

  it.each(NAMES)('%s is of OpenAPI 3.0, and has nothing that generators make the same name of', (name) => {
    const { openapi, paths, components } = documents.get(name)!;
    expect(openapi).toBe('3.0.3');
    expect(repeated(Object.keys(components.schemas))).toEqual([]);
    for (const [type, { properties = {} }] of Object.entries(components.schemas)) {
      expect([type, repeated(Object.keys(properties))]).toEqual([type, []]);
      expect([type, Object.keys(properties).filter((each) => each.startsWith('_'))]).toEqual([type, []]);
    }
    const operations = Object.values(paths).flatMap((item) => Object.values(item));
    expect(repeated(operations.map(({ operationId }) => operationId))).toEqual([]);
    for (const { operationId, parameters } of operations) {
      const names = parameters.map((each) => (each.$ref === undefined ? each.name! : components.parameters[each.$ref.split('/').at(-1)!]!.name)); // prettier-ignore
      expect([operationId, repeated(names)]).toEqual([operationId, []]);
    }
  });

  it('has one schema for each value, and one media type for each body', () => {
    const all = documents.get('all')!;
    const unlike: string[] = [];
    visit(all, (key, value) => {
      if (['anyOf', 'oneOf', 'allOf', 'const', 'pattern'].includes(key) && typeof value !== 'object') unlike.push(key);
      if (['anyOf', 'oneOf', 'allOf'].includes(key) && Array.isArray(value)) unlike.push(key);
      if (key === 'type' && value === 'null') unlike.push('null');
    });
    // Ids in paths keep their pattern.
    expect([...new Set(unlike)]).toEqual(['pattern']);
    for (const { operationId, requestBody, responses } of Object.values(all.paths).flatMap((item) =>
      Object.values(item),
    )) {
      // prettier-ignore
      for (const { content } of [requestBody, ...Object.values(responses)].filter((each) => each !== undefined)) {
        if (content === undefined) continue;
        const types = Object.keys(content);
        expect([operationId, types.some((type) => type.endsWith('xml'))]).toEqual([operationId, false]);
        if (types.includes('application/fhir+json')) expect([operationId, types]).toEqual([operationId, ['application/fhir+json']]); // prettier-ignore
      }
    }
  });

  it('describes what the full document does, but for the siblings of primitives, which are kept as they come', async () => {
    const full = await fetchJson('all.json');
    const { components } = documents.get('all')!;
    expect(Object.keys(components.schemas)).toEqual(Object.keys(full.components.schemas));
    for (const [type, { properties, additionalProperties }] of Object.entries(components.schemas)) {
      if (type === 'AnyResource') continue;
      const names = Object.keys(full.components.schemas[type]?.properties ?? {}).filter(
        (each) => !each.startsWith('_'),
      );
      expect([type, Object.keys(properties ?? {})]).toEqual([type, names]);
      expect([type, additionalProperties]).toEqual([type, true]);
    }
    const isForm = (path: string): boolean => path.endsWith('/_search');
    expect(Object.keys(documents.get('all')!.paths)).toEqual(Object.keys(full.paths).filter((path) => !isForm(path)));
  });

  it('is named in the index, and no other form is there', async () => {
    const { plain } = (await fetchJson('index.json')) as unknown as { plain: string };
    expect((await fetch(`${url}/openapi/${plain}`)).status).toBe(200);
    for (const form of ['nonsense', '', 'constructor']) {
      const answer = await fetch(`${url}/openapi/Patient.json?primitives=${form}`);
      expect([answer.status, await answer.text()]).toEqual([
        404,
        expect.stringContaining('primitives is full or plain'),
      ]);
    }
    const none = await fetch(`${url}/openapi/Patent.json`);
    expect([none.status, await none.text()]).toEqual([404, expect.stringContaining('/openapi/index.json lists them')]);
    const same = await fetch(`${url}/openapi/Patient.json?primitives=full`);
    expect(await same.text()).toBe(await (await fetch(`${url}/openapi/Patient.json`)).text());
  });
});
