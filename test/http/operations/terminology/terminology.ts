import { beforeAll, describe, expect, it } from 'vitest';

import type { Store } from '../../../../runtime/store/store.js';
import { scopedServer } from '../../auth/scoped.js';
import { batch, responsesOf } from '../../bundles/bundle-server.js';
import type { Answer } from '../../server.js';
import { expectRefusal } from '../../write-server.js';

const CS = 'http://cs.example/animals';
const VS = 'http://vs.example';

interface Contained {
  readonly code: string;
  readonly display?: string;
  readonly abstract?: boolean;
  readonly inactive?: boolean;
  readonly contains?: readonly Contained[];
}

/** `$expand`, `$validate-code`, `$lookup`, `$subsumes`, `$find-matches` and `$translate` */
export function terminology(store: Store): void {
  const server = scopedServer(store);
  const get = (path: string) => server.all.send('GET', path);
  const post = (path: string, parameter: readonly object[]) =>
    server.all.send('POST', path, { resourceType: 'Parameters', parameter });
  const put = async (body: { resourceType: string; id: string; [name: string]: unknown }): Promise<void> => {
    const answer = await server.all.send('PUT', `/${body.resourceType}/${body.id}`, body);
    expect(answer.status, answer.text).toBeLessThan(300);
  };
  const valueSet = (id: string, compose: object, more: object = {}) =>
    put({ resourceType: 'ValueSet', id, url: `${VS}/${id}`, status: 'active', compose, ...more });
  const listOf = (contains: readonly Contained[] = []): string[] =>
    contains.flatMap((each) => [each.code, ...listOf(each.contains)]);
  const codesOf = (answer: Answer): string[] => {
    expect(answer.status, answer.text).toBe(200);
    return listOf(answer.json().expansion.contains);
  };
  const valuesOf = (answer: Answer): Record<string, unknown> => {
    expect(answer.status, answer.text).toBe(200);
    const rows = answer.json().parameter as Record<string, unknown>[];
    return Object.fromEntries(
      rows.map((row) => [row['name'], row[Object.keys(row).find((key) => key !== 'name') ?? ''] ?? null]),
    );
  };

  beforeAll(async () => {
    const prop = (code: string, more: object) => ({ code, ...more });
    await put({
      ...{ resourceType: 'CodeSystem', id: 'animals', url: CS, version: '1', name: 'Animals', status: 'active' },
      ...{ content: 'complete', caseSensitive: true },
      property: [
        { code: 'legs', type: 'integer' },
        { code: 'notSelectable', uri: 'http://hl7.org/fhir/concept-properties#notSelectable', type: 'boolean' },
        { code: 'status', uri: 'http://hl7.org/fhir/concept-properties#status', type: 'code' },
      ],
      concept: [
        {
          code: 'animal',
          display: 'Animal',
          property: [prop('notSelectable', { valueBoolean: true })],
          concept: [
            {
              ...{ code: 'dog', display: 'Dog', definition: 'A dog', property: [prop('legs', { valueInteger: 4 })] },
              designation: [{ language: 'de', value: 'Hund' }],
              concept: [{ code: 'poodle', display: 'Poodle', property: [prop('legs', { valueInteger: 4 })] }],
            },
            { code: 'bird', display: 'Bird', property: [prop('legs', { valueInteger: 2 })] },
            { code: 'dodo', display: 'Dodo', property: [prop('status', { valueCode: 'retired' })] },
          ],
        },
        { code: 'stone', display: 'Stone' },
      ],
    });
    await valueSet('all', { include: [{ system: CS }] });
    await valueSet('below', { include: [{ system: CS, filter: [{ property: 'concept', op: 'is-a', value: 'dog' }] }] });
    await valueSet('listed', {
      include: [{ system: CS, concept: [{ code: 'bird', display: 'Birdie' }, { code: 'stone' }, { code: 'unknown' }] }],
    });
    await valueSet('both', { include: [{ valueSet: [`${VS}/all`, `${VS}/below`] }], exclude: [{ system: CS, concept: [{ code: 'poodle' }] }] }); // prettier-ignore
    await valueSet('circle', { include: [{ valueSet: [`${VS}/other`] }] });
    await valueSet('other', { include: [{ valueSet: [`${VS}/circle`] }] });
    await valueSet('lost', { include: [{ system: 'http://nobody.example' }] });
    await valueSet('missing', { include: [{ valueSet: [`${VS}/none`] }] });
    await valueSet('bomb', { include: [{ system: CS, filter: [{ property: 'code', op: 'regex', value: '((d{1,99}){1,99}){1,99}' }] }] }); // prettier-ignore
    await valueSet('units', { include: [{ system: 'http://unitsofmeasure.org' }] });
    await put({
      ...{ resourceType: 'ConceptMap', id: 'map', url: 'http://map.example/m', status: 'active' },
      group: [
        {
          ...{ source: CS, target: 'http://t.example' },
          element: [
            { code: 'dog', display: 'Dog', target: [{ code: 'D', display: 'The dog', relationship: 'equivalent' }] },
            { code: 'poodle', target: [{ code: 'D', relationship: 'source-is-narrower-than-target' }] },
            { code: 'bird', noMap: true },
          ],
          unmapped: { mode: 'fixed', code: 'other', relationship: 'related-to' },
        },
      ],
    });
  });

  describe('$expand (valueset-operation-expand.html)', () => {
    it('a system as its hierarchy, with abstract and inactive codes marked', async () => {
      const answer = await get(`/ValueSet/$expand?url=${VS}/all`);
      expect(codesOf(answer)).toEqual(['animal', 'dog', 'poodle', 'bird', 'dodo', 'stone']);
      const { total, contains, parameter } = answer.json().expansion;
      expect(total).toBe(6);
      expect(contains[0]).toMatchObject({ code: 'animal', abstract: true, system: CS, version: '1' });
      expect(contains[0].contains.find(({ code }: Contained) => code === 'dodo').inactive).toBe(true);
      expect(parameter).toContainEqual({ name: 'used-codesystem', valueUri: `${CS}|1` });
      const flat = (await get(`/ValueSet/$expand?url=${VS}/all&excludeNested=true`)).json().expansion.contains;
      expect(flat).toHaveLength(6);
    });

    it('filters, lists, imports and exclusions', async () => {
      expect(codesOf(await get('/ValueSet/below/$expand'))).toEqual(['dog', 'poodle']);
      const listed = await get('/ValueSet/listed/$expand');
      expect(codesOf(listed)).toEqual(['bird', 'stone']);
      expect(listed.json().expansion.contains[0].display).toBe('Birdie');
      expect(codesOf(await get('/ValueSet/both/$expand'))).toEqual(['dog']);
    });

    it.each([
      [{ property: 'concept', op: 'descendent-of', value: 'animal' }, ['dog', 'poodle', 'bird', 'dodo']],
      [{ property: 'concept', op: 'is-not-a', value: 'animal' }, ['stone']],
      [{ property: 'concept', op: 'generalizes', value: 'poodle' }, ['animal', 'dog', 'poodle']],
      [{ property: 'concept', op: 'child-of', value: 'animal' }, ['dog', 'bird', 'dodo']],
      [{ property: 'concept', op: 'descendent-leaf', value: 'animal' }, ['poodle', 'bird', 'dodo']],
      [{ property: 'legs', op: '=', value: '4' }, ['dog', 'poodle']],
      [{ property: 'legs', op: 'exists', value: 'true' }, ['dog', 'poodle', 'bird']],
      [{ property: 'legs', op: 'exists', value: 'false' }, ['animal', 'dodo', 'stone']],
      [{ property: 'code', op: 'in', value: 'dog,stone' }, ['dog', 'stone']],
      [{ property: 'code', op: 'not-in', value: 'dog,stone' }, ['animal', 'poodle', 'bird', 'dodo']],
      [{ property: 'code', op: 'regex', value: 'd.*' }, ['dog', 'dodo']],
      [{ property: 'display', op: '=', value: 'Bird' }, ['bird']],
    ])('%j', async (filter, codes) => {
      const inline = { resourceType: 'ValueSet', status: 'active', compose: { include: [{ system: CS, filter: [filter] }] } }; // prettier-ignore
      expect(codesOf(await server.all.send('POST', '/ValueSet/$expand', inline)).sort()).toEqual([...codes].sort());
    });

    it('text, pages, activeOnly, languages, designations and properties', async () => {
      const all = `/ValueSet/$expand?url=${VS}/all`;
      expect(codesOf(await get(`${all}&filter=po`))).toEqual(['poodle']);
      expect(codesOf(await get(`${all}&filter=hund`))).toEqual(['dog']);
      const page = await get(`${all}&offset=1&count=2`);
      expect(codesOf(page)).toEqual(['dog', 'poodle']);
      expect(page.json().expansion).toMatchObject({ total: 6, offset: 1 });
      expect((await get(`${all}&count=0`)).json().expansion).toMatchObject({ total: 6 });
      expect(codesOf(await get(`${all}&activeOnly=true`))).not.toContain('dodo');
      const german = (
        await get(`${all}&displayLanguage=de&excludeNested=true&includeDesignations=true&property=legs`)
      ).json();
      const dog = german.expansion.contains.find(({ code }: Contained) => code === 'dog');
      expect(dog).toMatchObject({ display: 'Hund', designation: [{ use: { code: 'display' }, value: 'Dog' }, { language: 'de', value: 'Hund' }], property: [{ code: 'legs', valueInteger: 4 }] }); // prettier-ignore
    });

    it('resources that come with the request, and shipped ones', async () => {
      const tx = { resourceType: 'CodeSystem', url: 'http://tx.example', status: 'active', content: 'complete', concept: [{ code: 'x' }] }; // prettier-ignore
      const own = {
        resourceType: 'ValueSet',
        status: 'active',
        compose: { include: [{ system: 'http://tx.example' }] },
      };
      const answer = await post('/ValueSet/$expand', [
        { name: 'valueSet', resource: own },
        { name: 'tx-resource', resource: tx },
      ]);
      expect(codesOf(answer)).toEqual(['x']);
      const genders = codesOf(await get('/ValueSet/$expand?url=http://hl7.org/fhir/ValueSet/administrative-gender'));
      expect(genders).toEqual(['male', 'female', 'other', 'unknown']);
      expect(codesOf(await get('/ValueSet/$expand?url=http://hl7.org/fhir/ValueSet/currencies'))).toContain('EUR');
    });

    it('refuses what cannot be expanded, in bounded time', async () => {
      expectRefusal(await get(`/ValueSet/$expand?url=${VS}/none`), 404, 'terminology-not-found');
      expectRefusal(await get('/ValueSet/none/$expand'), 404, 'not-found');
      expectRefusal(await get('/ValueSet/$expand'), 400, 'parameter-invalid', 'url');
      expectRefusal(await get('/ValueSet/circle/$expand'), 422, 'value-set-invalid', 'contains itself');
      expectRefusal(await get('/ValueSet/lost/$expand'), 404, 'terminology-not-found', 'nobody.example');
      expectRefusal(await get('/ValueSet/missing/$expand'), 404, 'terminology-not-found', `${VS}/none`);
      expectRefusal(await get('/ValueSet/bomb/$expand'), 422, 'value-set-invalid', 'regular expression');
      expectRefusal(await get('/ValueSet/units/$expand'), 422, 'expansion-too-costly');
      expectRefusal(await get(`/ValueSet/$expand?url=${VS}/all&count=-1`), 400, 'parameter-invalid', 'count');
      expectRefusal(await get(`/ValueSet/$expand?url=${VS}/all&nonsense=1`), 400, 'parameter-unknown', 'nonsense');
    });

    it('in XML, in a batch, and within the scopes', async () => {
      const xml = await server.all.send('GET', '/ValueSet/below/$expand', undefined, {
        accept: 'application/fhir+xml',
      });
      expect(xml.text).toContain('<code value="poodle"/>');
      const entry = { request: { method: 'GET', url: 'ValueSet/below/$expand' } };
      expect(responsesOf(await server.all.send('POST', '/', batch(entry)))[0].status).toBe('200 OK');
      expect((await server.as('system/Patient.rs').send('GET', `/ValueSet/$expand?url=${VS}/all`)).status).toBe(403);
      // A token without CodeSystems does not learn of a stored one.
      const narrow = await server.as('system/ValueSet.r').send('GET', `/ValueSet/$expand?url=${VS}/all`);
      expectRefusal(narrow, 404, 'terminology-not-found');
      const hidden = await server.as('system/ValueSet.r?_id=none system/CodeSystem.r').send('GET', `/ValueSet/$expand?url=${VS}/all`); // prettier-ignore
      expectRefusal(hidden, 404, 'terminology-not-found');
    });
  });

  describe('$validate-code (valueset-operation-validate-code.html, codesystem-operation-validate-code.html)', () => {
    it('a code, a coding and a concept, in a value set', async () => {
      const path = `/ValueSet/$validate-code?url=${VS}/below`;
      expect(valuesOf(await get(`${path}&system=${CS}&code=poodle`))).toMatchObject({ result: true, display: 'Poodle', code: 'poodle', system: CS, version: '1' }); // prettier-ignore
      expect(valuesOf(await get(`${path}&code=dog&inferSystem=true`))).toMatchObject({ result: true, system: CS });
      expectRefusal(await get(`${path}&code=dog`), 400, 'parameter-invalid', 'system');
      const no = valuesOf(await get(`${path}&system=${CS}&code=bird`));
      expect(no).toMatchObject({ result: false });
      expect(no['message']).toContain('not in');
      const wrong = await post('/ValueSet/below/$validate-code', [{ name: 'coding', valueCoding: { system: CS, code: 'dog', display: 'Cat' } }]); // prettier-ignore
      expect(valuesOf(wrong)).toMatchObject({ result: false, display: 'Dog' });
      const german = await post('/ValueSet/below/$validate-code', [{ name: 'coding', valueCoding: { system: CS, code: 'dog', display: 'hund' } }]); // prettier-ignore
      expect(valuesOf(german)).toMatchObject({ result: true });
      const concept = {
        coding: [
          { system: CS, code: 'bird' },
          { system: CS, code: 'dog' },
        ],
      };
      const any = await post('/ValueSet/below/$validate-code', [
        { name: 'codeableConcept', valueCodeableConcept: concept },
      ]);
      expect(valuesOf(any)).toMatchObject({ result: true, code: 'dog' });
    });

    it('in a code system, and by rule', async () => {
      expect(valuesOf(await get(`/CodeSystem/$validate-code?url=${CS}&code=dog`))).toMatchObject({ result: true, display: 'Dog' }); // prettier-ignore
      expect(valuesOf(await get(`/CodeSystem/animals/$validate-code?code=cat`))).toMatchObject({ result: false });
      const unknown = valuesOf(await get('/CodeSystem/$validate-code?url=http://unitsofmeasure.org&code=mg/dL'));
      expect(unknown).toMatchObject({ result: true });
      for (const [url, code, result] of [
        ['http://unitsofmeasure.org', 'foo', false],
        ['urn:ietf:bcp:47', 'de-CH', true],
        ['urn:ietf:bcp:47', 'qqqqqqqqq', false],
        ['urn:ietf:bcp:13', 'text/plain', true],
        ['urn:ietf:bcp:13', 'text', false],
        ['urn:iso:std:iso:4217', 'EUR', true],
        ['urn:iso:std:iso:3166', 'CH', true],
      ] as const) {
        const answer = await get(`/CodeSystem/$validate-code?url=${url}&code=${encodeURIComponent(code)}`);
        expect(valuesOf(answer), `${url} ${code}`).toMatchObject({ result });
      }
      const nobody = await get('/ValueSet/below/$validate-code?system=http://nobody.example&code=x');
      expect(valuesOf(nobody)).toMatchObject({ result: false });
      expect(nobody.text).toContain('does not know the code system');
    });

    it('abstract codes, and bad input', async () => {
      const path = `/ValueSet/$validate-code?url=${VS}/all&system=${CS}&code=animal`;
      expect(valuesOf(await get(path))).toMatchObject({ result: true });
      expect(valuesOf(await get(`${path}&abstract=false`))).toMatchObject({ result: false });
      expectRefusal(await get(`/ValueSet/$validate-code?url=${VS}/all`), 400, 'parameter-invalid', 'exactly one');
      expectRefusal(
        await get('/ValueSet/$validate-code?url=http://none.example&code=x&system=a:b'),
        404,
        'terminology-not-found',
      );
      expectRefusal(await get(`/ValueSet/circle/$validate-code?code=x&system=${CS}`), 422, 'value-set-invalid');
    });
  });

  it('$lookup (codesystem-operation-lookup.html)', async () => {
    const answer = await get(`/CodeSystem/$lookup?system=${CS}&code=dog`);
    expect(valuesOf(answer)).toMatchObject({
      name: 'Animals',
      version: '1',
      display: 'Dog',
      definition: 'A dog',
      abstract: false,
    });
    const part = (name: string, value: object) => expect.objectContaining({ name, part: expect.arrayContaining([value]) }) as object; // prettier-ignore
    const { parameter } = answer.json();
    expect(parameter).toContainEqual(part('designation', { name: 'value', valueString: 'Hund' }));
    expect(parameter).toContainEqual(part('property', { name: 'value', valueCode: 'animal' }));
    expect(parameter).toContainEqual(part('property', { name: 'value', valueCode: 'poodle' }));
    expect(valuesOf(await get(`/CodeSystem/$lookup?system=${CS}&code=dog&displayLanguage=de`))['display']).toBe('Hund');
    const coding = await post('/CodeSystem/$lookup', [{ name: 'coding', valueCoding: { system: CS, code: 'bird' } }]);
    expect(valuesOf(coding)).toMatchObject({ display: 'Bird' });
    const shipped = await get('/CodeSystem/$lookup?system=http://hl7.org/fhir/administrative-gender&code=male');
    expect(valuesOf(shipped)).toMatchObject({ display: 'Male' });
    expectRefusal(await get(`/CodeSystem/$lookup?system=${CS}&code=cat`), 404, 'terminology-not-found', 'cat');
    expectRefusal(await get('/CodeSystem/$lookup?system=http://nobody.example&code=x'), 404, 'terminology-not-found');
    expectRefusal(await get('/CodeSystem/$lookup?code=x'), 400, 'parameter-invalid', 'system');
    expect(valuesOf(await get('/CodeSystem/animals/$lookup?code=stone'))).toMatchObject({ display: 'Stone' });
  });

  it('$subsumes (codesystem-operation-subsumes.html)', async () => {
    const outcome = async (a: string, b: string) =>
      valuesOf(await get(`/CodeSystem/$subsumes?system=${CS}&codeA=${a}&codeB=${b}`))['outcome'];
    expect(await outcome('animal', 'poodle')).toBe('subsumes');
    expect(await outcome('poodle', 'animal')).toBe('subsumed-by');
    expect(await outcome('dog', 'dog')).toBe('equivalent');
    expect(await outcome('dog', 'bird')).toBe('not-subsumed');
    expectRefusal(await get(`/CodeSystem/$subsumes?system=${CS}&codeA=dog&codeB=cat`), 404, 'terminology-not-found');
    expectRefusal(await get(`/CodeSystem/$subsumes?codeA=dog&codeB=cat`), 400, 'parameter-invalid', 'system');
    expectRefusal(await get(`/CodeSystem/$subsumes?system=${CS}&codeA=dog`), 400, 'parameter-invalid', 'codeB');
  });

  it('$find-matches (codesystem-operation-find-matches.html)', async () => {
    const property = { name: 'property', part: [{ name: 'code', valueCode: 'legs' }, { name: 'value', valueInteger: 4 }] }; // prettier-ignore
    const rows = [{ name: 'system', valueUri: CS }, { name: 'exact', valueBoolean: true }, property];
    const answer = await post('/CodeSystem/$find-matches', rows);
    expect(answer.json().parameter.map(({ part }: { part: [{ valueCoding: Contained }] }) => part[0].valueCoding.code)).toEqual(['dog', 'poodle']); // prettier-ignore
  });

  describe('$translate (conceptmap-operation-translate.html)', () => {
    const matchesOf = (answer: Answer): string[] => {
      expect(answer.status, answer.text).toBe(200);
      const rows = answer.json().parameter as { name: string; part: { name: string; valueCode?: string; valueCoding?: Contained }[] }[]; // prettier-ignore
      return rows.filter(({ name }) => name === 'match').map(({ part }) => {
        const of = (name: string) => part.find((each) => each.name === name);
        return `${of('relationship')?.valueCode} ${of('concept')?.valueCoding?.code}`;
      }); // prettier-ignore
    };
    it('by the names of R5 and of R4, by instance, and without a map', async () => {
      for (const path of [
        `/ConceptMap/$translate?url=http://map.example/m&system=${CS}&sourceCode=dog`,
        `/ConceptMap/map/$translate?system=${CS}&code=dog`,
        `/ConceptMap/$translate?system=${CS}&code=dog&targetsystem=http://t.example`,
      ]) {
        const answer = await get(path);
        expect(matchesOf(answer), path).toEqual(['equivalent D']);
        expect(valuesOf(answer)['result']).toBe(true);
      }
      const coding = [{ name: 'sourceCoding', valueCoding: { system: CS, code: 'poodle' } }];
      expect(matchesOf(await post('/ConceptMap/map/$translate', coding))).toEqual(['source-is-narrower-than-target D']);
    });
    it('what is unmapped, what has no map, and backwards', async () => {
      const path = `/ConceptMap/map/$translate?system=${CS}`;
      expect(matchesOf(await get(`${path}&code=stone`))).toEqual(['related-to other']);
      expect(valuesOf(await get(`${path}&code=bird`))['result']).toBe(false);
      const back = await get('/ConceptMap/map/$translate?system=http://t.example&code=D&reverse=true');
      expect(matchesOf(back)).toEqual(['equivalent dog', 'source-is-broader-than-target poodle']);
      expect(matchesOf(await get('/ConceptMap/map/$translate?system=http://t.example&targetCode=D'))).toHaveLength(2);
      expectRefusal(await get('/ConceptMap/map/$translate'), 400, 'parameter-invalid', 'sourceCode');
      expectRefusal(await get('/ConceptMap/map/$translate?code=dog'), 400, 'parameter-invalid', 'system');
      expectRefusal(await get(`/ConceptMap/$translate?url=http://none.example&system=${CS}&code=dog`), 404, 'terminology-not-found'); // prettier-ignore
    });
  });

  it('sees a changed code system within two seconds', async () => {
    const system = { resourceType: 'CodeSystem', id: 'changing', url: 'http://changing.example', status: 'active', content: 'complete' }; // prettier-ignore
    await put({ ...system, concept: [{ code: 'old' }] });
    const path = '/CodeSystem/$validate-code?url=http://changing.example&code=new';
    expect(valuesOf(await get(path))['result']).toBe(false);
    await put({ ...system, concept: [{ code: 'new' }] });
    await expect.poll(async () => valuesOf(await get(path))['result'], { timeout: 5000, interval: 100 }).toBe(true);
  });

  it('leaves no defects', () => expect(server.defects).toEqual([]));
}
