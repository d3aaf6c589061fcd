import { beforeAll, expect, it } from 'vitest';

import type { Store } from '../../../../runtime/store/store.js';
import { processorTime } from '../../../processor-time.js';
import { useBundleServer } from '../../bundles/bundle-server.js';

const CS = 'http://costly.example/cs';
const INLINE = 'http://inline.example/cs';

/** What one such request may take of the processor, in milliseconds: of what took minutes, or grew with the square of what was sent. */
const MOST = 3000;

const many = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
const parameters = (...parameter: readonly object[]) => ({ resourceType: 'Parameters', parameter });
const resource = (name: string, own: object) => ({ name, resource: own });
const uri = (name: string, valueUri: string) => ({ name, valueUri });
const code = (name: string, valueCode: string) => ({ name, valueCode });
const text = (name: string, valueString: string) => ({ name, valueString });
const codeSystem = (concept: readonly object[], more: object = {}) => ({ resourceType: 'CodeSystem', url: INLINE, status: 'active', content: 'complete', concept, ...more }); // prettier-ignore
const valueSet = (compose: object, more: object = {}) => ({ resourceType: 'ValueSet', status: 'active', compose, ...more }); // prettier-ignore
const regex = (value: string, system = CS) => valueSet({ include: [{ system, filter: [{ property: 'code', op: 'regex', value }] }] }); // prettier-ignore

