import { beforeAll, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { fold } from '../../../runtime/indexing/values/fold.js';
import type { Store } from '../../../runtime/store/store.js';
import { FORM_TYPE, idsOf, useSearchServer } from '../search-server.js';

/** What means something elsewhere: in SQL, in MongoDB, in regular expressions, in URLs, in paths, in JSON. */
export const HOSTILE = [
  `'`,
  `''`,
  `"`,
  '`',
  `' OR '1'='1`,
  `'; DROP TABLE resource; --`,
  `") OR 1=1 --`,
  '$where',
  '$ne',
  '{"$gt":""}',
  '{"$regex":".*"}',
  '$expr$function',
  'a$b$c$d',
  '.*',
  '(a+)+$',
  '(?=',
  '[',
  '[^]*\\',
  '^.{1000}',
  '%',
  '_%_',
  '*',
  '?',
  '\\',
  '\\\\',
  '\\,',
  '|',
  '||',
  '|||',
  'a|b|c|d',
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\udfff\ud800',
  '\ufeff',
  '\u202e',
  '\uffff',
  '\u{10ffff}',
  'ﬁ',
  '´',
  '..',
  '../../etc/passwd',
  '/',
  '#',
  '__proto__',
  'constructor',
  'toString',
  'NaN',
  'Infinity',
  '-0',
  '1e999',
  '-1e-999',
  '9'.repeat(300),
  `0.${'0'.repeat(300)}1`,
  '0x10',
  'ap0',
  'ne',
  'gtgt1',
  '0000-00-00',
  '9999-12-31T23:59:60Z',
  '2020-02-30',
  '2020-01-01T00:00:00.123456789123456789+14:00',
  '-2020',
  '1|http://unitsofmeasure.org|mg',
  '1|http://unitsofmeasure.org|mg/{{{',
  '1|http://unitsofmeasure.org|((((((((m))))))))',
  '1||',
  'http://[::1',
  'http://x/fhir/Patient/1/_history/2',
  'urn:uuid:not-one',
  'Patient/',
  '/Patient/1',
  'Nothing/1',
  'x'.repeat(5000),
  ',',
  ',,',
  '\n',
  '\r\nX-Injected: yes',
];

/** A parameter of each type, with and without modifiers. */
const NAMES = [
  'name',
  'name:exact',
  'name:contains',
  'identifier',
  'identifier:not',
  'identifier:of-type',
  'gender:code-text',
  'birthdate',
  'general-practitioner',
  'general-practitioner:Organization',
  'general-practitioner:identifier',
  'link',
  '_id',
  '_id:not',
  '_lastUpdated',
  '_profile',
  '_source',
  '_source:below',
  '_source:above',
  'active:missing',
  'general-practitioner.name',
  'link:Patient.name:exact',
  'link:Patient.birthdate',
  '_has:Observation:patient:code',
  '_has:Observation:patient:value-quantity',
  '_include',
  '_include:iterate',
  '_revinclude',
  '_sort',
  '_count',
  '_summary',
  '_elements',
  '_total',
  '_maxresults',
  '_page',
];
const OBSERVATION_NAMES = [
  'value-quantity',
  'code-value-quantity',
  'combo-code-value-quantity',
  'subject',
  'date',
  'code-value-date',
];

/** As in a query; what Unicode does not allow becomes a sign for that. */
const encode = (text: string): string => new URLSearchParams([['', text]]).toString().slice(1);

/** What JSON cannot hold cannot have been stored. */
const isStorable = (text: string): boolean => !/[\u0000\ud800-\udfff]/.test(text); // eslint-disable-line no-control-regex

/** The tests of a suite: each such search gets an answer or a 4xx, never a 500. */
export function hostileSearches(store: Store): void {
  const server = useSearchServer({ store });

  beforeAll(async () => {
    for (const [n, text] of HOSTILE.entries()) {
      if (!isStorable(text)) continue;
      const name = [{ family: text.trim() === '' ? 'x' : text }];
      const answer = await server.send('PUT', `/Patient/h${n}`, { resourceType: 'Patient', id: `h${n}`, name });
      expect([text.slice(0, 20), answer.status < 500]).toEqual([text.slice(0, 20), true]);
    }
  });

  const check = async (method: string, path: string, body?: string): Promise<number> => {
    const answer = await server.send(method, path, body, body === undefined ? {} : FORM_TYPE);
    // One that takes longer than stores may would be 503.
    const told = `${method} ${path.slice(0, 80)} ${(body ?? '').slice(0, 80)}`;
    expect([told, [200, 400, 414].includes(answer.status), server.defects]).toEqual([told, true, []]);
    expect(answer.headers['x-injected']).toBeUndefined();
    return answer.status;
  };

  it.each([...NAMES.map((name) => ['Patient', name]), ...OBSERVATION_NAMES.map((name) => ['Observation', name])])(
    '%s?%s=…',
    async (type, name) => {
      for (const [n, text] of HOSTILE.entries()) {
        const query = `${name}=${encode(text)}`;
        await (n % 2 === 0 ? check('GET', `/${type}?${query}`) : check('POST', `/${type}/_search`, query));
      }
    },
    60_000,
  );

  it('names of parameters', async () => {
    for (const text of HOSTILE) {
      const name = encode(text);
      await check('GET', `/Patient?${name}=x`);
      await check('GET', `/Patient?name:${name}=x`);
      await check('GET', `/Patient?link.${name}=x`);
      await check('GET', `/Patient?link:${name}.name=x`);
      await check('GET', `/Patient?_has:Observation:${name}:code=x`);
      await check('GET', `/Patient?_has:${name}:patient:code=x`);
      await check('GET', `/Patient?_include:${name}=*`);
      await check('GET', `/Patient/1/Observation?${name}=x`);
      await check('GET', `/Patient?_sort=${name},-${name}`);
      await check('GET', `/Patient?${name}`);
    }
    for (const query of [
      '%',
      '%zz=1',
      'name=%E0%A4',
      '&&&',
      '=',
      '=x',
      'name==x',
      '?name=x',
      'name=x#y',
      'name;gender=1',
    ]) {
      await check('GET', `/Patient?${query}`);
      await check('POST', '/Patient/_search', query);
    }
  });

  it('the text itself is found, and nothing else is, where it is a text with something to compare', async () => {
    for (const [n, text] of HOSTILE.entries()) {
      if (!isStorable(text) || fold(text) === '' || text.length > 1000) continue;
      const escaped = text.replace(/[\\,|$]/g, (sign) => `\\${sign}`);
      const exact = await server.send('GET', `/Patient?_count=1000&name:exact=${encode(escaped)}`);
      expect([text, idsOf(exact)]).toEqual([text, [`h${n}`]]);
    }
  });

  it('lists of 10,000 values, hundreds of criteria, many keys', async () => {
    const many = (count: number, make: (n: number) => string) => Array.from({ length: count }, (_each, n) => make(n));
    expect(await check('POST', '/Patient/_search', `name=${many(10_000, (n) => `n${n}`).join(',')}`)).toBe(200);
    expect(await check('POST', '/Patient/_search', `_id:not=${many(10_000, (n) => `n${n}`).join(',')}`)).toBe(200);
    expect(await check('POST', '/Patient/_search', `identifier=${many(10_000, (n) => `s|${n}`).join(',')}`)).toBe(200);
    expect(await check('POST', '/Patient/_search', `birthdate=${many(10_000, () => 'ne2000').join(',')}`)).toBe(200);
    const words = many(2000, (n) => many(50, (m) => `w${n}x${m}`).join(' '));
    expect(await check('POST', '/Patient/_search', `_content=${words.slice(0, 20).join(',')}`)).toBe(200);
    expect(await check('POST', '/Patient/_search', `_content=${words.join(',')}`)).toBe(400);
    expect(await check('POST', '/Patient/_search', `name=${many(10_001, () => 'n').join(',')}`)).toBe(400);
    expect(await check('GET', `/Patient?${many(100, (n) => `name=n${n}`).join('&')}`)).toBe(200);
    expect(await check('POST', '/Patient/_search', many(200, (n) => `birthdate=ne${2000 + n}`).join('&'))).toBe(200);
    expect(await check('POST', '/Patient/_search', many(201, (n) => `name=n${n}`).join('&'))).toBe(400);
    expect(await check('POST', '/Patient/_search', many(100_000, () => 'a=b').join('&'))).toBe(400);
    expect(
      await check('POST', '/Patient/_search', many(3, () => `_id=${many(9000, (n) => `n${n}`).join(',')}`).join('&')),
    ).toBe(400);
    const codes = tables.search.find(({ type }) => type === 'Patient')!.parameters.map(({ code }) => code);
    expect(await check('GET', `/Patient?_sort=${codes.slice(0, 10).join(',')}`)).toBe(200);
    const large = await server.send('POST', '/Patient/_search', `name=${'x'.repeat(5 * 1024 * 1024)}`, FORM_TYPE);
    expect(large.status).toBe(413);
  }, 120_000);
}
