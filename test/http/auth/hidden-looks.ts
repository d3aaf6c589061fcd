import { beforeAll, describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import type { Resource } from '../../../runtime/fhir/resource.js';
import { createExtractor } from '../../../runtime/search/extract.js';
import type { Store } from '../../../runtime/store/store.js';
import { EVERYTHING, LAB, observed, serveWith } from './support.js';

const extract = createExtractor(tables);
/** Stands in what is hidden, and nowhere else. */
const SECRET = 'what nobody may see';
const HIDDEN = observed('vital-signs', { note: [{ text: SECRET }] });

interface Form {
  readonly name: string;
  readonly method: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

const JSON_PATCH = { 'content-type': 'application/json-patch+json' };
const READ: Form = { name: 'GET', method: 'GET' };

/** Requests that are answered alike for what is hidden and for what never was. */
const FORMS: readonly Form[] = [
  READ,
  { name: 'PUT of a version', method: 'PUT', body: observed('laboratory'), headers: { 'if-match': 'W/"1"' } },
  { name: 'PUT of what lies outside', method: 'PUT', body: observed('vital-signs'), headers: { 'if-match': '*' } },
  { name: 'PATCH', method: 'PATCH', body: [{ op: 'remove', path: '/note' }], headers: JSON_PATCH },
  { name: 'PATCH of a version', method: 'PATCH', body: [], headers: { ...JSON_PATCH, 'if-match': 'W/"1"' } },
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
    currency: { notCurrent: () => Promise.resolve(notCurrent) },
  });
  const client = server.as(`system/Observation.cruds?${LAB}`);

  const ask = async (id: string, { method, body, headers }: Form) => {
    looks = [];
    const sent = body === undefined || Array.isArray(body) ? body : { ...body, id };
    const { status } = await client.send(method, `/Observation/${id}`, sent, headers);
    return { status, looks: looks.sort() };
  };

  beforeAll(async () => {
    const all = server.as(EVERYTHING);
    await all.send('PUT', '/Observation/looks-seen', { ...observed('laboratory'), id: 'looks-seen' });
    await all.send('PUT', '/Observation/looks-hidden', { ...HIDDEN, id: 'looks-hidden' });
    await all.send('PUT', '/Observation/looks-gone', { ...observed('laboratory'), id: 'looks-gone' });
    await all.send('DELETE', '/Observation/looks-gone');
  });

  it.each(FORMS)('$name looks at what is hidden no more than at what never was', async (form) => {
    const hidden = await ask('looks-hidden', form);
    expect(hidden.status).toBe(form.name === 'PUT of what lies outside' ? 403 : 404);
    expect(hidden.looks).not.toEqual([]);
    expect(hidden.looks.filter((look) => look.includes('hidden'))).toEqual([]);
    expect(hidden).toEqual(await ask('looks-never', form));
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

  describe('where the index was made by other definitions', () => {
    it.each(FORMS)('$name looks at the content', async (form) => {
      notCurrent = ['Observation.category'];
      const hidden = await ask('looks-hidden', form);
      expect(hidden.status).toBe(form.name === 'PUT of what lies outside' ? 403 : 404);
      expect(hidden.looks).toContain('extract: hidden content');
      expect((await ask('looks-seen', READ)).status).toBe(200);
      notCurrent = [];
    });
  });
}