/** Requests that cost more than what they send are counted: each is answered, or refused, within a bound. */
export function terminologyCosts(store: Store): void {
  const server = useBundleServer(store);
  const ask = async (path: string, body: object) => {
    const took = processorTime();
    const answer = await server.send('POST', path, body);
    expect(took(), path).toBeLessThan(MOST);
    return { status: answer.status, text: answer.text, body: answer.json() };
  };
  const put = async (own: { readonly resourceType: string; readonly id: string }): Promise<void> => {
    const answer = await server.send('PUT', `/${own.resourceType}/${own.id}`, own);
    expect(answer.status, answer.text).toBeLessThan(300);
  };
  const expand = (own: object, ...more: readonly object[]) => ask('/ValueSet/$expand', parameters(resource('valueSet', own), ...more)); // prettier-ignore

  beforeAll(async () => {
    const names = ['en', 'de', 'fr'].map((language, i) => ({ language, value: `name ${i}` }));
    const concept = many(3000, (i) => ({ code: `c${i}`, display: `Concept ${i}`, designation: names }));
    await put({ ...codeSystem(concept, { url: CS }), id: 'cs' } as never);
    await put({ ...valueSet({ include: [{ system: CS }] }, { url: `${CS}/all` }), id: 'all' } as never);
    await put({ ...regex('((()*)*){9}'), url: `${CS}/empty`, id: 'empty' } as never);
    await put({ ...regex('((a{99}){99}){99}'), url: `${CS}/large`, id: 'large' } as never);
    await put({ resourceType: 'Observation', id: 'o', status: 'final', code: { coding: [{ system: CS, code: 'c1' }] } } as never); // prettier-ignore
  });

  it('repetitions of nothing held the process for hours', async () => {
    for (const empty of ['(){99}', '((()*)*){9}', '(()*)*', '(a{0})*']) {
      expect((await expand(regex(empty))).body, empty).toMatchObject({ expansion: { total: 0 } });
    }
    for (const many of ['(){9999}{9999}{9999}', '((){9}){1,9999}', '(a{0}){9999}{9999}']) {
      const { status, text: said } = await expand(regex(many));
      expect([status, said], many).toEqual([422, expect.stringContaining('regular expression')]);
    }
    const stored = await server.send('GET', `/ValueSet/$expand?url=${CS}/empty`);
    expect(stored.json().expansion.total).toBe(0);
    const check = await server.send('GET', `/ValueSet/$validate-code?url=${CS}/empty&system=${CS}&code=c1`);
    expect(check.json().parameter[0]).toEqual({ name: 'result', valueBoolean: false });
    const search = await server.send('GET', `/Observation?code:in=${CS}/empty&_format=json`);
    expect(search.json().total ?? 0).toBe(0);
  });

  it.each(['((a{99}){99}){99}', '(a?){99}{99}', 'a{99999999999}', '((((a|b){9}){9}){9}){9,}'])(
    'repetitions within each other, %s, are refused before anything is built: by the limit',
    async (large) => {
      const { status, text: said } = await expand(regex(large));
      expect(status).toBe(422);
      expect(said).toContain('a regular expression may have 5000 states');
    },
  );

  it('that goes for stored value sets, checks and searches too', async () => {
    for (const path of [
      `/ValueSet/$expand?url=${CS}/large`,
      `/ValueSet/$validate-code?url=${CS}/large&system=${CS}&code=c1`,
      `/Observation?code:in=${CS}/large`,
    ]) {
      const answer = await server.send('GET', path);
      expect(answer.status, path).toBe(422);
      expect(answer.text, path).toContain('5000 states');
    }
  });

  it('many regular expressions are built one after the other: counted together', async () => {
    const include = many(5000, () => ({ system: CS, filter: [{ property: 'code', op: 'regex', value: '(x{9}){100}' }] })); // prettier-ignore
    const { status, text: said } = await expand(valueSet({ include }));
    expect([status, said]).toEqual([422, expect.stringContaining('too much work')]);
  });

  it('classes of a thousand characters cost no more than others', async () => {
    const letters = many(450, (i) => String.fromCharCode(0x4e00 + 2 * i)).join('');
    const concept = many(200, (i) => ({ code: `${i}`, display: 'x'.repeat(2000) }));
    const own = resource('tx-resource', codeSystem(concept));
    const filter = [{ property: 'display', op: 'regex', value: `[${letters}]*[${letters}x]*` }];
    const { body } = await expand(valueSet({ include: [{ system: INLINE, filter }] }), own);
    expect(body).toMatchObject({ expansion: { total: 200 } });
  });

  it('thousands of designations and properties times the members', async () => {
    const designations = many(2000, (i) => text('designation', `http://use.example|u${i}`));
    const { body } = await expand(valueSet({ include: [{ system: CS }] }), ...designations, text('designation', 'de'));
    const [first] = body['expansion'].contains;
    expect(first.designation.map(({ value }: { value: string }) => value)).toEqual(['name 1']);
    const properties = many(40_000, (i) => text('property', `p${i}`));
    const { status } = await expand(valueSet({ include: [{ system: CS }] }), ...properties);
    expect(status).toBe(200);
  });

  it('$lookup: 40,000 properties that are asked for times 40,000 that there are', async () => {
    const property = many(40_000, (i) => ({ code: `p${i}`, valueString: 'v' }));
    const own = codeSystem([{ code: 'x', property }]);
    const asked = many(40_000, (i) => code('property', `q${i}`));
    const { status } = await ask('/CodeSystem/$lookup', parameters(resource('tx-resource', own), uri('system', INLINE), code('code', 'x'), ...asked, code('property', 'p7'))); // prettier-ignore
    expect(status).toBe(200);
  });

  it('$find-matches: a display of a million characters was folded once for each property', async () => {
    const exact = { name: 'exact', valueBoolean: false };
    const own = resource('tx-resource', codeSystem([{ code: 'x', display: `${'Ä'.repeat(500_000)} end` }]));
    const wanted = many(100, (i) => ({ name: 'property', part: [code('code', 'display'), text('value', i === 0 ? 'END' : `none${i}`)] })); // prettier-ignore
    const { body } = await ask('/CodeSystem/$find-matches', parameters(own, exact, uri('system', INLINE), ...wanted));
    expect(body['parameter'], JSON.stringify(body).slice(0, 500)).toBeDefined();
    expect(body['parameter'][0].part).toHaveLength(1 + 99);
    const more = many(40_000, (i) => ({ name: 'property', part: [code('code', 'code'), text('value', `${i}`)] }));
    expect((await ask('/CodeSystem/$find-matches', parameters(exact, uri('system', CS), ...more))).status).toBe(422);
  });

  it('a filter of 60,000 words', async () => {
    const all = valueSet({ include: [{ system: CS }] });
    const words = many(60_000, (i) => `w${i}`).join(' ');
    expect((await expand(all, text('filter', words))).status).toBe(200);
    const { body } = await expand(all, text('filter', many(60_000, () => 'conc 17').join(' ')));
    expect(body['expansion'].total).toBe(111);
  });

  it('a code system of 400,000 concepts that comes with the request', async () => {
    const own = codeSystem(many(400_000, (i) => ({ code: `${i}` })));
    const sent = parameters(resource('codeSystem', own), code('code', '7'));
    const { status, text: said } = await ask('/CodeSystem/$validate-code', sent);
    expect([status, said]).toEqual([422, expect.stringContaining('too much work')]);
  }, 60_000);

  it('is-a over 200,000 children overflowed the stack', async () => {
    const children = codeSystem([{ code: 'root', concept: many(200_000, (i) => ({ code: `${i}` })) }]);
    const own = resource('tx-resource', children);
    const filter = [{ property: 'concept', op: 'is-a', value: 'root' }];
    const asked = resource('valueSet', valueSet({ include: [{ system: INLINE, filter }] }));
    const check = parameters(own, asked, uri('system', INLINE), code('code', '199999'));
    const { body } = await ask('/ValueSet/$validate-code', check);
    expect(body['parameter'][0]).toEqual({ name: 'result', valueBoolean: true });
    const subsumes = parameters(own, uri('system', INLINE), code('codeA', 'root'), code('codeB', '7'));
    expect((await ask('/CodeSystem/$subsumes', subsumes)).body['parameter'][0].valueCode).toBe('subsumes');
    expect((await expand(valueSet({ include: [{ system: INLINE, filter }] }), own)).status).toBe(422);
  }, 60_000);

  it('$closure of thousands of codes that mean the same', async () => {
    const own = { ...codeSystem([{ code: 'abcdefghijkl' }], { url: `${CS}/same`, caseSensitive: false }), id: 'same' };
    await put(own as never);
    const spelled = (i: number): string => [...'abcdefghijkl'].map((letter, at) => ((i >> at) & 1 ? letter.toUpperCase() : letter)).join(''); // prettier-ignore
    const concept = many(4000, (i) => ({ name: 'concept', valueCoding: { system: `${CS}/same`, code: spelled(i) } }));
    expect((await ask('/$closure', parameters(text('name', 'same')))).status).toBe(200);
    const { status, text: said } = await ask('/$closure', parameters(text('name', 'same'), ...concept));
    expect([status, said]).toEqual([422, expect.stringContaining('too much work')]);
    const more = many(5001, (i) => ({ name: 'concept', valueCoding: { system: CS, code: `none${i}` } }));
    expect((await ask('/$closure', parameters(text('name', 'same'), ...more))).text).toContain('5000 concepts at most');
  });

  it('thousands of codings times a long list, and times the names of a code', async () => {
    const concept = many(20_000, (i) => ({ code: `c${i}` }));
    const listed = resource('valueSet', valueSet({ include: [{ system: CS, concept }] }));
    const coding = many(5000, (i) => ({ system: CS, code: `c${i % 3000}` }));
    const sent = parameters(listed, { name: 'codeableConcept', valueCodeableConcept: { coding } });
    expect((await ask('/ValueSet/$validate-code', sent)).body['parameter'][0]).toEqual({ name: 'result', valueBoolean: true }); // prettier-ignore
    const own = resource('tx-resource', codeSystem([{ code: 'x', designation: many(5000, (i) => ({ value: `name ${i}` })) }])); // prettier-ignore
    const wrong = many(5000, (i) => ({ system: INLINE, code: 'x', display: `wrong ${i}` }));
    const names = parameters(own, uri('url', INLINE), { name: 'codeableConcept', valueCodeableConcept: { coding: wrong } }); // prettier-ignore
    expect((await ask('/CodeSystem/$validate-code', names)).status).toBe(422);
  });

  it('thousands of languages', async () => {
    const all = valueSet({ include: [{ system: CS }] });
    const tags = many(100_000, (i) => `de-a${i}`).join(',');
    const { status, text: said } = await expand(all, code('displayLanguage', tags));
    expect([status, said]).toEqual([400, expect.stringContaining('A list of languages has 50 of them at most')]);
  });

  it('value sets that import each other with supplements took time that doubled with each level', async () => {
    const supplement = {
      ...codeSystem([{ code: 'c1', display: 'One' }], {
        url: `${INLINE}/more`,
        content: 'supplement',
        supplements: CS,
      }),
    };
    const extension = [{ url: 'http://hl7.org/fhir/StructureDefinition/valueset-supplement', valueCanonical: `${INLINE}/more` }]; // prettier-ignore
    const url = (i: number): string => `${INLINE}/vs/${i}`;
    const imports = (i: number) => (i === 0 ? [{ system: CS, concept: [{ code: 'c1' }] }] : many(2, () => ({ valueSet: [url(i - 1)] }))); // prettier-ignore
    const own = many(26, (i) => resource('tx-resource', valueSet({ include: imports(i) }, { url: url(i) })));
    const top = valueSet({ include: imports(26) }, { url: url(26), extension });
    const { body, text: said } = await expand(top, resource('tx-resource', supplement), ...own);
    expect(body['expansion']?.total, said).toBe(1);
  });

  it('concept maps that refer to others for each of their groups, many levels deep', async () => {
    const url = (i: number): string => `${INLINE}/map/${i}`;
    const group = (i: number) => many(60, () => ({ source: CS, element: [{ code: 'none', noMap: true }], unmapped: i === 0 ? { mode: 'fixed', code: 'z' } : { mode: 'other-map', otherMap: url(i - 1) } })); // prettier-ignore
    const own = many(8, (i) => resource('tx-resource', { resourceType: 'ConceptMap', url: url(i), status: 'active', group: group(i) })); // prettier-ignore
    const { status, text: said } = await ask('/ConceptMap/$translate', parameters(...own, uri('url', url(7)), uri('system', CS), code('sourceCode', 'c1'))); // prettier-ignore
    expect([status, said]).toEqual([422, expect.stringContaining('too much work')]);
  });

  it('thousands of resources that come with the request', async () => {
    const own = many(5000, (i) => resource('tx-resource', valueSet({ include: [{ system: CS, concept: [{ code: `c${i % 3000}` }] }] }, { url: `${INLINE}/own/${i}` }))); // prettier-ignore
    const include = many(5000, (i) => ({ valueSet: [`${INLINE}/own/${i}`] }));
    expect((await expand(valueSet({ include }), ...own)).body['expansion'].total).toBe(3000);
  });
}
