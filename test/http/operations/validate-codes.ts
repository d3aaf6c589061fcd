import { beforeAll, describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { createPatchers } from '../../../runtime/patch/apply/patchers.js';
import { createStoredProfiles } from '../../../runtime/core/validation/stored-profiles.js';
import { createCodeRefusals } from '../../../runtime/operations/validation/code-refusals.js';
import type { Store } from '../../../runtime/store/store.js';
import { loadProfiles } from '../../../runtime/tables.js';
import { createRuleChecker } from '../../../runtime/validate/rules/create-rule-checker.js';
import { scopedServer } from '../auth/scoped.js';
import type { Answer } from '../server.js';
import { word } from '../write-server.js';

const CS = `http://codes.example/${word()}`;
const UCUM = 'http://unitsofmeasure.org';

interface Issue {
  readonly severity: string;
  readonly details: { readonly text: string; readonly coding: readonly { readonly code: string }[] };
  readonly expression?: readonly string[];
}

const text = { status: 'generated', div: '<div xmlns="http://www.w3.org/1999/xhtml">x</div>' };
const basic = (...coding: readonly object[]) => ({ resourceType: 'Basic', text, code: { coding } });
const measured = (value: object) => ({ resourceType: 'Observation', text, status: 'final', code: { text: 'x' }, ...value }); // prettier-ignore
const quantity = (code: string, more: object = {}) => measured({ valueQuantity: { value: 1, system: UCUM, code, ...more } }); // prettier-ignore

/** What `$validate` says of codes beside value sets, whatever the store. */
export function validateCodes(store: Store): void {
  const server = scopedServer(store, { rules: createRuleChecker(tables) });
  const put = async (body: { resourceType: string; id: string; [name: string]: unknown }): Promise<void> => {
    const answer = await server.all.send('PUT', `/${body.resourceType}/${body.id}`, body);
    expect(answer.status, answer.text).toBeLessThan(300);
  };
  /** What is said of codes and of bindings: severity, key and place; the texts beside them. */
  const toldBy = (answer: Answer): readonly (readonly [string, string])[] => {
    expect(answer.status, answer.text).toBe(200);
    return (answer.json().issue as Issue[])
      .map(({ severity, details: { coding = [], text: words }, expression = [] }) => {
        return [[severity, coding.at(-1)?.code, ...expression].join(' '), words] as const;
      })
      .filter(([place]) => / (?:code|display|binding|more-faults) /.test(`${place} `))
      .filter(([place]) => !place.includes('Observation.category') && !place.startsWith('warning binding Basic.code'));
  };
  const validate = async (body: { resourceType: string }, as = server.all) =>
    toldBy(await as.send('POST', `/${body.resourceType}/$validate`, body));
  const placesOf = async (body: { resourceType: string }): Promise<readonly string[]> =>
    (await validate(body)).map(([place]) => place);
  const oneText = async (body: { resourceType: string }): Promise<string> => {
    const issues = await validate(body);
    expect(issues).toHaveLength(1);
    return issues[0]![1];
  };

  beforeAll(async () => {
    const head = { resourceType: 'CodeSystem', status: 'active', content: 'complete', caseSensitive: true };
    const red = { code: 'red', display: 'Red', designation: [{ language: 'de', value: 'Rot' }] };
    const name = word();
    await put({ ...head, id: `${name}-1`, url: CS, version: '1', concept: [red] });
    await put({ ...head, id: `${name}-2`, url: CS, version: '2', concept: [red, { code: 'Blue', display: 'Blue' }] });
    await put({ ...head, id: `${name}-l`, url: `${CS}/loose`, caseSensitive: false, concept: [{ code: 'Red' }] });
    for (const content of ['fragment', 'example', 'not-present']) {
      const concept = content === 'not-present' ? {} : { concept: [{ code: 'red', display: 'Red' }] };
      await put({ ...head, id: `${name}-${content}`, url: `${CS}/${content}`, content, ...concept });
    }
    await put({
      ...{ ...head, id: `${name}-s`, url: `${CS}/more`, content: 'supplement', supplements: CS },
      concept: [{ code: 'red', designation: [{ language: 'fr', value: 'Rouge' }] }],
    });
  });

  describe('a code outside of required value sets (terminologies.html#code)', () => {
    const coded = (code: string, more: object = {}) => basic({ system: CS, code, ...more });
    const ERROR = 'error code Basic.code.coding[0].code';

    it('is an error where its code system is complete and does not have it, stored or shipped', async () => {
      expect(await oneText(coded('green'))).toBe(
        `Basic.code.coding[0].code: The code system "${CS}" has no code "green" (code) (line 1, column 180)`,
      );
      expect(await placesOf(coded('red'))).toEqual([]);
      expect(await placesOf(basic({ system: 'http://hl7.org/fhir/administrative-gender', code: 'boy' }))).toEqual([
        ERROR,
      ]);
      expect(await placesOf(basic({ system: 'http://terminology.hl7.org/CodeSystem/v3-MaritalStatus', code: 'none' }))).toEqual([ERROR]); // prettier-ignore
      const both = basic({ system: CS, code: 'red' }, { system: CS, code: 'green' });
      expect(await placesOf(both)).toEqual(['error code Basic.code.coding[1].code']);
    });

    it('counts with case, where the code system does, and says how the code is written', async () => {
      expect(await oneText(coded('blue'))).toContain('has no code "blue"; it has "Blue", and case counts');
      expect(await placesOf(basic({ system: `${CS}/loose`, code: 'RED' }))).toEqual([]);
    });

    it('is looked up in the version that it names; of one that is not here nothing is said', async () => {
      expect(await placesOf(coded('Blue', { version: '2' }))).toEqual([]);
      expect(await placesOf(coded('Blue', { version: '1' }))).toEqual([ERROR]);
      expect(await placesOf(coded('green', { version: '3' }))).toEqual([]);
    });

    it.each(['fragment', 'example', 'not-present'])('of a code system that is %s is passed over', async (content) => {
      expect(await placesOf(basic({ system: `${CS}/${content}`, code: 'green' }))).toEqual([]);
    });

    it('of an unknown code system is passed over; a supplement is none', async () => {
      expect(await placesOf(basic({ system: `${CS}/none`, code: 'green' }))).toEqual([]);
      expect(await placesOf(basic({ system: `${CS}/more`, code: 'red' }))).toEqual([
        'error code Basic.code.coding[0].system',
      ]);
    });

    it('of a system by rule has to follow the rule', async () => {
      const of = (system: string, code: string) => placesOf(basic({ system, code }));
      const tags = ['de', 'de-CH', 'ajp', 'zh-Hant-TW', 'x-klingon', 'sl-rozaj-1994', 'en-x-mine', 'sgn', 'mis', 'und', 'i-default', 'en-GB-oed', 'art-lojban', 'sgn-BE-FR', 'en-u-co-phonebk-t-de', 'qaa-Qaaa-QM']; // prettier-ignore
      for (const code of tags) expect(await of('urn:ietf:bcp:47', code), code).toEqual([]);
      for (const code of [
        'german language',
        'de_CH',
        'd',
        'de--AT',
        'de-',
        '-de',
        '123',
        'abcdefghi',
        'en-u',
        'en-x',
        'de-AT-DE',
        'de-1996-1996',
        'de-u-aa-u-bb',
      ])
        expect(await of('urn:ietf:bcp:47', code), code).toEqual([ERROR]);
      expect(await of('urn:ietf:bcp:13', 'text/plain; charset=utf-8')).toEqual([]);
      expect(await of('urn:ietf:bcp:13', 'plain text')).toEqual([ERROR]);
      expect(await of(UCUM, 'mg/dL')).toEqual([]);
      expect(await of(UCUM, 'mmHg')).toEqual([ERROR]);
      // The list of the platform may lack what is new.
      expect(await of('urn:iso:std:iso:3166', 'QZ')).toEqual(['warning code Basic.code.coding[0].code']);
    });

    it('is found in extensions, beside primitives, in what is contained and in entries', async () => {
      const extension = [{ url: 'http://x.example/e', valueCodeableConcept: { coding: [{ system: CS, code: 'green' }] } }]; // prettier-ignore
      const patient = { resourceType: 'Patient', text, _birthDate: { extension }, managingOrganization: { reference: '#a' }, contained: [{ resourceType: 'Organization', id: 'a', name: 'x', type: [{ coding: [{ system: CS, code: 'green' }] }] }] }; // prettier-ignore
      const bundle = { resourceType: 'Bundle', type: 'collection', entry: [{ fullUrl: 'urn:uuid:0b3c6f66-6d1b-4f3c-9d2e-0d7a5c1c2b01', resource: patient }] }; // prettier-ignore
      expect(await placesOf(bundle)).toEqual([
        'error code Bundle.entry[0].resource.birthDate.extension[0].value.coding[0].code',
        'error code Bundle.entry[0].resource.contained[0].type[0].coding[0].code',
      ]);
    });

    it('is reported once where a required value set lacks it already', async () => {
      const expectation = { resourceType: 'MedicationRequest', status: 'active', intent: 'order', text, subject: { display: 'x' }, medication: { concept: { text: 'x' } } }; // prettier-ignore
      expect(await placesOf({ ...expectation, priority: 'whenever' } as never)).toEqual([
        'error binding MedicationRequest.priority',
      ]);
      const allergy = { resourceType: 'AllergyIntolerance', text, patient: { display: 'x' }, clinicalStatus: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical', code: 'maybe' }] } }; // prettier-ignore
      expect(await placesOf(allergy)).toEqual(['error binding AllergyIntolerance.clinicalStatus']);
    });

    it('is counted beyond a hundred; all are looked up, and each code of one kind once', async () => {
      const coding = Array.from({ length: 120 }, (_, i) => ({ system: CS, code: `c${i}` }));
      const places = await placesOf(basic(...coding));
      expect(places.filter((each) => each.startsWith('error code'))).toHaveLength(100);
      expect(places).toContain('error more-faults Basic');
    });

    it('of too many code systems is not looked up, which a warning says', async () => {
      const coding = Array.from({ length: 201 }, (_, i) => ({ system: `${CS}/none/${i}`, code: 'x' }));
      expect(await oneText(basic(...coding))).toContain('more than 200 code systems');
    });

    it('is judged by the code systems that the token may read', async () => {
      const token = server.as('system/Basic.r');
      expect(await validate(coded('green'), token as never)).toEqual([]);
      const reader = server.as('system/Basic.r system/CodeSystem.r');
      expect(await validate(coded('green'), reader as never)).toHaveLength(1);
    });

    it('refuses no write, unless a setting says so', async () => {
      expect((await server.all.send('POST', '/Basic', coded('green'))).status).toBe(201);
    });
  });

  describe('a write, where the setting validation.codes asks for it', () => {
    const { store: own, ...stored } = createStoredProfiles(store, tables, loadProfiles);
    const strict = scopedServer(own, {
      ...{ rules: createRuleChecker(tables), patchers: createPatchers(tables) },
      profiles: { ...stored, required: new Map(), refusedCodes: createCodeRefusals(tables) },
    });
    const code = (answer: Answer): unknown => answer.json().issue?.[0].details.coding[0].code;
    const create = (body: { resourceType: string }, as = strict.all) => as.send('POST', `/${body.resourceType}`, body);

    it('is refused for an unknown code and a wrong unit, with the place and the line', async () => {
      const answer = await create(basic({ system: CS, code: 'green' }));
      expect([answer.status, code(answer)]).toEqual([422, 'code-unknown']);
      expect(answer.json().issue[0]).toMatchObject({
        expression: ['Basic.code.coding[0].code'],
        diagnostics: expect.stringMatching(/ \(line 1, column \d+\)$/) as string,
      });
      expect((await create(quantity('mmHg'))).status).toBe(422);
    });

    it('passes with a right code, a wrong display, and a code of a system that is not known', async () => {
      for (const body of [
        basic({ system: CS, code: 'red', display: 'Blue' }),
        basic({ system: `${CS}/none`, code: 'x' }),
        quantity('kg'),
      ]) {
        const answer = await create(body);
        expect(answer.status, answer.text).toBe(201);
      }
    });

    it('also updates, patches and entries of transactions; each by what its token may read', async () => {
      const id = word();
      const wrong = basic({ system: CS, code: 'green' });
      expect((await strict.all.send('PUT', `/Basic/${id}`, { ...wrong, id })).status).toBe(422);
      expect((await strict.all.send('PUT', `/Basic/${id}`, { ...basic({ system: CS, code: 'red' }), id })).status).toBe(
        201,
      );
      const patch = [{ op: 'replace', path: '/code/coding/0/code', value: 'green' }];
      const type = { 'content-type': 'application/json-patch+json' };
      const patched = await strict.all.send('PATCH', `/Basic/${id}`, patch, type);
      expect([patched.status, code(patched)]).toEqual([422, 'code-unknown']);
      const entry = [{ resource: wrong, request: { method: 'POST', url: 'Basic' } }];
      const bundle = { resourceType: 'Bundle', type: 'transaction', entry };
      expect((await strict.all.send('POST', '', bundle)).status).toBe(422);
      expect((await create(wrong, strict.as('system/Basic.c') as never)).status).toBe(201);
    });
  });

  describe('a display', () => {
    const named = (display: string, code = 'red') => basic({ system: CS, code, display });

    it('that is no name of the code gives a warning with those that are', async () => {
      expect(await placesOf(named('Blue'))).toEqual(['warning display Basic.code.coding[0].display']);
      expect(await oneText(named('Blue'))).toContain('right is "Red" or "Rot"');
    });

    it.each(['Red', 'red', '  RED ', 'rot', 'Rouge'])('%j is right: case, white space and language do not count', async (display) => {
      expect(await placesOf(named(display))).toEqual([]);
    }); // prettier-ignore

    it('is not looked at of units and countries, of which the server has names of its own', async () => {
      expect(await placesOf(basic({ system: UCUM, code: '[in_i]', display: 'inches' }))).toEqual([]);
      expect(await placesOf(basic({ system: 'urn:iso:std:iso:3166', code: 'US', display: 'U.S.A.' }))).toEqual([]);
    });
  });

  describe('the unit of a Quantity', () => {
    it.each(['kg', 'mm[Hg]', '10*3/uL', '{score}', 'mL/min/{1.73_m2}', '1', '%'])('%s is one of UCUM', async (code) => {
      expect(await placesOf(quantity(code, { unit: 'whatever' }))).toEqual([]);
    });

    it.each(['mmHg', 'TAB', 'years', 'degF'])('%s is none, which is an error', async (code) => {
      expect(await placesOf(quantity(code))).toEqual(['error code Observation.value.code']);
      expect(await oneText(quantity(code))).toContain(`"${code}" is no unit of UCUM (${UCUM})`);
    });

    it('is looked at in each kind of Quantity, and of UCUM alone', async () => {
      expect(await placesOf(quantity('mmHg', { system: `${CS}/none` }))).toEqual([]);
      const age = { resourceType: 'Condition', text, subject: { display: 'x' }, onsetAge: { value: 1, system: UCUM, code: 'years' }, clinicalStatus: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/condition-clinical', code: 'active' }] } }; // prettier-ignore
      expect(await placesOf(age)).toEqual(['error code Condition.onset.code']);
      const range = measured({ valueRange: { low: { value: 1, unit: 'x', system: UCUM, code: 'TAB' } } });
      expect(await placesOf(range)).toEqual(['error code Observation.value.low.code']);
    });

    it('is in no value set of concepts, which its element may have instead: once a warning said that it has to be', async () => {
      const fasting = (status: object) => ({ resourceType: 'Specimen', text, collection: status });
      const duration = { value: 8, unit: 'h', system: UCUM, code: 'h' };
      expect(await placesOf(fasting({ fastingStatusDuration: duration }))).toEqual([]);
      const concept = { coding: [{ system: `${CS}/none`, code: 'x' }] };
      expect(await placesOf(fasting({ fastingStatusCodeableConcept: concept }))).toEqual([
        'warning binding Specimen.collection.fastingStatus',
      ]);
    });

    it('with a blank in an annotation gives a warning: an official example has one', async () => {
      expect(await placesOf(quantity('{delivered dose}'))).toEqual(['warning code Observation.value.code']);
    });
  });

  describe('extensible value sets of plain values', () => {
    const library = (more: object) => ({
      resourceType: 'Library',
      text,
      status: 'draft',
      type: { text: 'x' },
      ...more,
    });
    const WARNING = (place: string): string => `warning binding ${place}`;

    it('warn of a code, a uri and a string that they lack', async () => {
      const language = (each: string) => ({ resourceType: 'PlanDefinition', text, status: 'draft', action: [{ condition: [{ kind: 'start', expression: { language: each, expression: 'x' } }] }] }); // prettier-ignore
      expect(await placesOf(language('text/cql'))).toEqual([]);
      expect(await placesOf(language('text/CQL'))).toEqual([
        WARNING('PlanDefinition.action[0].condition[0].expression.language'),
      ]);
      const refer = (type: string) => ({ resourceType: 'Basic', text, code: { text: 'x' }, subject: { display: 'x', type } }); // prettier-ignore
      expect(await placesOf(refer('Patient'))).toEqual([]);
      expect(await placesOf(refer('http://hl7.org/fhir/StructureDefinition/Patient'))).toEqual([]);
      expect(await placesOf(refer('http://x.example/StructureDefinition/Mine'))).toEqual([]);
      expect(await placesOf(refer('Patience'))).toEqual([WARNING('Basic.subject.type')]);
      expect(await placesOf(library({ version: '1', versionAlgorithmString: 'semver' }))).toEqual([]);
      expect(await placesOf(library({ version: '1', versionAlgorithmString: 'mine' }))).toEqual([
        WARNING('Library.versionAlgorithm'),
      ]);
    });
  });
}
