import { beforeAll, describe, expect, it } from 'vitest';

import { OWN } from '../../toy/own.js';
import { tables } from '../../../generated/tables.js';
import type { Resource } from '../../../runtime/fhir/resource.js';
import { createExtractor } from '../../../runtime/indexing/extract.js';
import type { Store } from '../../../runtime/store/store.js';
import { EVERYTHING, LAB, observed, serveWith } from './support.js';

const extract = createExtractor(tables, { own: OWN });
/** Stands in what is hidden, and nowhere else. */
const SECRET = 'what nobody may see';
const HIDDEN = observed('vital-signs', { note: [{ text: SECRET }] });

interface Form {
  readonly name: string;
  readonly method: string;
  /** Behind the id. */
  readonly path?: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

const JSON_PATCH = { 'content-type': 'application/json-patch+json' };
const READ: Form = { name: 'GET', method: 'GET' };
const NO_VERSION: Form = { name: 'GET of a version that is not there', method: 'GET', path: '/_history/2' };
const VERSIONS: readonly Form[] = [
  { name: 'GET of a version', method: 'GET', path: '/_history/1' },
  { name: 'GET of the history', method: 'GET', path: '/_history' },
  { name: 'GET of how long the history is', method: 'GET', path: '/_history?_summary=count' },
];

/** Requests that are answered alike for what is hidden and for what never was. */
const FORMS: readonly Form[] = [
  READ,
  ...VERSIONS,
  NO_VERSION,
  { name: 'PUT of a version', method: 'PUT', body: observed('laboratory'), headers: { 'if-match': 'W/"1"' } },
  { name: 'PUT of what lies outside', method: 'PUT', body: observed('vital-signs'), headers: { 'if-match': '*' } },
  { name: 'PATCH', method: 'PATCH', body: [{ op: 'remove', path: '/note' }], headers: JSON_PATCH },
  { name: 'PATCH of a version', method: 'PATCH', body: [], headers: { ...JSON_PATCH, 'if-match': 'W/"1"' } },
  { name: 'DELETE', method: 'DELETE' },
];

/** The same of Binaries, whose `securityContext` decides. */
const BINARY_FORMS: readonly Form[] = [
  READ,
  { name: 'GET as a resource', method: 'GET', headers: { accept: 'application/fhir+json' } },
  ...VERSIONS,
  { name: 'PUT of a version', method: 'PUT', body: { resourceType: 'Binary', contentType: 'text/plain' }, headers: { 'if-match': 'W/"1"' } }, // prettier-ignore
  { name: 'PATCH', method: 'PATCH', body: [{ op: 'remove', path: '/data' }], headers: JSON_PATCH },
  { name: 'DELETE', method: 'DELETE' },
];

/** What a constraint hides is denied by the index: the more of it is looked at, the longer that would take. */
export function hiddenLooks(store: Store): void {
  let notCurrent: readonly string[] = [];
  /** Calls of the store, extractions, and whether what is hidden was among what came of them. */
  let looks: string[] = [];
  const told = (name: string, result: unknown): void => {
    looks.push(JSON.stringify(result ?? null).includes(SECRET) ? `${name}: hidden content` : name);
  };
  const watched = new Proxy(store, {
    get(target, name: keyof Store) {
      const own = target[name] as unknown;
      if (typeof own !== 'function') return own;
      return (...args: unknown[]): unknown => {
        const result = own.apply(target, args) as unknown;
        if (!(result instanceof Promise)) return result;
        return result.then((value: unknown) => {
          told(name, value);
          return value;
        });
      };
    },
  });
  const server = serveWith(watched, {
    extract: (resource: Resource) => {
      told('extract', resource);
      return extract(resource);
    },
    indexStatus: { notCurrent: () => Promise.resolve(notCurrent) },
  });
  const client = server.as(`system/Observation.cruds?${LAB} system/Binary.cruds`);

  const ask = async (id: string, { method, path = '', body, headers }: Form, type = 'Observation') => {
    looks = [];
    const sent = body === undefined || Array.isArray(body) ? body : { ...body, id };
    const { status } = await client.send(method, `/${type}/${id}${path}`, sent, headers);
    return { status, looks: looks.sort() };
  };
  /** A Binary of so many versions. */
  const putBinary = async (id: string, context: string, versions = 1) => {
    for (let n = 1; n <= versions; n++) {
      const content = { resourceType: 'Binary', id, meta: { tag: [{ code: `${n}` }] }, contentType: 'text/plain', data: 'YQ==' }; // prettier-ignore
      const sent = { ...content, securityContext: { reference: context } };
      expect((await server.as(EVERYTHING).send('PUT', `/Binary/${id}`, sent)).status).toBeLessThan(300);
    }
  };

  beforeAll(async () => {
    const all = server.as(EVERYTHING);
    await all.send('PUT', '/Observation/looks-seen', { ...observed('laboratory'), id: 'looks-seen' });
    await all.send('PUT', '/Observation/looks-hidden', { ...HIDDEN, id: 'looks-hidden' });
    await all.send('PUT', '/Observation/looks-gone', { ...observed('laboratory'), id: 'looks-gone' });
    for (const name of ['seen', 'hidden', 'gone']) {
      const context = `Observation/looks-${name}`;
      await putBinary(`looks-of-${name}`, context);
      await putBinary(`looks-twice-${name}`, context, 2);
      await putBinary(`looks-through-${name}`, `Binary/looks-of-${name}`, 2);
    }
    await all.send('DELETE', '/Observation/looks-gone');
  });

  it.each(FORMS)('$name looks at what is hidden no more than at what never was', async (form) => {
    const hidden = await ask('looks-hidden', form);
    expect(hidden.status).toBe(form.name === 'PUT of what lies outside' ? 403 : 404);
    expect(hidden.looks).not.toEqual([]);
    expect(hidden.looks.filter((look) => look.includes('hidden'))).toEqual([]);
    expect(hidden).toEqual(await ask('looks-never', form));
  });

  describe('of Binaries', () => {
    it.each(BINARY_FORMS)('$name looks at a context that is hidden no more than at one that is gone', async (form) => {
      for (const id of ['looks-of', 'looks-twice', 'looks-through']) {
        const hidden = await ask(`${id}-hidden`, form, 'Binary');
        expect(hidden.status, id).toBe(404);
        expect(hidden.looks, id).not.toEqual([]);
        expect(hidden.looks.filter((look) => look.includes('hidden'))).toEqual([]);
        expect(hidden).toEqual(await ask(`${id}-gone`, form, 'Binary'));
      }
    });

    it('those that are seen are found as ever', async () => {
      for (const id of ['looks-of', 'looks-twice', 'looks-through']) {
        for (const form of [READ, ...VERSIONS]) {
          expect((await ask(`${id}-seen`, form, 'Binary')).status, `${id} ${form.name}`).toBe(200);
        }
      }
    });
  });

  it.each(['/looks-hidden', '?identifier=nothing'])(
    'a PUT to %s that would create it otherwise neither',
    async (to) => {
      looks = [];
      const sent = { ...observed('laboratory'), id: 'looks-hidden' };
      expect((await client.send('PUT', `/Observation${to}`, sent)).status).toBe(404);
      expect(looks.filter((look) => look.includes('hidden'))).toEqual([]);
    },
  );

  it('what is seen, and what was deleted, is found as ever', async () => {
    expect((await ask('looks-seen', READ)).status).toBe(200);
    expect((await ask('looks-gone', READ)).status).toBe(410);
    const patch = { name: 'PATCH', method: 'PATCH', body: [], headers: JSON_PATCH };
    expect((await ask('looks-seen', patch)).status).toBe(200);
  });

  it('is denied by the index too where that of contained resources alone was made by others', async () => {
    notCurrent = ['_contained'];
    for (const form of FORMS) {
      const hidden = await ask('looks-hidden', form);
      expect(hidden.looks.filter((look) => look.includes('hidden'))).toEqual([]);
      expect(hidden, form.name).toEqual(await ask('looks-never', form));
    }
    for (const form of BINARY_FORMS) {
      expect(await ask('looks-of-hidden', form, 'Binary'), form.name).toEqual(
        await ask('looks-of-gone', form, 'Binary'),
      );
    }
    notCurrent = [];
  });

  describe('where the index was made by other definitions', () => {
    it.each(FORMS.filter((form) => form !== NO_VERSION))('$name looks at the content', async (form) => {
      notCurrent = ['Observation.category'];
      const hidden = await ask('looks-hidden', form);
      expect(hidden.status).toBe(form.name === 'PUT of what lies outside' ? 403 : 404);
      expect(hidden.looks).toContain('extract: hidden content');
      expect((await ask('looks-seen', READ)).status).toBe(200);
      notCurrent = [];
    });

    it.each(['looks-of', 'looks-twice', 'looks-through'])('the context of %s decides by its content', async (id) => {
      notCurrent = ['Observation.category'];
      for (const form of [READ, ...VERSIONS]) {
        const hidden = await ask(`${id}-hidden`, form, 'Binary');
        expect(hidden.status, form.name).toBe(404);
        expect(hidden.looks).toContain('extract: hidden content');
        expect((await ask(`${id}-gone`, form, 'Binary')).status, form.name).toBe(404);
        expect((await ask(`${id}-seen`, form, 'Binary')).status, form.name).toBe(200);
      }
      notCurrent = [];
    });
  });
}
