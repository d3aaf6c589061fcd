import { afterAll, describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { openBodyWorkers } from '../../../runtime/body-workers/body-workers.js';
import { startBodyWorker } from '../../../runtime/body-workers/start-thread.js';
import { LARGE_BODY } from '../../../runtime/core/write/large-bodies.js';
import { createStoredProfiles } from '../../../runtime/core/validation/stored-profiles.js';
import { DEFAULT_LIMITS } from '../../../runtime/fhir/limits.js';
import type { Store } from '../../../runtime/store/store.js';
import { loadProfiles } from '../../../runtime/tables.js';
import { createRuleChecker } from '../../../runtime/validate/rules/create-rule-checker.js';
import type { Answer } from '../server.js';
import { expectRefusal, useWriteServer, word } from '../write-server.js';

const CORE = 'http://hl7.org/fhir/StructureDefinition/';
const VITALS = `${CORE}vitalsigns`;
const REQUIRED = `http://x.org/StructureDefinition/${word()}`;

const limits = { nesting: 100, entries: 100, resource: 15 * 2 ** 20 };

/** A blood pressure; without a subject it breaks the profile of vital signs, and no rule of the type. */
const observation = (more: object = {}): object => ({
  resourceType: 'Observation',
  meta: { profile: [VITALS] },
  status: 'final',
  category: [
    { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'vital-signs' }] },
  ],
  code: { coding: [{ system: 'http://loinc.org', code: '85353-1' }] },
  subject: { reference: 'Patient/1' },
  effectiveDateTime: '2024-01-01',
  valueQuantity: { value: 1, unit: 'cm', system: 'http://unitsofmeasure.org', code: 'cm' },
  ...more,
});
const broken = (more: object = {}): object => observation({ subject: undefined, ...more });

/** A profile of Patient that asks for a birth date, and fixes a marital status. */
const definition = (url: string, min: number): object => ({
  resourceType: 'StructureDefinition',
  ...{ url, name: 'Stored', status: 'active', kind: 'resource', abstract: false, type: 'Patient' },
  baseDefinition: 'http://hl7.org/fhir/StructureDefinition/Patient',
  derivation: 'constraint',
  differential: {
    element: [
      { id: 'Patient', path: 'Patient' },
      { id: 'Patient.birthDate', path: 'Patient.birthDate', min },
    ],
  },
});
const patient = (profile: string | undefined, more: object = {}): object => ({
  resourceType: 'Patient',
  ...(profile !== undefined && { meta: { profile: [profile] } }),
  active: true,
  ...more,
});

