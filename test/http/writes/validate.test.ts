import { describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { readXml } from '../../../runtime/format/xml/read-xml.js';
import { createPatchers } from '../../../runtime/patch/apply/patchers.js';
import { createValidator } from '../../../runtime/validate/create-validator.js';
import { createFhirTypes } from '../../../runtime/validate/profiles/fhir-types.js';
import { loadProfiles } from '../../../runtime/tables.js';
import { createRuleChecker } from '../../../runtime/validate/rules/create-rule-checker.js';
import { FHIR_JSON, type Answer } from '../server.js';
import { useWholeServer } from '../search-server.js';

const rules = createRuleChecker(tables);
const rows = new Map((await loadProfiles()).map((row) => [row.url, row]));
const profiles = {
  types: createFhirTypes(tables),
  profile: (canonical: string) => rows.get(canonical),
  required: new Map(),
};
const options = {
  validate: createValidator(tables),
  rules,
  profiles,
  patchers: createPatchers(tables),
  codecs: {
    xml: {
      read: async (bytes: Uint8Array) => Promise.resolve(readXml(bytes, tables)),
      write: () => Promise.resolve(''),
      writeBundle: () => Promise.resolve([]),
    },
  },
};

interface Issue {
  readonly severity: string;
  readonly code: string;
  readonly details: { readonly text: string; readonly coding?: readonly { readonly code: string }[] };
  readonly expression?: readonly string[];
  readonly diagnostics?: string;
}

function issuesOf(answer: Answer): readonly Issue[] {
  expect(answer.json().resourceType, answer.text).toBe('OperationOutcome');
  return answer.json().issue as Issue[];
}

/** Severity, key of the rule or code of the error, and place of each issue. */
function summaryOf(answer: Answer): string[] {
  return issuesOf(answer).map(({ severity, details: { coding = [] }, expression = [] }) =>
    [severity, coding.at(-1)?.code, ...expression].filter((each) => each !== undefined).join(' '),
  );
}

const contact = { resourceType: 'Patient', contact: [{ gender: 'male' }] };
const sound = { resourceType: 'Patient', text: { status: 'generated', div: '<div xmlns="http://www.w3.org/1999/xhtml">x</div>' }, active: true }; // prettier-ignore

describe('$validate (resource-operation-validate.html)', () => {
  const server = useWholeServer(options as never);
  const validate = (body: unknown, path = '/Patient/$validate', headers: Record<string, string> = {}) =>
    server.send('POST', path, body, headers);

  it('finds nothing wrong with what is right, and says so', async () => {
    const answer = await validate(sound);
    expect([answer.status, summaryOf(answer)]).toEqual([200, ['information']]);
  });

  it('lists errors and warnings with key, text, place, line and column; always 200', async () => {
    const answer = await validate(JSON.stringify({ ...contact, nonsense: 1 }, null, 1));
    expect(answer.status).toBe(200);
    expect(summaryOf(answer)).toEqual([
      'error unknown-property Patient.nonsense',
      'error pat-1 Patient.contact[0]',
      'warning dom-6 Patient',
    ]);
    const [, broken] = issuesOf(answer);
    expect(broken).toMatchObject({
      code: 'invariant',
      diagnostics: expect.stringMatching(/ \(line 4, column 3\)$/) as string,
    });
    expect(broken?.details.text).toContain('(pat-1)');
  });

  it('hides no error behind warnings: once the first hundred issues were listed, of whatever severity', async () => {
    const patient = (id: number) => ({ resourceType: 'Patient', id: String(id), gender: id === 140 ? 'boy' : 'male' });
    const entry = Array.from({ length: 150 }, (_, i) => ({ fullUrl: `http://x.org/fhir/Patient/${i}`, resource: patient(i) })); // prettier-ignore
    const bundle = { resourceType: 'Bundle', type: 'collection', entry };
    const found = summaryOf(await validate(bundle, '/Bundle/$validate'));
    expect(found[0]).toBe('error binding Bundle.entry[140].resource.gender');
    expect(found.filter((each) => each.startsWith('warning dom-6'))).toHaveLength(100);
    expect(found.at(-1)).toBe('warning more-faults Bundle');
  });
  it('reports a body that cannot be read as what it found', async () => {
    const at = (body: string, type = FHIR_JSON) => validate(body, '/Patient/$validate', { 'content-type': type });
    expect(summaryOf(await at('{"resourceType": "Patient", }'))).toEqual(['error json-syntax']);
    expect(summaryOf(await at('{"resourceType": "Patient", "id": "a", "id": "b"}'))).toEqual([
      'error json-duplicate-key',
    ]);
    expect(summaryOf(await at('<Patient xmlns="http://hl7.org/fhir"><active', 'application/fhir+xml'))[0]).toContain('error xml-'); // prettier-ignore
    expect((await validate('x', '/Patient/$validate', { 'content-type': 'text/plain' })).status).toBe(415);
    expect((await server.send('POST', '/Patient/$validate')).status).toBe(400);
  });

  it('takes a Parameters resource with the resource, a mode and a profile, however wrong the resource is', async () => {
    const wrap = (resource: unknown, mode = 'create') =>
      validate({
        resourceType: 'Parameters',
        parameter: [
          { name: 'mode', valueCode: mode },
          { name: 'resource', resource },
        ],
      });
    expect(summaryOf(await wrap(contact))).toContain('error pat-1 Patient.contact[0]');
    expect(summaryOf(await wrap({ resourceType: 'Patient', actve: true }))).toContain(
      'error unknown-property Patient.actve',
    );
    expect((await wrap(sound, 'update')).status).toBe(400);
    expect((await wrap(sound, 'nonsense')).status).toBe(400);
    expect(summaryOf(await validate({ resourceType: 'Observation' }))).toContain('error type-mismatch');
  });

  it('validates by the profiles that the resource claims, and by those that are asked for', async () => {
    const BP = 'http://hl7.org/fhir/StructureDefinition/bp';
    const quantity = (value: number) => ({ value, unit: 'mmHg', system: 'http://unitsofmeasure.org', code: 'mm[Hg]' });
    const part = (code: string, value: number) => ({
      code: { coding: [{ system: 'http://loinc.org', code }] },
      valueQuantity: quantity(value),
    });
    const pressure = (component: object[], meta: object = {}) => ({
      resourceType: 'Observation',
      ...meta,
      text: sound.text,
      status: 'final',
      category: [
        { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'vital-signs' }] },
      ],
      code: { coding: [{ system: 'http://loinc.org', code: '85354-9' }] },
      subject: { reference: 'Patient/p' },
      performer: [{ reference: 'Practitioner/p' }],
      effectiveDateTime: '2024-01-01',
      component,
    });
    const both = [part('8480-6', 120), part('8462-4', 80)];
    const of = async (body: object, query = '') => summaryOf(await validate(body, `/Observation/$validate${query}`));
    const errors = async (body: object, query = '') =>
      (await of(body, query)).filter((each) => each.startsWith('error'));
    const claim = { meta: { profile: [BP] } };
    expect(await errors(pressure(both, claim))).toEqual([]);
    expect(await errors(pressure(both.slice(0, 1)))).toEqual([]);
    expect(await errors(pressure(both.slice(0, 1), claim))).toContain('error slicing Observation.component');
    expect(await errors(pressure(both.slice(0, 1)), `?profile=${encodeURIComponent(BP)}`)).toContain(
      'error slicing Observation.component',
    );
  });

  it('reports an error where a profile that is asked for is not known: once it was a warning', async () => {
    const none = 'http://example.org/none';
    const answer = await validate(sound, `/Patient/$validate?profile=${none}`);
    expect([answer.status, summaryOf(answer)]).toEqual([200, ['error profile Patient']]);
    expect(issuesOf(answer)[0]).toMatchObject({ code: 'not-found' });
    const parameter = [{ name: 'profile', valueCanonical: none }, { name: 'resource', resource: sound }]; // prettier-ignore
    expect(summaryOf(await validate({ resourceType: 'Parameters', parameter }))).toEqual(['error profile Patient']);
    // One that the resource claims is not asked for.
    const claiming = { ...sound, meta: { profile: [none] } };
    expect(summaryOf(await validate(claiming))).toEqual(['warning profile Patient']);
    expect(summaryOf(await validate(claiming, `/Patient/$validate?profile=${none}`))).toEqual([
      'error profile Patient',
    ]);
  });

  it('gives line and column of each problem that has a place, also of a resource in Parameters', async () => {
    const lines = (answer: Answer): (string | undefined)[] =>
      issuesOf(answer)
        .filter(({ severity }) => severity === 'error')
        .map(({ diagnostics }) => /\(([^(]*)\)$/.exec(diagnostics ?? '')?.[1]);
    const text = (value: object): string => JSON.stringify(value, null, 1);
    const wrapped = { resourceType: 'Parameters', parameter: [{ name: 'resource', resource: contact }] };
    expect(lines(await validate(text(wrapped)))).toEqual(['line 9, column 6']);
    const coded = { ...sound, maritalStatus: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v3-MaritalStatus', code: 'none' }] } }; // prettier-ignore
    const codes = issuesOf(await validate(text(coded))).filter(({ code }) => code === 'code-invalid');
    // The code system does not have the code, and the extensible value set neither.
    expect(codes.map(({ severity }) => severity)).toEqual(['error', 'warning']);
    for (const { diagnostics } of codes) expect(diagnostics).toMatch(/ \(line \d+, column \d+\)$/);
    expect(lines(await validate(text({ ...sound, resourceType: 'Practitioner' })))).toEqual(['line 2, column 2']);
    expect(lines(await validate(text({ ...sound, id: 'b' }), '/Patient/a/$validate?mode=update'))).toEqual([
      'line 8, column 2',
    ]);
  });

  it('warns of relative references that lead nowhere; a write takes them, as official examples have some', async () => {
    const refer = (reference: string) => ({ ...sound, generalPractitioner: [{ reference }] });
    for (const [reference, why] of [
      ['hello', 'it is Type/id, #id or an absolute URL'],
      ['Practitioner/under_score', 'it is Type/id, #id or an absolute URL'],
      ['Foo/1', 'there is no resource type Foo'],
    ] as const) {
      const answer = await validate(refer(reference));
      expect(summaryOf(answer)).toEqual(['warning reference Patient.generalPractitioner[0]']);
      expect(issuesOf(answer)[0]?.details.text).toContain(`"${reference}" leads nowhere: ${why}`);
      expect((await server.send('POST', '/Patient', refer(reference))).status).toBe(201);
    }
    for (const reference of ['Practitioner?', 'Practitioner?&=x', 'Practitioner?identifier=1&?==', 'Foo?identifier=x'])
      expect(summaryOf(await validate(refer(reference)))).toEqual(['warning reference Patient.generalPractitioner[0]']);
    for (const reference of ['Practitioner/1', 'Practitioner/1/_history/2', 'urn:uuid:0b3c6f66-6d1b-4f3c-9d2e-0d7a5c1c2b01', 'Practitioner?identifier=x', 'http://x.org/y'])
      expect(summaryOf(await validate(refer(reference)))).toEqual(['information']); // prettier-ignore
  });

  it('asks what the text of the specification asks of Codings, Attachments, canonicals and includes', async () => {
    const VALUE_SET = 'http://hl7.org/fhir/ValueSet/account-type';
    const errorsOf = async (content: object): Promise<readonly string[]> =>
      issuesOf(await validate(content, `/${(content as { resourceType: string }).resourceType}/$validate`))
        .filter(({ severity }) => severity === 'error')
        .map(({ expression = [] }) => expression.join());
    const coded = { resourceType: 'Basic', code: { coding: [{ system: VALUE_SET, code: 'x' }] } };
    expect(await errorsOf(coded)).toEqual(['Basic.code.coding[0]']);
    const include = (system: string) => ({
      resourceType: 'ValueSet',
      status: 'draft',
      compose: { include: [{ system }] },
    });
    for (const system of [VALUE_SET, '#here'])
      expect(await errorsOf(include(system))).toEqual(['ValueSet.compose.include[0]']);
    expect(await errorsOf(include('http://loinc.org'))).toEqual([]);
    const photo = (more: object) => ({ ...sound, photo: [{ contentType: 'text/plain', data: 'aGVsbG8=', ...more }] });
    for (const wrong of [{ size: '4' }, { hash: 'AAAA' }])
      expect(await errorsOf(photo(wrong))).toEqual(['Patient.photo[0]']);
    expect(await errorsOf(photo({ size: '5', hash: 'qvTGHdzF6KLavt4PO0gs2a6pQ00=' }))).toEqual([]);
    expect(await errorsOf({ ...sound, meta: { profile: ['http://x.example/p|'] } })).toContain(
      'Patient.meta.profile[0]',
    );
    // None of this refuses a write.
    for (const content of [coded, photo({ size: '4' })])
      expect((await server.send('POST', `/${content.resourceType}`, content)).status).toBe(201);
  });

  it('needs a profile for the mode "profile": once it said that there were no issues', async () => {
    const answer = await validate(sound, '/Patient/$validate?mode=profile');
    expect([answer.status, summaryOf(answer)]).toEqual([400, ['error parameter-invalid']]);
    const PATIENT = 'http://hl7.org/fhir/StructureDefinition/Patient';
    expect((await validate(sound, `/Patient/$validate?mode=profile&profile=${PATIENT}`)).status).toBe(200);
  });

  it('validates a stored instance, and whether it can be deleted', async () => {
    await server.send('PUT', '/Patient/here', { ...sound, id: 'here' });
    expect(summaryOf(await server.send('GET', '/Patient/here/$validate'))).toEqual(['information']);
    expect(summaryOf(await server.send('GET', '/Patient/here/$validate?mode=delete'))).toEqual(['information']);
    expect(summaryOf(await server.send('GET', '/Patient/none/$validate?mode=delete'))).toEqual(['error not-found']);
    expect((await server.send('GET', '/Patient/none/$validate')).status).toBe(404);
    expect(server.defects).toEqual([]);
  });
});

describe('a write is refused with 422 where a rule is broken', () => {
  const server = useWholeServer(options as never);
  const create = (resource: { resourceType: string; [name: string]: unknown }) =>
    server.send('POST', `/${resource.resourceType}`, resource);
  const div = (content: string) => ({
    resourceType: 'Basic',
    code: { text: 'x' },
    text: { status: 'generated', div: `<div xmlns="http://www.w3.org/1999/xhtml">${content}</div>` },
  });
  const patient = (more: object) => ({ resourceType: 'Patient', ...more });
  const inside = (id?: string) => ({ resourceType: 'Organization', ...(id !== undefined && { id }), name: 'x' });
  const refer = { managingOrganization: { reference: '#a' } };

  it.each([
    ['pat-1', contact],
    ['ref-1', patient(refer)],
    ['dom-3', patient({ contained: [inside('a')] })],
    ['id', patient({ ...refer, contained: [inside('a'), inside('a')] })],
    ['id', patient({ name: [{ id: 'x', text: 'a' }, { id: 'x', text: 'b' }] })], // prettier-ignore
    [
      'dom-2',
      patient({
        ...refer,
        contained: [{ ...inside('a'), contained: [{ ...inside('b'), partOf: { reference: '#' } }] }],
      }),
    ],
    ['dom-4', patient({ ...refer, contained: [{ ...inside('a'), meta: { versionId: '1' } }] })],
    ['dom-5', patient({ ...refer, contained: [{ ...inside('a'), meta: { security: [{ code: 'R' }] } }] })],
    ['per-1', patient({ name: [{ text: 'x', period: { start: '2024-06-01', end: '2024-01-01' } }] })],
    ['ref-2', patient({ managingOrganization: { type: 'Organization' } })],
    ['att-1', patient({ photo: [{ data: 'AAAA' }] })],
    ['cpt-2', patient({ telecom: [{ value: '1' }] })],
    ['binding', patient({ gender: 'x' })],
    ['binding', patient({ photo: [{ contentType: 'no type', url: 'http://x' }] })],
    ['txt-1', div('<script>alert(1)</script>')],
    ['txt-1', div('<p onclick="x()">x</p>')],
    ['txt-1', div('<a href="java&#115;cript:x()">x</a>')],
    ['txt-2', div('<p> </p>')],
    ['qty-3', { resourceType: 'Observation', status: 'final', code: { text: 'x' }, valueQuantity: { value: 1, code: 'g' } }], // prettier-ignore
    ['obs-6', { resourceType: 'Observation', status: 'final', code: { text: 'x' }, valueInteger: 1, dataAbsentReason: { text: 'x' } }], // prettier-ignore
    ['url', patient({ identifier: [{ system: 'urn:oid:1.2.x', value: '1' }] })],
    ['bdl-11', { resourceType: 'Bundle', type: 'document', timestamp: '2024-01-01T00:00:00Z', identifier: { system: 'urn:x', value: '1' }, entry: [{ fullUrl: 'urn:uuid:0b3c6f66-6d1b-4f3c-9d2e-0d7a5c1c2b01', resource: { resourceType: 'Patient' } }] }], // prettier-ignore
  ])('%s', async (key, resource) => {
    const answer = await create(resource as never);
    expect([answer.status, summaryOf(answer).map((each) => each.split(' ')[1])], answer.text).toEqual([422, [key]]);
  });

  it('accepts warnings, local references and references to what contains them', async () => {
    for (const resource of [
      patient({ identifier: [{ system: 'urn:x' }] }),
      patient({ ...refer, contained: [inside('a')] }),
      patient({ contained: [{ ...inside('a'), partOf: { reference: '#' } }] }),
      patient({ name: [{ period: { start: '2024-01', end: '2024-01-01T10:00:00Z' } }] }),
      div('<p style="color: red">x</p><img src="#x" alt="y"/>'),
    ]) {
      const answer = await create(resource as never);
      expect(answer.status, answer.text).toBe(201);
    }
  });

  it('also for updates, patches and entries of transactions', async () => {
    expect((await server.send('PUT', '/Patient/p', { ...contact, id: 'p' })).status).toBe(422);
    await server.send('PUT', '/Patient/p', { ...sound, id: 'p' });
    const patch = [{ op: 'add', path: '/contact', value: contact.contact }];
    const type = { 'content-type': 'application/json-patch+json' };
    expect((await server.send('PATCH', '/Patient/p', patch, type)).status).toBe(422);
    const entry = [{ resource: contact, request: { method: 'POST', url: 'Patient' } }];
    expect((await server.send('POST', '', { resourceType: 'Bundle', type: 'transaction', entry })).status).toBe(422);
  });
});

describe('the setting "validation"', () => {
  const structure = useWholeServer({ ...options, validation: 'structure' } as never);
  const off = useWholeServer({ ...options, validation: 'off' } as never);

  it('structure leaves the rules out; off checks nothing', async () => {
    expect((await structure.send('POST', '/Patient', contact)).status).toBe(201);
    expect((await structure.send('POST', '/Patient', { resourceType: 'Patient', x: 1 })).status).toBe(400);
    expect((await off.send('POST', '/Patient', { resourceType: 'Patient', x: 1 })).status).toBe(201);
  });
});
