import { beforeAll, describe, expect, it } from 'vitest';

import type { Store } from '../../../../runtime/store/store.js';
import { scopedServer } from '../../auth/scoped.js';
import type { Answer } from '../../server.js';
import { expectRefusal } from '../../write-server.js';

const CS = 'http://cs.example/colours';
const VS = 'http://vs.example/colours';

type Row = Record<string, unknown> & { name: string };

/** Rules of the terminology operations, a case for each: versions, languages, supplements, what is missing, what maps do. */
export function terminologyRules(store: Store): void {
  const server = scopedServer(store);
  const get = (path: string, headers?: Record<string, string>) => server.all.send('GET', path, undefined, headers);
  const post = (path: string, ...parameter: readonly object[]) =>
    server.all.send('POST', path, { resourceType: 'Parameters', parameter });
  const put = async (body: { resourceType: string; id: string; [name: string]: unknown }): Promise<void> => {
    const answer = await server.all.send('PUT', `/${body.resourceType}/${body.id}`, body);
    expect(answer.status, answer.text).toBeLessThan(300);
  };
  const valueSet = (id: string, compose: object, more: object = {}) =>
    put({ resourceType: 'ValueSet', id, url: `${VS}/${id}`, status: 'active', compose, ...more });
  const rowsOf = (answer: Answer): Row[] => {
    expect(answer.status, answer.text).toBe(200);
    return answer.json().parameter as Row[];
  };
  const valueOf = (answer: Answer, name: string): unknown => {
    const row = rowsOf(answer).find((each) => each.name === name);
    return row?.[Object.keys(row).find((key) => key !== 'name') ?? ''];
  };
  const contains = (answer: Answer): { code: string; display?: string; contains?: unknown[] }[] => {
    expect(answer.status, answer.text).toBe(200);
    return answer.json().expansion.contains ?? [];
  };
  const codes = (answer: Answer): string[] => contains(answer).map(({ code }) => code);
  const issueCodes = (answer: Answer): string[] =>
    (valueOf(answer, 'issues') as { issue: { code: string }[] }).issue.map(({ code }) => code);
  const validate = (vs: string, query: string) => get(`/ValueSet/$validate-code?url=${VS}/${vs}&system=${CS}&${query}`);

  beforeAll(async () => {
    const head = { resourceType: 'CodeSystem', url: CS, name: 'Colours', title: 'All the colours', status: 'active', content: 'complete' }; // prettier-ignore
    const red = { code: 'red', display: 'Red', designation: [{ language: 'de', value: 'Rot' }] };
    await put({ ...head, id: 'colours-1', version: '1.0.0', language: 'en', caseSensitive: true, concept: [red] });
    const old = { code: 'old', display: 'Old', property: [{ code: 'status', valueCode: 'retired' }] };
    await put({
      ...{ ...head, id: 'colours-2', version: '1.2.0', language: 'en', caseSensitive: true },
      concept: [red, { code: 'blue', display: 'Blue' }, old, { code: 'grey', extension: [{ url: 'http://hl7.org/fhir/StructureDefinition/structuredefinition-standards-status', valueCode: 'withdrawn' }] }], // prettier-ignore
    });
    await put({ ...head, id: 'loose', url: `${CS}-loose`, concept: [{ code: 'Mixed', display: 'Mixed' }] });
    await put({ ...head, id: 'part', url: `${CS}-part`, content: 'fragment', concept: [{ code: 'known' }] });
    await put({
      ...{ ...head, id: 'more', url: `${CS}-more`, content: 'supplement', supplements: CS },
      concept: [{ code: 'red', designation: [{ language: 'fr', value: 'Rouge' }], property: [{ code: 'warm', valueBoolean: true }] }], // prettier-ignore
    });
    await valueSet('any', { include: [{ system: CS }] });
    await valueSet('german', { include: [{ system: CS }] }, { language: 'de' });
    await valueSet('pinned', { include: [{ system: CS, version: '1.0.0' }] });
    await valueSet('pattern', { include: [{ system: CS, version: '1.x' }] });
    await valueSet('lost-version', { include: [{ system: CS, version: '9' }] });
    await valueSet('loose', { include: [{ system: `${CS}-loose` }] });
    await valueSet('part', { include: [{ system: `${CS}-part` }] });
    await valueSet('unknown', { include: [{ system: 'http://nobody.example' }] });
    await valueSet('imports-nothing', { include: [{ valueSet: [`${VS}/nothing`] }] });
    await valueSet('active', { inactive: false, include: [{ system: CS }] });
    await valueSet('odd', { include: [{ system: CS, filter: [{ property: 'weight', op: '=', value: '1' }] }] });
    await valueSet('none', { include: [{ system: CS, filter: [{ property: 'code', op: 'regex', value: 'x+' }] }] });
    await valueSet('inner', { include: [{ valueSet: ['#in'] }] }, { contained: [{ resourceType: 'ValueSet', id: 'in', status: 'active', compose: { include: [{ system: CS, concept: [{ code: 'blue' }] }] } }] }); // prettier-ignore
  });

  describe('versions', () => {
    it('the one of the value set, else of the client, else of the code, else the latest', async () => {
      expect(codes(await get(`/ValueSet/$expand?url=${VS}/any`))).toEqual(['red', 'blue', 'old', 'grey']);
      expect(codes(await get(`/ValueSet/$expand?url=${VS}/pinned`))).toEqual(['red']);
      expect(codes(await get(`/ValueSet/$expand?url=${VS}/pattern`))).toHaveLength(4);
      expect(codes(await get(`/ValueSet/$expand?url=${VS}/any&system-version=${CS}|1.0.0`))).toEqual(['red']);
      expect(codes(await get(`/ValueSet/$expand?url=${VS}/pinned&system-version=${CS}|1.2.0`))).toEqual(['red']);
      expect(codes(await get(`/ValueSet/$expand?url=${VS}/pinned&force-system-version=${CS}|1.2.0`))).toHaveLength(4);
      expect(codes(await get(`/ValueSet/$expand?url=${VS}/any&check-system-version=${CS}|1.0`))).toEqual(['red']);
      expectRefusal(await get(`/ValueSet/$expand?url=${VS}/pinned&check-system-version=${CS}|1.2`), 422, 'value-set-invalid', '1.2'); // prettier-ignore
      expectRefusal(await get(`/ValueSet/$expand?url=${VS}/lost-version`), 404, 'terminology-not-found', '1.2.0');
      expect(codes(await get(`/ValueSet/$expand?url=${VS}/any&exclude-system=${CS}`))).toEqual([]);
      expectRefusal(await get(`/ValueSet/$expand?url=${VS}/any&system-version=${CS}`), 400, 'parameter-invalid', 'version'); // prettier-ignore
    });
    it('a code of another version than the value set is none of its codes', async () => {
      expect(valueOf(await validate('any', 'code=red&systemVersion=1.0.0'), 'version')).toBe('1.0.0');
      expect(valueOf(await validate('any', 'code=blue&systemVersion=1.0.0'), 'result')).toBe(false);
      expect(valueOf(await validate('pinned', 'code=red&systemVersion=1.2.0'), 'result')).toBe(false);
      const unknown = await validate('any', 'code=red&systemVersion=7');
      expect(valueOf(unknown, 'result')).toBe(false);
      expect(issueCodes(unknown)).toContain('not-found');
      expectRefusal(await validate('lost-version', 'code=red'), 404, 'terminology-not-found');
    });
    it('a date before the last change cannot be answered', async () => {
      expectRefusal(await get(`/ValueSet/$expand?url=${VS}/any&date=2001`), 400, 'parameter-invalid', 'date');
      expect((await get(`/ValueSet/$expand?url=${VS}/any&date=2999`)).status).toBe(200);
    });
  });

  describe('languages', () => {
    it('of the parameter, of the header, and none other where the client is strict', async () => {
      const display = async (query: string, headers?: Record<string, string>) =>
        contains(await get(`/ValueSet/$expand?url=${VS}/any${query}`, headers))
          .map((each) => each.display)
          .slice(0, 2);
      expect(await display('&displayLanguage=de')).toEqual(['Rot', 'Blue']);
      expect(await display('', { 'accept-language': 'de-DE, de;q=0.9' })).toEqual(['Rot', 'Blue']);
      expect(await display('', { 'accept-language': '*' })).toEqual(['Red', 'Blue']);
      const own = await get(`/ValueSet/$expand?url=${VS}/german`, { 'accept-language': '*' });
      expect(contains(own)[0]?.display).toBe('Rot');
      expect(await display(`&displayLanguage=${encodeURIComponent('de,*;q=0')}`)).toEqual(['Rot', undefined]);
      expectRefusal(await get(`/ValueSet/$expand?url=${VS}/any&displayLanguage=%2F%2F`), 400, 'parameter-invalid');
    });
    it('a display has to be right in the language that is asked for', async () => {
      const result = async (query: string) => valueOf(await validate('any', query), 'result');
      expect(await result('code=red&display=Rot')).toBe(true);
      expect(await result('code=red&display=rot&displayLanguage=de')).toBe(true);
      expect(await result('code=red&display=Red&displayLanguage=de')).toBe(false);
      expect(await result('code=blue&display=Blue&displayLanguage=de')).toBe(true);
      const wrong = await validate('any', 'code=red&display=Green');
      expect(valueOf(wrong, 'result')).toBe(false);
      expect(valueOf(wrong, 'message')).toContain('Red');
      expect(valueOf(wrong, 'display')).toBe('Red');
      expect(await result('code=red&display=Green&lenient-display-validation=true')).toBe(true);
    });
    it('supplements add names and properties; one that is unknown is said', async () => {
      const french = `&useSupplement=${CS}-more&displayLanguage=fr`;
      expect(contains(await get(`/ValueSet/$expand?url=${VS}/any${french}`))[0]?.display).toBe('Rouge');
      const looked = await get(`/CodeSystem/$lookup?system=${CS}&code=red${french}`);
      expect(valueOf(looked, 'display')).toBe('Rouge');
      expect(looked.text).toContain(`{"name":"source","valueCanonical":"${CS}-more"}`);
      expectRefusal(
        await get(`/ValueSet/$expand?url=${VS}/any&useSupplement=a:b`),
        404,
        'terminology-not-found',
        'a:b',
      );
      expect(valueOf(await get(`/CodeSystem/$validate-code?url=${CS}-more&code=red`), 'result')).toBe(false);
    });
  });

  describe('what cannot be decided', () => {
    it('unknown systems, value sets and parts of systems', async () => {
      const lost = await get('/CodeSystem/$validate-code?url=http://nobody.example&code=x');
      expect(valueOf(lost, 'result')).toBe(false);
      expect(issueCodes(lost)).toEqual(['not-found']);
      expect(valueOf(lost, 'x-caused-by-unknown-system')).toBe('http://nobody.example');
      const inSet = await get(`/ValueSet/$validate-code?url=${VS}/unknown&system=http://nobody.example&code=x`);
      expect(valueOf(inSet, 'result')).toBe(false);
      expect(valueOf(await validate('imports-nothing', 'code=red'), 'result')).toBe(false);
      expectRefusal(await validate('nothing', 'code=red'), 404, 'terminology-not-found');
      const part = await get(`/ValueSet/$validate-code?url=${VS}/part&system=${CS}-part&code=new`);
      expect(valueOf(part, 'result')).toBe(true);
      expect(valueOf(part, 'message')).toContain('cannot be decided');
    });
    it('codings without a system or a code', async () => {
      const coding = async (valueCoding: object) => post(`/ValueSet/any/$validate-code`, { name: 'coding', valueCoding }, { name: 'inferSystem', valueBoolean: true }); // prettier-ignore
      expect(valueOf(await coding({ code: 'red' }), 'result')).toBe(false);
      expect(valueOf(await coding({ system: CS }), 'result')).toBe(false);
    });
    it('filters on properties that the system lacks are refused; one that nothing meets gives nothing', async () => {
      expectRefusal(await get(`/ValueSet/$expand?url=${VS}/odd`), 422, 'value-set-invalid', 'weight');
      expect((await get(`/ValueSet/$expand?url=${VS}/none`)).json().expansion).toMatchObject({ total: 0 });
    });
  });

  it('inactive codes: flagged, warned of, left out, or wrong, as is asked', async () => {
    const all = contains(await get(`/ValueSet/$expand?url=${VS}/any`));
    expect(all.filter((each) => 'inactive' in each).map(({ code }) => code)).toEqual(['old', 'grey']);
    expect(all.find(({ code }) => code === 'old')).toMatchObject({
      property: [{ code: 'status', valueCode: 'retired' }],
    });
    expect((await get(`/ValueSet/$expand?url=${VS}/any&activeOnly=true`)).json().expansion.total).toBe(2);
    expect(codes(await get(`/ValueSet/$expand?url=${VS}/active`))).toEqual(['red', 'blue']);
    const old = await validate('any', 'code=old');
    expect([valueOf(old, 'result'), valueOf(old, 'inactive'), valueOf(old, 'status')]).toEqual([true, true, 'retired']);
    expect(valueOf(await validate('any', 'code=old&activeOnly=true'), 'result')).toBe(false);
    expect(valueOf(await validate('active', 'code=old'), 'result')).toBe(false);
  });

  it('case counts only where the code system says so', async () => {
    const loose = await get(`/ValueSet/$validate-code?url=${VS}/loose&system=${CS}-loose&code=MIXED`);
    expect([valueOf(loose, 'result'), valueOf(loose, 'normalized-code')]).toEqual([true, 'Mixed']);
    expect(valueOf(await validate('any', 'code=RED'), 'result')).toBe(false);
  });

  it('pages: beyond the end, and the total alone', async () => {
    const page = (query: string) => get(`/ValueSet/$expand?url=${VS}/any&${query}`);
    expect((await page('offset=100')).json().expansion).toMatchObject({ total: 4, offset: 100 });
    expect(codes(await page('offset=100'))).toEqual([]);
    const none = (await page('count=0')).json().expansion;
    expect([none.total, none.contains]).toEqual([4, undefined]);
  });

  it('contained and implicit value sets, and a code that two codings share', async () => {
    expect(codes(await get(`/ValueSet/$expand?url=${VS}/inner`))).toEqual(['blue']);
    expect(codes(await get(`/ValueSet/$expand?url=${encodeURIComponent(`${CS}?fhir_vs`)}`))).toHaveLength(4);
    const concept = { coding: [{ system: CS, code: 'red' }, { system: CS, code: 'nothing' }] }; // prettier-ignore
    const row = { name: 'codeableConcept', valueCodeableConcept: concept };
    expect(valueOf(await post('/ValueSet/any/$validate-code', row), 'result')).toBe(false);
    const membership = { name: 'valueset-membership-only', valueBoolean: true };
    expect(valueOf(await post('/ValueSet/any/$validate-code', row, membership), 'result')).toBe(true);
  });

  it('rules: countries in three ways, languages with their parts, units', async () => {
    const result = async (system: string, code: string) =>
      valueOf(await get(`/CodeSystem/$validate-code?url=${system}&code=${encodeURIComponent(code)}`), 'result');
    for (const code of ['CH', 'CHE', '756']) expect(await result('urn:iso:std:iso:3166', code), code).toBe(true);
    for (const code of ['UK', 'DD', 'EU', 'XXX', '278']) expect(await result('urn:iso:std:iso:3166', code), code).toBe(false); // prettier-ignore
    expect(await result('urn:ietf:bcp:47', 'zh-Hant-TW')).toBe(true);
    expect((await get('/ValueSet/$expand?url=http://hl7.org/fhir/ValueSet/iso3166-1-3')).json().expansion.total).toBe(
      249,
    );
    const unit = await get('/CodeSystem/$lookup?system=http://unitsofmeasure.org&code=mg');
    expect([valueOf(unit, 'name'), valueOf(unit, 'display')]).toEqual(['UCUM', 'milligram']);
    expect(valueOf(await get(`/CodeSystem/$lookup?system=${CS}&code=red`), 'name')).toBe('Colours');
  });

  describe('$translate', () => {
    const map = (id: string, group: object, more: object = {}) =>
      put({ resourceType: 'ConceptMap', id, url: `http://map.example/${id}`, status: 'active', group: [{ source: CS, target: 't:t', ...group }], ...more }); // prettier-ignore
    const translate = (id: string, query: string) => get(`/ConceptMap/$translate?url=http://map.example/${id}&system=${CS}&${query}`); // prettier-ignore
    const targets = (answer: Answer): unknown[] =>
      rowsOf(answer)
        .filter(({ name }) => name === 'match')
        .map(({ part }) => (part as Row[]).find(({ name }) => name === 'concept')?.['valueCoding']);

    beforeAll(async () => {
      const element = [{ code: 'red', target: [{ code: 'a', relationship: 'equivalent', dependsOn: [{ attribute: 'sex', valueCode: 'm' }] }, { code: 'b', relationship: 'not-related-to' }] }]; // prettier-ignore
      await map('depends', { element });
      await map('source', { element, unmapped: { mode: 'use-source-code', relationship: 'equivalent' } });
      await map('other', { element, unmapped: { mode: 'other-map', otherMap: 'http://map.example/source' } });
      await map('circle', { element, unmapped: { mode: 'other-map', otherMap: 'http://map.example/circle' } });
    });
    it('takes what a target depends on into account', async () => {
      expect(targets(await translate('depends', 'code=red'))).toHaveLength(2);
      const female = { name: 'dependency', part: [{ name: 'attribute', valueUri: 'sex' }, { name: 'value', valueCode: 'f' }] }; // prettier-ignore
      const coding = { name: 'sourceCoding', valueCoding: { system: CS, code: 'red' } };
      const answer = await post('/ConceptMap/depends/$translate', coding, female);
      expect(targets(answer)).toEqual([{ system: 't:t', code: 'b' }]);
      expect(valueOf(answer, 'result')).toBe(false);
    });
    it('what no map has: the code itself, another map, or an error where maps go in a circle', async () => {
      expect(targets(await translate('source', 'code=blue'))).toEqual([{ system: 't:t', code: 'blue' }]);
      const other = await translate('other', 'code=blue');
      expect(targets(other)).toEqual([{ system: 't:t', code: 'blue' }]);
      // "The concept map from which this mapping comes": the one that was referred to.
      expect(other.text).toContain(`"originMap","valueUri":"http://map.example/source"`);
      expectRefusal(await translate('circle', 'code=blue'), 422, 'concept-map-invalid', 'circle');
    });
    it('within the scopes that the client names', async () => {
      expect(targets(await translate('source', `code=red&sourceScope=${VS}/pinned`))).toHaveLength(2);
      expect(targets(await translate('source', `code=blue&sourceScope=${VS}/pinned`))).toHaveLength(0);
      expectRefusal(await translate('source', 'code=red&sourceScope=a:b'), 404, 'terminology-not-found', 'a:b');
    });
  });

  it('leaves no defects', () => expect(server.defects).toEqual([]));
}