/** Writes are validated by profiles, whatever the store. */
export function profilesOnWrite(store: Store): void {
  let time = 0;
  const intake = openBodyWorkers(() => startBodyWorker({ zone: 'UTC', own: [], validation: 'full', limits }, 512), {
    body: DEFAULT_LIMITS.body,
    threads: 1,
  });
  afterAll(() => intake.close());

  /** A process on the store. */
  const useProcess = (required: ReadonlyMap<string, readonly string[]> = new Map(), base = store) => {
    const { store: own, ...profiles } = createStoredProfiles(base, tables, loadProfiles, () => time);
    return useWriteServer(own, {
      ...{ rules: createRuleChecker(tables), profiles: { ...profiles, required } },
      ...{ large: intake, limits: DEFAULT_LIMITS },
    });
  };
  const server = useProcess();
  const other = useProcess();
  const strict = useProcess(new Map([['Patient', [REQUIRED]]]));

  const expectBroken = (answer: Answer, ...words: string[]): void =>
    expectRefusal(answer, 422, 'profile-broken', ...words);
  const store1 = async (url: string, min: number, id = word()): Promise<string> => {
    const answer = await server.send('PUT', `/StructureDefinition/${id}`, { ...definition(url, min), id });
    expect(answer.status, answer.text).toBeLessThan(300);
    return id;
  };

  describe('profiles that a resource claims', () => {
    it('are checked by the version in force: a newer draft lifts nothing, and is checked by where it is asked for', async () => {
      const url = `http://x.org/StructureDefinition/${word()}`;
      const versions = [
        { version: '1', status: 'active', min: 1 },
        { version: '2', status: 'draft', min: 0 },
      ];
      for (const { min, ...more } of versions) {
        const stored = await server.send('POST', '/StructureDefinition', { ...definition(url, min), ...more });
        expect(stored.status, stored.text).toBe(201);
      }
      expectBroken(await server.send('POST', '/Patient', patient(url)), 'birthDate');
      expect((await server.send('POST', '/Patient', patient(`${url}|2`))).status).toBe(201);
    });

    it('are checked on create and update, with the place and the line', async () => {
      const created = await server.send('POST', '/Observation', observation());
      expect(created.status, created.text).toBe(201);
      const refused = await server.send('POST', '/Observation', JSON.stringify(broken(), null, 1));
      expectBroken(refused, 'subject', 'is missing');
      const [issue] = refused.json().issue;
      expect([issue.expression, issue.code, issue.details.coding.at(-1).code]).toEqual([
        ['Observation.subject'],
        'required',
        'cardinality',
      ]);
      expect(issue.details.text).toContain(`(profile ${VITALS})`);
      expect(issue.diagnostics).toMatch(/ \(line 1, column \d+\)$/);
      const id = word();
      expectBroken(await server.send('PUT', `/Observation/${id}`, broken({ id })), 'subject');
    });

    it('refuse a Coding without a system where a value set is required: once any code passed', async () => {
      const id = word();
      const url = `http://x.org/StructureDefinition/${id}`;
      const binding = { strength: 'required', valueSet: 'http://hl7.org/fhir/ValueSet/marital-status' };
      const element = [
        { id: 'Patient', path: 'Patient' },
        { id: 'Patient.maritalStatus', path: 'Patient.maritalStatus', binding },
      ];
      const stored = await server.send('PUT', `/StructureDefinition/${id}`, { ...definition(url, 0), id, differential: { element } }); // prettier-ignore
      expect(stored.status, stored.text).toBe(201);
      const married = (coding: object) => server.send('POST', '/Patient', patient(url, { maritalStatus: { coding: [coding] } })); // prettier-ignore
      expectBroken(await married({ code: 'M' }), 'maritalStatus', 'marital-status', '"M" is not in it');
      const system = 'http://terminology.hl7.org/CodeSystem/v3-MaritalStatus';
      expect((await married({ system, code: 'M' })).status).toBe(201);
    });

    it('are checked of what a patch makes', async () => {
      const id = word();
      expect((await server.send('PUT', `/Observation/${id}`, observation({ id }))).status).toBe(201);
      const json = { 'content-type': 'application/json-patch+json' };
      const patch = [{ op: 'remove', path: '/subject' }];
      expectBroken(await server.send('PATCH', `/Observation/${id}`, patch, json), 'What the patch makes', 'subject');
      const harmless = [{ op: 'replace', path: '/status', value: 'amended' }];
      expect((await server.send('PATCH', `/Observation/${id}`, harmless, json)).status).toBe(200);
    });

    it('are checked in batches and transactions', async () => {
      const entry = [{ resource: broken(), request: { method: 'POST', url: 'Observation' } }];
      expectBroken(await server.send('POST', '', { resourceType: 'Bundle', type: 'transaction', entry }), 'subject');
      const batch = await server.send('POST', '', { resourceType: 'Bundle', type: 'batch', entry });
      expect(batch.json().entry[0].response.status).toMatch(/^422/);
    });

    it('are checked of large bodies, which other threads read, and of patches of large resources', async () => {
      const large = (resource: object): string => JSON.stringify(resource) + ' '.repeat(LARGE_BODY);
      const created = await server.send('POST', '/Observation', large(observation()));
      expect(created.status, created.text).toBe(201);
      expectBroken(await server.send('POST', '/Observation', large(broken())), 'subject');
      const entry = [{ resource: broken(), request: { method: 'POST', url: 'Observation' } }];
      const bundle = { resourceType: 'Bundle', type: 'transaction', entry };
      expectBroken(await server.send('POST', '', large(bundle)), 'subject');
      const id = word();
      const note = [{ text: 'x'.repeat(LARGE_BODY) }];
      expect((await server.send('PUT', `/Observation/${id}`, observation({ id, note }))).status).toBe(201);
      const json = { 'content-type': 'application/json-patch+json' };
      const patch = [{ op: 'remove', path: '/subject' }];
      expectBroken(await server.send('PATCH', `/Observation/${id}`, patch, json), 'What the patch makes', 'subject');
    });

    it('are checked of what is contained, and of the entries of a Bundle that is stored', async () => {
      const contained = [{ ...broken(), id: 'o' }];
      const holder = patient(undefined, { contained, extension: [{ url: 'http://x.org/e', valueReference: { reference: '#o' } }] }); // prettier-ignore
      expectBroken(await server.send('POST', '/Patient', holder), 'Patient.contained[0].subject');
      const bundle = { resourceType: 'Bundle', type: 'collection', entry: [{ fullUrl: 'urn:uuid:61ebe359-bfdc-4613-8bf2-c5e300945f0a', resource: broken() }] }; // prettier-ignore
      expectBroken(await server.send('POST', '/Bundle', bundle), 'Bundle.entry[0].resource.subject');
    });

    it('bind codes that have no system of their own: they were never refused, and matched no slice', async () => {
      const url = `http://x.org/StructureDefinition/${word()}`;
      const valueSet = (id: string, system: string, codes: string[]) =>
        server.send('PUT', `/ValueSet/${id}`, {
          ...{ resourceType: 'ValueSet', id, url: `http://x.org/vs/${id}`, status: 'active' },
          compose: { include: [{ system, concept: codes.map((code) => ({ code })) }] },
        });
      const [genders, phones] = [word(), word()];
      expect((await valueSet(genders, 'http://hl7.org/fhir/administrative-gender', ['male', 'female'])).status).toBe(
        201,
      );
      expect((await valueSet(phones, 'http://hl7.org/fhir/contact-point-system', ['phone'])).status).toBe(201);
      const bound = (id: string) => ({ strength: 'required', valueSet: `http://x.org/vs/${id}` });
      const slicing = { discriminator: [{ type: 'value', path: 'system' }], rules: 'open' };
      const profile = await server.send('POST', '/StructureDefinition', {
        ...definition(url, 0),
        differential: {
          element: [
            { id: 'Patient', path: 'Patient' },
            { id: 'Patient.telecom', path: 'Patient.telecom', slicing },
            { id: 'Patient.telecom:p', path: 'Patient.telecom', sliceName: 'p', min: 1 },
            { id: 'Patient.telecom:p.system', path: 'Patient.telecom.system', min: 1, binding: bound(phones) },
            { id: 'Patient.gender', path: 'Patient.gender', binding: bound(genders) },
          ],
        },
      });
      expect(profile.status, profile.text).toBe(201);
      const telecom = [{ system: 'phone', value: '1' }];
      const good = await server.send('POST', '/Patient', patient(url, { gender: 'male', telecom }));
      expect(good.status, good.text).toBe(201);
      expectBroken(
        await server.send('POST', '/Patient', patient(url, { gender: 'other', telecom })),
        'gender',
        'other',
      );
      expectBroken(await server.send('POST', '/Patient', patient(url, { telecom: [{ system: 'email', value: '1' }] })), 'slice'); // prettier-ignore
    });

    it('that are unknown refuse nothing; $validate warns', async () => {
      const unknown = patient('http://x.org/unknown');
      expect((await server.send('POST', '/Patient', unknown)).status).toBe(201);
      const issues = (await server.send('POST', '/Patient/$validate', unknown)).json().issue;
      expect(issues.find((issue: { severity: string; details: { text: string } }) => issue.details.text.includes('is not known here')).severity).toBe('warning'); // prettier-ignore
    });
  });

  describe('a profile that cannot be used', () => {
    const url = `http://x.org/StructureDefinition/${word()}`;
    const why = `cannot be used (${url}: Patient.birthDate has patternCode; it is of type date)`;
    const demanding = useProcess(new Map([['Patient', [url]]]));
    const messages = async (path: string): Promise<string[]> => {
      const { issue } = (await server.send('POST', path, patient(url))).json();
      type Issue = { severity: string; details: { text: string } };
      return (issue as Issue[]).map(({ severity, details }) => `${severity} ${details.text}`);
    };

    it('refuses nothing that claims it; $validate says why, as an error where it was asked for or is required', async () => {
      const element = [{ id: 'Patient.birthDate', path: 'Patient.birthDate', patternCode: 'x' }];
      const stored = await server.send('POST', '/StructureDefinition', {
        ...definition(url, 0),
        differential: { element },
      });
      expect(stored.status, stored.text).toBe(201);
      time += 1999;
      expect((await server.send('POST', '/Patient', patient(url))).status).toBe(201);
      expect(await messages('/Patient/$validate')).toContainEqual(expect.stringMatching(/^warning/));
      expect((await messages('/Patient/$validate')).join()).toContain(why);
      const asked = await messages(`/Patient/$validate?profile=${encodeURIComponent(url)}`);
      expect(asked.find((each) => each.startsWith('error'))).toContain(why);
      expectBroken(await demanding.send('POST', '/Patient', patient(undefined)), why);
    });
  });

  describe('stored profiles', () => {
    it('that cannot be used are reported with the reason: once they were not known', async () => {
      const useless = async (more: object): Promise<string> => {
        const url = `http://x.org/StructureDefinition/${word()}`;
        const stored = await server.send('POST', '/StructureDefinition', { ...definition(url, 0), ...more });
        expect(stored.status, stored.text).toBe(201);
        expect((await server.send('POST', '/Patient', patient(url))).status).toBe(201);
        const { issue } = (await server.send('POST', `/Patient/$validate?profile=${url}`, patient(url))).json();
        expect(issue[0].severity).toBe('error');
        return issue[0].details.text;
      };
      const element = [{ id: 'Patient', path: 'Patient' }, { id: 'Patient.zork', path: 'Patient.zork', min: 1 }]; // prettier-ignore
      expect(await useless({ differential: { element } })).toMatch(/is stored, but cannot be used \(.*zork/);
      const baseDefinition = 'http://x.org/StructureDefinition/nowhere';
      expect(await useless({ baseDefinition })).toMatch(/is stored, but cannot be used \(.*nowhere/);
      expect(await useless({ derivation: 'specialization' })).toContain('its derivation is not "constraint"');
    });

    it('hold at once in the process that stored them, and in others within two seconds', async () => {
      const url = `http://x.org/StructureDefinition/${word()}`;
      const id = await store1(url, 0);
      for (const each of [server, other]) expect((await each.send('POST', '/Patient', patient(url))).status).toBe(201);
      await store1(url, 1, id);
      expectBroken(await server.send('POST', '/Patient', patient(url)), 'birthDate');
      time += 1999;
      expectBroken(await other.send('POST', '/Patient', patient(url)), 'birthDate');
      expect((await server.send('DELETE', `/StructureDefinition/${id}`)).status).toBe(200);
      expect((await server.send('POST', '/Patient', patient(url))).status).toBe(201);
      time += 1999;
      expect((await other.send('POST', '/Patient', patient(url))).status).toBe(201);
    });
  });

  describe('profiles that a profile imposes (StructureDefinition-structuredefinition-imposeProfile.html)', () => {
    const IMPOSE = 'http://hl7.org/fhir/StructureDefinition/structuredefinition-imposeProfile';
    const named = (): string => `http://x.org/StructureDefinition/${word()}`;
    const stored = async (url: string, min: number, imposes: readonly string[], more: object = {}): Promise<void> => {
      const extension = imposes.map((valueCanonical) => ({ url: IMPOSE, valueCanonical }));
      const answer = await server.send('POST', '/StructureDefinition', {
        ...definition(url, min),
        ...(extension.length > 0 && { extension }),
        ...more,
      });
      expect(answer.status, answer.text).toBe(201);
    };
    const send = (url: string, more: object = {}) => server.send('POST', '/Patient', patient(url, more));

    it('are checked as well: once they were passed over', async () => {
      const [imposing, imposed] = [named(), named()];
      await stored(imposed, 1, []);
      await stored(imposing, 0, [imposed]);
      expectBroken(await send(imposing), 'birthDate', 'is missing', imposed);
      expect((await send(imposing, { birthDate: '2000-01-01' })).status).toBe(201);
    });

    it('are those of the profiles that it is made of, too', async () => {
      const [imposing, imposed, derived] = [named(), named(), named()];
      await stored(imposed, 1, []);
      await stored(imposing, 0, [imposed]);
      await stored(derived, 0, [], { baseDefinition: imposing });
      expectBroken(await send(derived), 'birthDate', 'is missing', imposed);
    });

    it('may impose each other in a circle, and themselves', async () => {
      const [one, two, three] = [named(), named(), named()];
      await stored(one, 0, [one, two]);
      await stored(two, 0, [three]);
      await stored(three, 1, [one]);
      for (const url of [one, two, three]) {
        expectBroken(await send(url), 'birthDate');
        expect((await send(url, { birthDate: '2000-01-01' })).status).toBe(201);
      }
    });

    it('are warned of where they are not known, and are of the same type', async () => {
      const [imposing, other] = [named(), named()];
      await stored(imposing, 0, ['http://x.org/none']);
      expect((await send(imposing)).status).toBe(201);
      const { issue } = (await server.send('POST', '/Patient/$validate', patient(imposing))).json();
      const warning = (issue as { severity: string; details: { text: string } }[]).find(({ details }) => details.text.includes('http://x.org/none')); // prettier-ignore
      expect(warning).toMatchObject({ severity: 'warning' });
      expect(warning?.details.text).toContain(
        `the profile http://x.org/none, which ${imposing} imposes, is not known here`,
      );
      await stored(other, 0, [VITALS]);
      expectBroken(await send(other), 'is of type Patient; the profile is for Observation');
    });
  });

  describe('a rule with a literal of a date or a quantity', () => {
    it('refuses what breaks it: once it was not decided, and the write passed', async () => {
      const url = `http://x.org/StructureDefinition/${word()}`;
      const of = (expression: string, key: string) => ({ key, severity: 'error', human: key, expression });
      const constraint = [
        of('birthDate > @1900-01-01', 'born-1'),
        of('birthDate <= today()', 'born-2'),
        of("extension.value.ofType(Quantity).all($this > 10 'kg')", 'weight-1'),
      ];
      const stored = await server.send('POST', '/StructureDefinition', {
        ...definition(url, 0),
        differential: { element: [{ id: 'Patient', path: 'Patient', constraint }] },
      });
      expect(stored.status, stored.text).toBe(201);
      const weight = (value: number) => ({
        extension: [{ url: 'http://x.org/weight', valueQuantity: { value, system: 'http://unitsofmeasure.org', code: 'kg' } }], // prettier-ignore
      });
      const send = (more: object) => server.send('POST', '/Patient', patient(url, more));
      expectBroken(await send({ birthDate: '1899-12-31' }), 'born-1', 'birthDate > @1900-01-01');
      expectBroken(await send({ birthDate: '9000-01-01' }), 'born-2');
      expectBroken(await send(weight(9)), 'weight-1');
      for (const more of [{ birthDate: '1900' }, { birthDate: '1900-01-02', ...weight(11) }, {}]) {
        const right = await send(more);
        expect(right.status, right.text).toBe(201);
      }
      const issues = (await server.send('POST', '/Patient/$validate', patient(url, { birthDate: '1899' }))).json()
        .issue;
      expect(issues.map(({ severity }: { severity: string }) => severity)).toContain('error');
    });
  });

  describe('the length, range and place of values', () => {
    it('are those of the profile: once they were not looked at', async () => {
      const url = `http://x.org/StructureDefinition/${word()}`;
      const organization = 'http://hl7.org/fhir/StructureDefinition/Organization';
      const type = [{ code: 'Reference', targetProfile: [organization], aggregation: ['referenced'] }];
      const element = [
        { id: 'Patient', path: 'Patient' },
        { id: 'Patient.name.family', path: 'Patient.name.family', maxLength: 5, mustHaveValue: true },
        { id: 'Patient.birthDate', path: 'Patient.birthDate', minValueDate: '1900-01-01', maxValueDate: '2999-12-31' },
        { id: 'Patient.extension.value[x]', path: 'Patient.extension.value[x]', minValueQuantity: { value: 1, system: 'http://unitsofmeasure.org', code: 'kg' } }, // prettier-ignore
        { id: 'Patient.managingOrganization', path: 'Patient.managingOrganization', type },
      ];
      const stored = await server.send('POST', '/StructureDefinition', { ...definition(url, 0), differential: { element } }); // prettier-ignore
      expect(stored.status, stored.text).toBe(201);
      const send = (more: object) => server.send('POST', '/Patient', patient(url, more));
      const right = { name: [{ family: 'Short' }], birthDate: '1900-01-01', managingOrganization: { reference: 'Organization/1' } }; // prettier-ignore
      expect((await send(right)).status).toBe(201);
      expectBroken(await send({ name: [{ family: 'Longer' }] }), 'Patient.name[0].family', 'has 6 characters');
      expectBroken(await send({ name: [{ _family: { extension: [{ url: 'http://x.org/e', valueCode: 'x' }] } }] }), 'must have a value'); // prettier-ignore
      expectBroken(await send({ birthDate: '1899-12-31' }), 'the profile admits "1900-01-01" as the least value');
      expectBroken(await send({ birthDate: '3000-01-01' }), 'the profile admits "2999-12-31" as the greatest value');
      const weight = (value: number) => ({ extension: [{ url: 'http://x.org/w', valueQuantity: { value, system: 'http://unitsofmeasure.org', code: 'g' } }] }); // prettier-ignore
      expect((await send(weight(1000))).status).toBe(201);
      expectBroken(await send(weight(999)), 'as the least value');
      const contained = [{ resourceType: 'Organization', id: 'o', name: 'x' }];
      expectBroken(await send({ contained, managingOrganization: { reference: '#o' } }), 'which is contained');
    });
  });

  describe('slices that nothing tells apart', () => {
    type Slicing = { discriminator?: readonly object[]; rules: string };
    const sliced = async (slicing: Slicing, of: (name: string) => readonly object[]): Promise<string> => {
      const url = `http://x.org/StructureDefinition/${word()}`;
      const slices = ['a', 'b'].flatMap((name) => [
        { id: `Patient.identifier:${name}`, path: 'Patient.identifier', sliceName: name, min: 1, max: '1' },
        ...of(name),
      ]);
      const element = [{ id: 'Patient', path: 'Patient' }, { id: 'Patient.identifier', path: 'Patient.identifier', slicing }, ...slices]; // prettier-ignore
      const stored = await server.send('POST', '/StructureDefinition', { ...definition(url, 0), differential: { element } }); // prettier-ignore
      expect(stored.status, stored.text).toBe(201);
      return url;
    };
    const fixed = (part: string, value: (name: string) => object) => (name: string) => [{ id: `Patient.identifier:${name}.${part}`, path: `Patient.identifier.${part}`, ...value(name) }]; // prettier-ignore
    const bySystem = { discriminator: [{ type: 'value', path: 'system' }], rules: 'closed' };

    it.each([
      ['no discriminator', { rules: 'open' }, () => []],
      ['no discriminator, closed', { rules: 'closed' }, fixed('use', () => ({ min: 1 }))],
      ['a discriminator that the slices say nothing about', bySystem, fixed('use', () => ({ min: 1 }))],
      [
        'a discriminator that they say the same about',
        bySystem,
        fixed('system', () => ({ fixedUri: 'http://x.org/s' })),
      ],
    ] as const)(
      '%s: every value counted as one of the first slice, so valid data was refused',
      async (_, slicing, of) => {
        const profile = await sliced(slicing, of);
        const identifier = [{ value: '1' }, { value: '2' }, { value: '3', system: 'http://x.org/s' }];
        for (const some of [identifier, identifier.slice(0, 1), undefined]) {
          const resource = patient(profile, { identifier: some });
          const written = await server.send('POST', '/Patient', resource);
          expect(written.status, written.text).toBe(201);
          const { issue } = (await server.send('POST', '/Patient/$validate', resource)).json();
          const said = issue.filter(({ details }: { details: { text: string } }) => details.text.includes('no discriminator tells')); // prettier-ignore
          expect(said.map(({ severity }: { severity: string }) => severity)).toEqual(['information']);
        }
      },
    );

    it('slices that a discriminator tells apart are checked as before', async () => {
      const profile = await sliced(
        bySystem,
        fixed('system', (name) => ({ fixedUri: `http://x.org/${name}` })),
      );
      const both = ['a', 'b'].map((name) => ({ system: `http://x.org/${name}`, value: '1' }));
      expect((await server.send('POST', '/Patient', patient(profile, { identifier: both }))).status).toBe(201);
      expectBroken(await server.send('POST', '/Patient', patient(profile, { identifier: both.slice(1) })), 'of the slice a'); // prettier-ignore
      expectBroken(await server.send('POST', '/Patient', patient(profile, { identifier: [...both, { value: '2' }] })), 'belongs to no slice'); // prettier-ignore
    });
  });

  it('languages are well-formed tags: those that no registry names too, and private ones', async () => {
    for (const language of ['sgn', 'mis', 'i-default', 'x-private', 'de-x-mine', 'en-u-co-phonebk', 'xx']) {
      const written = await server.send('POST', '/Patient', patient(undefined, { language }));
      expect(written.status, written.text).toBe(201);
    }
    for (const language of ['de--AT', 'de-', 'en_US', 'd', 'abcdefghi', 'de-AT-DE', 'en-u', 'de-1996-1996']) {
      const written = await server.send('POST', '/Patient', patient(undefined, { language }));
      expect([written.status, written.text], language).toEqual([422, expect.stringContaining('language')]);
    }
  });

  describe('extensions', () => {
    const url = `http://x.org/StructureDefinition/${word()}`;
    const valid = { url, valueString: 'x' };
    const problems = async (resource: object): Promise<string[]> => {
      const { issue } = (await server.send('POST', '/Patient/$validate', resource)).json();
      type Issue = { severity: string; code: string; expression?: string[]; details: { text: string } };
      return (issue as Issue[])
        .filter(({ details }) => details.text.includes('extension'))
        .map(({ severity, code, expression = [] }) => [severity, code, ...expression].join(' '));
    };

    it('are checked by their definition in resources that claim nothing: once only where a profile was claimed', async () => {
      const wrong = [
        [{ extension: [{ url, valueCode: 'x' }] }, 'Patient.extension[0].value'],
        [{ extension: [{ url, extension: [{ url: 'part', valueString: 'x' }] }] }, 'Patient.extension[0].value'],
      ] as const;
      // What the definition says of others than the extension itself.
      const elsewhere = [
        [{ name: [{ family: 'x', extension: [valid] }] }, 'error extension Patient.name[0].extension[0]'],
        [{ birthDate: '2000', _birthDate: { extension: [valid] } }, 'error extension Patient.birthDate.extension[0]'],
        [{ modifierExtension: [valid] }, 'error extension Patient.modifierExtension[0]'],
        [{ meta: { extension: [valid] } }, 'error extension Patient.meta.extension[0]'],
        [{ extension: [valid, valid] }, 'information informational Patient.extension'],
      ] as const;
      for (const [more] of [...wrong, ...elsewhere]) expect((await server.send('POST', '/Patient', patient(undefined, more))).status).toBe(201); // prettier-ignore
      const stored = await server.send('POST', '/StructureDefinition', {
        ...definition(url, 0),
        type: 'Extension',
        kind: 'complex-type',
        baseDefinition: 'http://hl7.org/fhir/StructureDefinition/Extension',
        context: [{ type: 'element', expression: 'Patient' }],
        differential: {
          element: [
            { id: 'Extension', path: 'Extension', max: '1' },
            { id: 'Extension.url', path: 'Extension.url', fixedUri: url },
            { id: 'Extension.value[x]', path: 'Extension.value[x]', min: 1, type: [{ code: 'string' }] },
          ],
        },
      });
      expect(stored.status, stored.text).toBe(201);
      for (const [more, text] of wrong) {
        expectBroken(await server.send('POST', '/Patient', patient(undefined, more)), text, url);
        // A worker parses it.
        const large = JSON.stringify(patient(undefined, more)) + ' '.repeat(LARGE_BODY);
        expectBroken(await server.send('POST', '/Patient', large), text);
        const entry = [{ resource: patient(undefined, more), request: { method: 'POST', url: 'Patient' } }];
        expectBroken(await server.send('POST', '', { resourceType: 'Bundle', type: 'transaction', entry }), text);
      }
      const right = await server.send('POST', '/Patient', patient(undefined, { extension: [valid] }));
      expect(right.status, right.text).toBe(201);
      // It had refused what other clients wrote before it was stored.
      for (const [more, issue] of elsewhere) {
        const written = await server.send('POST', '/Patient', patient(undefined, more));
        expect(written.status, written.text).toBe(201);
        expect(await problems(patient(undefined, more))).toContain(issue);
      }
      expect(await problems(patient(undefined, { extension: [{ url, valueCode: 'x' }] }))).toEqual([
        'error structure Patient.extension[0].value',
      ]);
    });

    it.each([
      ['trial-use', 201],
      ['draft', 201],
      ['normative', 422],
    ])(
      'by a definition whose status is %s, which may be of another version than the data: %i',
      async (status, expected) => {
        const changing = `http://x.org/StructureDefinition/${word()}`;
        const marked = 'http://hl7.org/fhir/StructureDefinition/structuredefinition-standards-status';
        const stored = await server.send('POST', '/StructureDefinition', {
          ...definition(changing, 0),
          extension: [{ url: marked, valueCode: status }],
          ...{ type: 'Extension', kind: 'complex-type' },
          baseDefinition: 'http://hl7.org/fhir/StructureDefinition/Extension',
          context: [{ type: 'element', expression: 'Patient' }],
          differential: {
            element: [
              { id: 'Extension.url', path: 'Extension.url', fixedUri: changing },
              { id: 'Extension.value[x]', path: 'Extension.value[x]', type: [{ code: 'string' }] },
            ],
          },
        });
        expect(stored.status, stored.text).toBe(201);
        const other = patient(undefined, { extension: [{ url: changing, valueCode: 'x' }] });
        const written = await server.send('POST', '/Patient', other);
        expect(written.status, written.text).toBe(expected);
        expect(await problems(other)).toContain('error structure Patient.extension[0].value');
        // A profile that names the extension says what it has to be.
        const naming = `http://x.org/StructureDefinition/${word()}`;
        const slice = { sliceName: 'named', min: 1, type: [{ code: 'Extension', profile: [changing] }] };
        const profile = await server.send('POST', '/StructureDefinition', {
          ...definition(naming, 0),
          differential: {
            element: [
              { id: 'Patient.extension', path: 'Patient.extension', slicing: { discriminator: [{ type: 'value', path: 'url' }], rules: 'open' } }, // prettier-ignore
              { id: 'Patient.extension:named', path: 'Patient.extension', ...slice },
            ],
          },
        });
        expect(profile.status, profile.text).toBe(201);
        const claiming = patient(naming, { extension: [{ url: changing, valueCode: 'x' }] });
        expect((await server.send('POST', '/Patient', claiming)).status).toBe(422);
        const right = patient(naming, { extension: [{ url: changing, valueString: 'x' }] });
        expect((await server.send('POST', '/Patient', right)).status).toBe(201);
      },
    );

    it.each([
      ['a draft', { status: 'draft' }],
      ['retired', { status: 'retired' }],
      ['on trial', { extension: [{ url: `${CORE}structuredefinition-standards-status`, valueCode: 'draft' }] }],
    ])('are checked by the active definition where a newer one is %s', async (_, more) => {
      const twice = `http://x.org/StructureDefinition/${word()}`;
      const store = async (version: string, code: string, as: object): Promise<void> => {
        const stored = await server.send('POST', '/StructureDefinition', {
          ...{ ...definition(twice, 0), version, type: 'Extension', kind: 'complex-type', ...as },
          baseDefinition: `${CORE}Extension`,
          context: [{ type: 'element', expression: 'Patient' }],
          differential: {
            element: [
              { id: 'Extension.url', path: 'Extension.url', fixedUri: twice },
              { id: 'Extension.value[x]', path: 'Extension.value[x]', type: [{ code }] },
            ],
          },
        });
        expect(stored.status, stored.text).toBe(201);
      };
      const write = async (value: object): Promise<number> =>
        (await server.send('POST', '/Patient', patient(undefined, { extension: [{ url: twice, ...value }] }))).status;
      await store('1.9', 'string', {});
      await store('1.10', 'code', more);
      expect([await write({ valueString: 'x' }), await write({ valueCode: 'x' })]).toEqual([201, 422]);
      await store('2', 'code', {});
      expect([await write({ valueString: 'x' }), await write({ valueCode: 'x' })]).toEqual([422, 201]);
    });

    it('whose URL is that of a stored profile are not refused for it', async () => {
      const profile = `http://x.org/StructureDefinition/${word()}`;
      await store1(profile, 0);
      const holder = patient(undefined, { extension: [{ url: profile, valueCode: 'x' }] });
      expect((await server.send('POST', '/Patient', holder)).status).toBe(201);
      expect(await problems(holder)).toContain('error extension Patient.extension[0]');
    });

    it('that are not known refuse nothing; $validate tells, and warns where they change the meaning', async () => {
      const unknown = [{ url: 'http://x.org/unknown', valueString: 'x' }];
      const changed = patient(undefined, { modifierExtension: unknown });
      expect((await server.send('POST', '/Patient', changed)).status).toBe(201);
      expect(await problems(changed)).toEqual(['warning extension Patient.modifierExtension[0]']);
      expect(await problems(patient(undefined, { extension: unknown }))).toEqual([
        'information extension Patient.extension[0]',
      ]);
    });

    it('that change the meaning are refused by a profile, not for a claim of one that is not known', async () => {
      const modifierExtension = [{ url: 'http://x.org/unknown', valueString: 'x' }];
      const known = `http://x.org/StructureDefinition/${word()}`;
      await store1(known, 0);
      expectBroken(await server.send('POST', '/Patient', patient(known, { modifierExtension })), 'store its StructureDefinition first'); // prettier-ignore
      const claiming = patient('http://x.org/unknown-profile', { modifierExtension });
      expect((await server.send('POST', '/Patient', claiming)).status).toBe(201);
      expect(await problems(claiming)).toEqual(['warning extension Patient.modifierExtension[0]']);
    });
  });

  describe('the profiles of what references lead to (targetProfile)', () => {
    const born = `http://x.org/StructureDefinition/${word()}`;
    const about = `http://x.org/StructureDefinition/${word()}`;
    const of = (reference: string, more: object = {}): object =>
      observation({ meta: { profile: [about] }, subject: { reference }, ...more });
    const person = (isBorn: boolean): object => patient(undefined, isBorn ? { birthDate: '2000' } : {});
    const wrong = (reference: string) => [
      'Observation.subject',
      `refers to "${reference}"`,
      `does not conform to ${born}`,
    ];
    const bundleOf = (type: string, ...entry: object[]): object => ({ resourceType: 'Bundle', type, entry });

    it('hold for stored resources: once those were not looked at', async () => {
      await store1(born, 1);
      const type = [{ code: 'Reference', targetProfile: [born] }];
      const stored = await server.send('POST', '/StructureDefinition', {
        ...definition(about, 0),
        type: 'Observation',
        baseDefinition: 'http://hl7.org/fhir/StructureDefinition/Observation',
        differential: {
          element: [
            { id: 'Observation', path: 'Observation' },
            { id: 'Observation.subject', path: 'Observation.subject', type },
          ],
        },
      });
      expect(stored.status, stored.text).toBe(201);
      const ids = { right: word(), wrong: word(), changed: word() };
      for (const id of Object.values(ids)) {
        expect((await server.send('PUT', `/Patient/${id}`, { ...person(id !== ids.wrong), id })).status).toBe(201);
      }
      expect((await server.send('PUT', `/Patient/${ids.changed}`, { ...person(false), id: ids.changed })).status).toBe(200); // prettier-ignore
      const right = await server.send('POST', '/Observation', of(`Patient/${ids.right}`));
      expect(right.status, right.text).toBe(201);
      expectBroken(await server.send('POST', '/Observation', of(`Patient/${ids.wrong}`)), ...wrong(`Patient/${ids.wrong}`)); // prettier-ignore
      // Of a target that is missing or on another server, only the type is compared.
      for (const reference of [`Patient/${word()}`, `http://elsewhere.org/fhir/Patient/${ids.wrong}`]) {
        expect((await server.send('POST', '/Observation', of(reference))).status).toBe(201);
      }
      expectBroken(await server.send('POST', '/Observation', of('Group/1')), 'the profile admits');
      // A version is the one that is named.
      expect((await server.send('POST', '/Observation', of(`Patient/${ids.changed}/_history/1`))).status).toBe(201);
      expectBroken(await server.send('POST', '/Observation', of(`Patient/${ids.changed}/_history/2`)), 'does not conform'); // prettier-ignore
      const id = /Observation\/([^/]+)/.exec(right.headers['location'] ?? '')?.[1] ?? '';
      const patch = [{ op: 'replace', path: '/subject/reference', value: `Patient/${ids.wrong}` }];
      const json = { 'content-type': 'application/json-patch+json' };
      expectBroken(await server.send('PATCH', `/Observation/${id}`, patch, json), 'does not conform');
      const validated = (await server.send('POST', '/Observation/$validate', of(`Patient/${ids.wrong}`))).json();
      expect(validated.issue[0]).toMatchObject({ severity: 'error', expression: ['Observation.subject'] });
    });

    it('hold for what is contained, and for entries of a Bundle', async () => {
      const contained = (isBorn: boolean) => of('#p', { contained: [{ ...person(isBorn), id: 'p' }] });
      expect((await server.send('POST', '/Observation', contained(true))).status).toBe(201);
      expectBroken(await server.send('POST', '/Observation', contained(false)), ...wrong('#p'));
      const urn = 'urn:uuid:61ebe359-bfdc-4613-8bf2-c5e300945f0b';
      const collection = (isBorn: boolean) => bundleOf('collection', { fullUrl: urn, resource: person(isBorn) }, { fullUrl: 'urn:uuid:61ebe359-bfdc-4613-8bf2-c5e300945f0c', resource: of(urn) }); // prettier-ignore
      expect((await server.send('POST', '/Bundle', collection(true))).status).toBe(201);
      expectBroken(await server.send('POST', '/Bundle', collection(false)), `refers to "${urn}"`, 'does not conform');
    });

    it('hold for what the same transaction writes, as it writes it', async () => {
      const urn = 'urn:uuid:61ebe359-bfdc-4613-8bf2-c5e300945f0b';
      const id = word();
      const created = (isBorn: boolean) => ({ fullUrl: urn, resource: person(isBorn), request: { method: 'POST', url: 'Patient' } }); // prettier-ignore
      const updated = (isBorn: boolean) => ({ resource: { ...person(isBorn), id }, request: { method: 'PUT', url: `Patient/${id}` } }); // prettier-ignore
      const observed = (reference: string) => ({ resource: of(reference), request: { method: 'POST', url: 'Observation' } }); // prettier-ignore
      const send = (...entry: object[]) => server.send('POST', '', bundleOf('transaction', ...entry));
      expect((await send(created(true), observed(urn))).status).toBe(200);
      expectBroken(await send(created(false), observed(urn)), ...wrong(urn));
      const first = await send(observed(`Patient/${id}`), updated(true));
      expect(first.status, first.text).toBe(200);
      expectBroken(await send(observed(`Patient/${id}`), updated(false)), ...wrong(`Patient/${id}`));
      expect((await server.send('PUT', `/Patient/${id}`, { ...person(false), id })).status).toBe(200);
      expect((await send(observed(`Patient/${id}`), updated(true))).status).toBe(200);
    });
  });

  describe('a rule that looks at more than the resource', () => {
    it('asks for value sets, targets and profiles: once it was not decided', async () => {
      const url = `http://x.org/StructureDefinition/${word()}`;
      const [set, id] = [word(), word()];
      const valueSet = {
        ...{ resourceType: 'ValueSet', id: set, url: `http://x.org/vs/${set}`, status: 'active' },
        compose: { include: [{ system: 'http://hl7.org/fhir/administrative-gender', concept: [{ code: 'male' }] }] },
      };
      expect((await server.send('PUT', `/ValueSet/${set}`, valueSet)).status).toBe(201);
      expect((await server.send('PUT', `/Organization/${id}`, { resourceType: 'Organization', id, name: 'A' })).status).toBe(201); // prettier-ignore
      const of = (expression: string, key: string) => ({ key, severity: 'error', human: key, expression });
      const constraint = [
        of(`gender.exists() implies gender.memberOf('${valueSet.url}')`, 'look-1'),
        of("managingOrganization.resolve().name != 'A'", 'look-2'),
        of(`photo.exists() implies conformsTo('${url}-strict')`, 'look-3'),
      ];
      const element = [{ id: 'Patient', path: 'Patient', constraint }];
      await store1(`${url}-strict`, 1);
      const stored = await server.send('POST', '/StructureDefinition', { ...definition(url, 0), differential: { element } }); // prettier-ignore
      expect(stored.status, stored.text).toBe(201);
      const send = (more: object) => server.send('POST', '/Patient', patient(url, more));
      expect((await send({ gender: 'male', managingOrganization: { reference: `Organization/${word()}` } })).status).toBe(201); // prettier-ignore
      expectBroken(await send({ gender: 'female' }), 'look-1');
      expectBroken(await send({ managingOrganization: { reference: `Organization/${id}` } }), 'look-2');
      const photo = [{ url: 'http://x.org/photo' }];
      expectBroken(await send({ photo }), 'look-3');
      expect((await send({ photo, birthDate: '2000' })).status).toBe(201);
    });
  });

  describe('a rule of a profile that costs too much to be checked', () => {
    const rule = {
      ...{ key: 'slow-1', severity: 'error', human: 'Nothing is named never' },
      expression: 'descendants().where(%resource.descendants().count() < 0).empty()',
    };
    const name = Array.from({ length: 2000 }, () => ({ text: 'x' }));
    const url = `http://x.org/StructureDefinition/${word()}`;
    const mine = useProcess(new Map([['Patient', [url]]]));
    const storeSlow = async (): Promise<void> => {
      const { differential, ...rest } = definition(url, 0) as { differential: { element: object[] } };
      const [root, ...others] = differential.element;
      const element = [{ ...root, constraint: [rule] }, ...others];
      const answer = await server.send('POST', '/StructureDefinition', { ...rest, differential: { element } });
      expect(answer.status, answer.text).toBe(201);
    };

    it('refuses the write and names rule, limit and profile, claimed or required; so does $validate', async () => {
      await storeSlow();
      expect((await server.send('POST', '/Patient', patient(url))).status).toBe(201);
      const words = ['slow-1', 'more than 200,000', url];
      const refused = await server.send('POST', '/Patient', patient(url, { name }));
      expectRefusal(refused, 422, 'rules-too-costly', ...words);
      expect(refused.json().issue[0]).toMatchObject({ code: 'too-costly', expression: ['Patient'] });
      expectRefusal(
        await mine.send('POST', '/Patient', patient(undefined, { name })),
        422,
        'rules-too-costly',
        ...words,
      );
      const issues = (await server.send('POST', '/Patient/$validate', patient(url, { name }))).json().issue;
      expect(issues.filter(({ code }: { code: string }) => code === 'too-costly')).toMatchObject([
        { severity: 'error' },
      ]);
      const entry = [{ resource: patient(url, { name }), request: { method: 'POST', url: 'Patient' } }];
      const batch = await server.send('POST', '', { resourceType: 'Bundle', type: 'batch', entry });
      expect(batch.json().entry[0].response.status).toMatch(/^422/);
    });
  });

  describe('profiles that the configuration requires', () => {
    it('hold for resources that claim nothing; without their definition nothing is written', async () => {
      const refused = await strict.send('POST', '/Patient', patient(undefined));
      expectBroken(refused, REQUIRED, 'is not stored any more');
      // $validate says the same: once it warned only.
      const validated = await strict.send('POST', '/Patient/$validate', patient(undefined));
      const [issue] = validated.json().issue;
      expect([validated.status, issue.severity, issue.code], validated.text).toEqual([200, 'error', 'not-found']);
      expect(issue.details.text).toBe(refused.json().issue[0].details.text);
      await store1(REQUIRED, 1);
      time += 1999;
      expectBroken(await strict.send('POST', '/Patient', patient(undefined)), 'birthDate');
      const found = (await strict.send('POST', '/Patient/$validate', patient(undefined))).json().issue;
      expect(found[0]).toMatchObject({ severity: 'error', expression: ['Patient.birthDate'] });
      const right = await strict.send('POST', '/Patient', patient(undefined, { birthDate: '2000-01-01' }));
      expect(right.status, right.text).toBe(201);
      expect((await server.send('POST', '/Patient', patient(undefined))).status).toBe(201);
    });
  });
}
