import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import { EVENTUALLY } from '../../eventually.js';
import { command } from '../auth.js';
import { PARAMETERS, REFUSED, REFUSED_SEARCHES, RESOURCES, SEARCHES } from './stored-parameters-data.js';
import { complaint, parameter, startClient, type Client } from './stored-parameters-subject.js';

/** How soon other processes, and commands, are followed. */
const transaction = (resources: readonly object[]): object => ({
  resourceType: 'Bundle',
  type: 'transaction',
  entry: resources.map((resource) => {
    const { resourceType, id } = resource as { resourceType: string; id: string };
    return { resource, request: { method: 'PUT', url: `${resourceType}/${id}` } };
  }),
});

/**
 * Search parameters that come and go while servers run.
 *
 * @param store a store that nobody has used
 */
export function storedParameters(store: string): void {
  let one: Client;
  let other: Client;
  beforeAll(async () => {
    one = await startClient(store);
    other = await startClient(store);
    // What was there before, and what comes with the parameters.
    expect((await one.send('POST', '', transaction(RESOURCES.slice(0, 3)))).status).toBe(200);
    expect((await one.send('POST', '', transaction(PARAMETERS))).status).toBe(200);
    expect((await one.send('POST', '', transaction(RESOURCES.slice(3)))).status).toBe(200);
  }, 60_000);
  afterAll(async () => {
    await Promise.all([one?.server.close(), other?.server.close()]);
  });

  const put = (resource: Readonly<Record<string, unknown>>) =>
    one.send('PUT', `${String(resource['resourceType'])}/${String(resource['id'])}`, resource);
  const reindex = async () => expect(await command('reindex', '--store', store)).toMatchObject({ code: 0 });

  it('what is written from then on is found at once, and searches say that the rest may be missing', async () => {
    const warning =
      'Index entries of Observation.x-measure were made by other definitions: ' +
      'searches by them may miss or add results until kiln reindex is run';
    const search = 'Observation?x-measure=5000|http://unitsofmeasure.org|g';
    expect(await one.search(search)).toEqual({ found: ['Observation/yes'], warnings: [warning] });
    expect(await one.search('Patient?x-prefix=dame')).toEqual({
      found: [],
      warnings: [warning.replace('Observation.x-measure', 'Patient.x-prefix')],
    });
    // Another process learns of it by itself.
    await vi.waitFor(async () => expect((await other.search(search)).found).toEqual(['Observation/yes']), EVENTUALLY);
  });

  describe('once the index is made anew', () => {
    beforeAll(async () => {
      await reindex();
      // One that starts knows them, and that their index is current, before it serves.
      await one.server.close();
      one = await startClient(store);
    });

    it.each(SEARCHES)('%s', async (search, found) => {
      expect(await one.found(search)).toEqual(found);
    });

    it.each(REFUSED_SEARCHES)('%s is refused', async (search, code) => {
      expect(complaint(await one.send('GET', search)).slice(0, 2)).toEqual([400, code]);
    });

    it('the CapabilityStatement lists them', async () => {
      const { rest } = (await one.send('GET', 'metadata')).body as unknown as {
        rest: [
          {
            resource: {
              type: string;
              searchInclude: string[];
              searchParam: { name: string; documentation: string }[];
            }[];
          },
        ];
      };
      const patient = rest[0].resource.find(({ type }) => type === 'Patient')!;
      expect(patient.searchInclude).toContain('Patient:x-friend');
      const visit = patient.searchParam.find(({ name }) => name === 'x-visit');
      expect(visit).toMatchObject({ type: 'date', definition: 'http://example.org/SearchParameter/x-visit' });
      expect(visit?.documentation).toContain('Prefixes: eq, ge.');
    });

    it('a search is explained by them', async () => {
      const { code, out } = await command('explain-search', 'Patient?x-colour=red', '--store', store);
      expect([code, out]).toEqual([0, expect.stringContaining('x-colour')]);
    });

    it.each(REFUSED)('refused: %s', async (_name, more, code, element, words) => {
      const resource = { ...parameter('x-refused', { expression: 'Patient.id', ...more }), id: 'x-refused' };
      const [status, detail, expression, text] = complaint(await put(resource));
      expect([status, detail, expression]).toEqual([422, code, `SearchParameter.${element}`]);
      expect(text).toMatch(words);
      expect((await one.send('GET', 'SearchParameter/x-refused')).status).toBe(404);
      // What is not meant to be in effect need not be right.
      if (detail === 'search-parameter-conflict') {
        expect((await put({ ...resource, id: 'x-draft', status: 'draft' })).status).toBeLessThan(202);
      }
    });

    it('another server finds the same, and notices by itself that the index is current', async () => {
      await vi.waitFor(() => other.found('Patient?x-prefix=dame'), EVENTUALLY);
      for (const [search, found] of SEARCHES) expect(await other.found(search)).toEqual(found);
    });

    it('a chain by one of them says that it does not look into what is contained, once something is', async () => {
      const chain = 'Observation?subject:Patient.x-colour=red';
      const { found, warnings } = await one.search(chain);
      expect(warnings).toEqual([]);
      const contained = [{ resourceType: 'Patient', id: 'p', gender: 'other' }];
      await put({ resourceType: 'Basic', id: 'holds', code: { text: 'x' }, subject: { reference: '#p' }, contained });
      const warning =
        '"subject:Patient.x-colour" did not look into contained resources: "x-colour" is a search parameter that is stored here, and those are not found by such';
      expect(await one.search(chain)).toEqual({ found, warnings: [warning] });
      expect((await one.search('Observation?subject:Patient.gender=other')).warnings).toEqual([]);
      expect((await one.send('DELETE', 'Basic/holds')).status).toBeLessThan(205);
      expect((await one.search(chain)).warnings).toEqual([]);
    });

    it('two of one transaction do not collide either, nor two of a batch', async () => {
      const twins = ['x-one', 'x-two'].map((id) => ({
        ...parameter('x-twin', { expression: 'Patient.id' }),
        id,
        url: `urn:${id}`,
      }));
      const [status, code] = complaint(await one.send('POST', '', transaction(twins)));
      expect([status, code]).toEqual([422, 'search-parameter-conflict']);
      const batch = { ...transaction(twins), type: 'batch' };
      const { entry = [] } = (await one.send('POST', '', batch)).body as unknown as {
        entry?: readonly { response: { status: string } }[];
      };
      expect(entry.map(({ response }) => response.status.slice(0, 3)).sort()).toEqual(['201', '422']);
      for (const { id } of twins) await one.send('DELETE', `SearchParameter/${id}`);
    });

    it('only what is active is in effect: draft, retired, deleted, there again', async () => {
      const mine = parameter('x-mine', { expression: 'Patient.name.suffix', type: 'string' });
      const search = 'Patient?x-mine=sr';
      const isKnown = async () => (await one.send('GET', search)).status === 200;
      expect((await put({ ...mine, status: 'draft' })).status).toBe(201);
      expect(await isKnown()).toBe(false);
      expect((await put(mine)).status).toBe(200);
      expect(await isKnown()).toBe(true);
      expect((await put({ ...mine, status: 'retired' })).status).toBe(200);
      expect(await isKnown()).toBe(false);
      expect((await put(mine)).status).toBe(200);
      expect((await one.send('DELETE', 'SearchParameter/x-mine')).status).toBe(200);
      expect(await isKnown()).toBe(false);
      expect((await put(mine)).status).toBe(201);
      expect(await isKnown()).toBe(true);
      // Nobody made entries meanwhile.
      expect((await one.search(search)).warnings).toHaveLength(1);
      expect((await one.send('DELETE', 'SearchParameter/x-mine')).status).toBe(200);
    });

    it('a composite goes out of effect with what it is made of, and the CapabilityStatement says so', async () => {
      const told = async () => {
        const { rest } = (await one.send('GET', 'metadata')).body as unknown as { rest: [{ documentation?: string }] };
        return rest[0].documentation ?? '';
      };
      const part = PARAMETERS.find(({ id }) => id === 'x-measure')!;
      expect(await told()).not.toContain('x-measured');
      expect((await one.send('DELETE', 'SearchParameter/x-measure')).status).toBe(200);
      expect((await one.send('GET', 'Observation?x-measured=mass$5')).status).toBe(400);
      expect(await told()).toMatch(/^Active SearchParameters that are not in effect .*: http:\S*x-measured$/);
      expect((await put(part)).status).toBe(201);
      expect(await told()).not.toContain('not in effect');
      expect((await one.search('Observation?x-measured=mass$5')).found).toEqual(['Observation/yes']);
      await reindex();
    });

    it('another expression finds other things, and what was made by the one before is not current', async () => {
      const before = PARAMETERS.find(({ id }) => id === 'x-phone')!;
      expect((await put({ ...before, expression: "Patient.telecom.where(system = 'email').value" })).status).toBe(200);
      expect((await put(RESOURCES[2]!)).status).toBe(200);
      expect((await one.search('Patient?x-phone=0999')).warnings).toHaveLength(1);
      const changed = { ...RESOURCES[2]!, telecom: [{ system: 'email', value: '0777' }] };
      expect((await put(changed)).status).toBe(200);
      expect((await one.search('Patient?x-phone=0777')).found).toEqual(['Patient/no']);
    });

    it('an expression that fails on a resource: it is stored, and searches say that it may be missing', async () => {
      const patient = { resourceType: 'Patient', id: 'two', name: [{ suffix: ['sr', 'jr'] }] };
      expect((await put(patient)).status).toBe(201);
      const { found, warnings } = await one.search('Patient?x-single=sr');
      expect([found, warnings]).toEqual([[], [expect.stringMatching(/^The expression of Patient\.x-single failed/)]]);
      // What a write would not find it would create a second time.
      const refused = await one.send('PUT', 'Patient?x-single=sr', {
        resourceType: 'Patient',
        name: [{ suffix: ['sr'] }],
      });
      expect(complaint(refused).slice(1, 2)).toEqual(['index-not-current']);
      expect((await put({ ...patient, name: [{ suffix: ['sr'] }] })).status).toBe(200);
      expect(await one.found('Patient?x-single=sr')).toEqual(['Patient/two']);
    });

    it('codes may be names that all objects have', async () => {
      const types: readonly (readonly [string, string, string])[] = [
        ['constructor', 'string', 'Patient.name.family'],
        ['toString', 'token', 'Patient.gender'],
        ['hasOwnProperty', 'reference', 'Patient.managingOrganization'],
        ['valueOf', 'date', 'Patient.birthDate'],
        ['isPrototypeOf', 'number', 'Patient.name.given.count()'],
      ];
      for (const [code, type, expression] of types) {
        const target = type === 'reference' ? { target: ['Organization'] } : {};
        expect((await put(parameter(code, { type, expression, ...target }))).status).toBe(201);
      }
      const [, , , text] = complaint(
        await put({ ...parameter('__proto__', { expression: 'Patient.id' }), id: 'proto' }),
      );
      expect(text).toMatch(/a letter first/);
      const managingOrganization = { reference: 'Organization/o' };
      const named = {
        ...{ resourceType: 'Patient', id: 'named', name: [{ family: 'Object', given: ['a', 'b'] }] },
        ...{ gender: 'other', birthDate: '1970-01-02', managingOrganization },
      };
      expect((await put({ resourceType: 'Organization', id: 'o', name: 'O' })).status).toBe(201);
      expect((await put(named)).status).toBe(201);
      const searches = [
        ...['constructor=object', 'constructor:exact=Object', 'toString=other', 'valueOf=lt1980', 'isPrototypeOf=2'],
        ...['hasOwnProperty=Organization/o', 'hasOwnProperty:Organization=o', 'hasOwnProperty.name=o'],
        ...['constructor:missing=false', '_sort=constructor&toString=other', '_sort=-valueOf&toString=other'],
        ...['_filter=constructor sw "obj" and toString eq "other"', '_filter=hasOwnProperty.name eq "o"'],
        ...['_filter=isPrototypeOf pr true and _id eq named'],
      ];
      for (const each of searches) {
        expect((await one.search(`Patient?${each.replaceAll(' ', '%20')}`)).found, each).toEqual(['Patient/named']);
      }
      const included = ['Patient/named', 'Organization/o'];
      expect((await one.search('Patient?toString=other&_include=Patient:hasOwnProperty')).found).toEqual(included);
      expect((await one.search('Organization?_has:Patient:hasOwnProperty:constructor=object')).found).toEqual([
        'Organization/o',
      ]);
      // And what is none of theirs is refused as what there is not.
      for (const each of [
        'constructor:constructor=a',
        'name:toString=a',
        'valueOf=constructor',
        '__proto__=1',
        '_elements=constructor',
      ]) {
        expect((await one.send('GET', `Patient?${each}`)).status, each).toBe(400);
      }
      expect((await one.send('GET', 'Patient?_text=constructor')).status).toBe(200);
      const described = (await one.send('GET', 'metadata')).body as unknown as {
        rest: [{ resource: { type: string; searchParam: { name: string }[] }[] }];
      };
      const listed = described.rest[0].resource.find(({ type }) => type === 'Patient')!.searchParam;
      expect(listed.map(({ name }) => name)).toEqual(expect.arrayContaining(types.map(([code]) => code)));
      for (const [code] of types) expect((await one.send('DELETE', `SearchParameter/${code}`)).status).toBe(200);
    });

    it('kiln load writes entries of them, and puts those that it loads into effect', async () => {
      const { mkdtempSync, rmSync, writeFileSync } = await import('node:fs');
      const { join } = await import('node:path');
      const { tmpdir } = await import('node:os');
      const folder = mkdtempSync(join(tmpdir(), 'kiln-parameters-'));
      const extension = [{ url: 'http://example.org/colour', valueCoding: { system: 'urn:test', code: 'blue' } }];
      writeFileSync(join(folder, 'a.json'), JSON.stringify({ resourceType: 'Patient', id: 'blue', extension }));
      writeFileSync(join(folder, 'b.json'), JSON.stringify(parameter('x-loaded', { expression: 'Patient.id' })));
      expect(await command('load', folder, '--store', store)).toMatchObject({ code: 0 });
      rmSync(folder, { recursive: true });
      expect(await one.found('Patient?x-colour=blue')).toEqual(['Patient/blue']);
      await vi.waitFor(() => one.search('Patient?x-loaded=blue'), EVENTUALLY);
    });
  });
}
