import { describe, expect, it } from 'vitest';

import { processorTime } from '../../processor-time.js';
import { tables } from '../../../generated/tables.js';
import { createRuleEvaluator } from '../../../runtime/validate/profiles/evaluate-rule.js';
import { requestEffort, RuleEffort } from '../../../runtime/validate/profiles/rule-effort.js';
import { validateProfiles } from '../../../runtime/validate/profiles/validate-profiles.js';
import { check, depsOf, made } from './made.js';

const patient = { resourceType: 'Patient' };
const code = (path: string): { type: string; path: string } => ({ type: 'value', path });

describe('cardinality', () => {
  const row = made('card', 'Patient', [
    { path: 'Patient.birthDate', min: 1 },
    { path: 'Patient.photo', max: '0' },
    { path: 'Patient.name', min: 1, max: '2' },
    { path: 'Patient.name.family', min: 1 },
  ]);
  it('takes what keeps to it', async () => {
    expect(await check({ ...patient, birthDate: '2000', name: [{ family: 'A' }, { family: 'B' }] }, [row])).toEqual([]);
  });
  it('takes an element that has only extensions as present', async () => {
    const _birthDate = { extension: [{ url: 'x', valueString: 'unknown' }] };
    expect(await check({ ...patient, _birthDate, name: [{ family: 'A' }] }, [row])).toEqual([]);
  });
  it('tells what is missing, too much, and not admitted', async () => {
    const name = [{ family: 'A' }, { given: ['B'] }, { family: 'C' }];
    const found = await check({ ...patient, name, photo: [{ url: 'u' }] }, [row]);
    expect(found.sort()).toEqual([
      'error cardinality Patient.birthDate',
      'error cardinality Patient.name',
      'error cardinality Patient.name[1].family',
      'error cardinality Patient.photo',
    ]);
  });
});

it('an element that is defined like itself says nothing more', async () => {
  const row = made('circle', 'Patient', [
    { path: 'Patient.contact', min: 1, contentReference: '#Patient.contact' },
    { path: 'Patient.photo', max: '0' },
  ]);
  const photo = [{ url: 'u' }];
  expect(await check({ ...patient, contact: [{ name: { family: 'A' } }], photo }, [row])).toEqual([
    'error cardinality Patient.photo',
  ]);
});

describe('types, fixed values and patterns', () => {
  it('admits only the types of the profile', async () => {
    const row = made('types', 'Patient', [{ path: 'Patient.deceased[x]', type: [{ code: 'boolean' }] }]);
    expect(await check({ ...patient, deceasedBoolean: true }, [row])).toEqual([]);
    expect(await check({ ...patient, deceasedDateTime: '2020' }, [row])).toEqual(['error type Patient.deceased']);
  });
  it('compares fixed values as a whole', async () => {
    const row = made('fixed', 'Patient', [
      { path: 'Patient.maritalStatus', fixedCodeableConcept: { coding: [{ system: 's', code: 'M' }] } },
    ]);
    const of = (maritalStatus: object): object => ({ ...patient, maritalStatus });
    expect(await check(of({ coding: [{ code: 'M', system: 's' }] }) as typeof patient, [row])).toEqual([]);
    expect(await check(of({ coding: [{ code: 'M', system: 's' }], text: 'm' }) as typeof patient, [row])).toEqual([
      'error fixed Patient.maritalStatus',
    ]);
  });
  it('finds a pattern in more', async () => {
    const row = made('pattern', 'Patient', [
      { path: 'Patient.maritalStatus', patternCodeableConcept: { coding: [{ code: 'M' }] } },
    ]);
    const coding = [{ code: 'X' }, { system: 's', code: 'M' }];
    expect(await check({ ...patient, maritalStatus: { coding, text: 'm' } }, [row])).toEqual([]);
    expect(await check({ ...patient, maritalStatus: { coding: [{ code: 'X' }] } }, [row])).toEqual([
      'error pattern Patient.maritalStatus',
    ]);
  });
});

describe('slicing', () => {
  const sliced = (rules: string, ordered = false, type = 'value'): ReturnType<typeof made> =>
    made(`slices-${rules}-${String(ordered)}-${type}`, 'Patient', [
      { path: 'Patient.identifier', slicing: { discriminator: [{ type, path: 'system' }], rules, ordered } },
      { path: 'Patient.identifier', sliceName: 'a', min: 1, max: '1' },
      { path: 'Patient.identifier.system', min: 1, fixedUri: 'urn:a' },
      { path: 'Patient.identifier.value', min: 1 },
      { path: 'Patient.identifier', sliceName: 'b' },
      { path: 'Patient.identifier.system', min: 1, patternUri: 'urn:b' },
    ]);
  const of = (...systems: string[]): typeof patient & object => ({
    ...patient,
    ...{ identifier: systems.map((system) => ({ system, value: '1' })) },
  });

  it('counts the values of a slice and checks each by it', async () => {
    expect(await check(of('urn:x', 'urn:a'), [sliced('open')])).toEqual([]);
    expect(await check(of('urn:x'), [sliced('open')])).toEqual(['error slicing Patient.identifier']);
    expect(await check(of('urn:a', 'urn:a'), [sliced('open')])).toEqual(['error slicing Patient.identifier']);
    expect(await check({ ...patient, identifier: [{ system: 'urn:a' }] }, [sliced('open')])).toEqual([
      'error cardinality Patient.identifier[0].value',
    ]);
  });
  it('admits no others when closed', async () => {
    expect(await check(of('urn:a', 'urn:x'), [sliced('closed')])).toEqual(['error slicing Patient.identifier[1]']);
  });
  it('admits others at the end only', async () => {
    expect(await check(of('urn:a', 'urn:x'), [sliced('openAtEnd')])).toEqual([]);
    expect(await check(of('urn:x', 'urn:a'), [sliced('openAtEnd')])).toEqual(['error slicing Patient.identifier[1]']);
  });
  it('keeps to the order', async () => {
    expect(await check(of('urn:a', 'urn:b'), [sliced('open', true)])).toEqual([]);
    expect(await check(of('urn:b', 'urn:a'), [sliced('open', true)])).toEqual(['error slicing Patient.identifier[1]']);
  });
  it('by existence', async () => {
    const row = made('exists', 'Patient', [
      { path: 'Patient.identifier', slicing: { discriminator: [{ type: 'exists', path: 'value' }], rules: 'open' } },
      { path: 'Patient.identifier', sliceName: 'with', max: '1' },
      { path: 'Patient.identifier.value', min: 1 },
      { path: 'Patient.identifier', sliceName: 'without', max: '0' },
      { path: 'Patient.identifier.value', max: '0' },
    ]);
    expect(await check(of('urn:a'), [row])).toEqual([]);
    expect(await check({ ...patient, identifier: [{ system: 's' }] }, [row])).toEqual([
      'error slicing Patient.identifier',
    ]);
  });
  it('by position', async () => {
    const row = made('position', 'Patient', [
      { path: 'Patient.identifier', slicing: { discriminator: [{ type: 'position', path: '$this' }], rules: 'open' } },
      { path: 'Patient.identifier', sliceName: 'first' },
      { path: 'Patient.identifier.system', fixedUri: 'urn:a' },
    ]);
    expect(await check(of('urn:a', 'urn:b'), [row])).toEqual([]);
    expect(await check(of('urn:b', 'urn:a'), [row])).toEqual(['error fixed Patient.identifier[0].system']);
  });
  it('by type', async () => {
    const row = made('type', 'Observation', [
      { path: 'Observation.value[x]', slicing: { discriminator: [{ type: 'type', path: '$this' }], rules: 'open' } },
      { path: 'Observation.value[x]', sliceName: 'valueQuantity', type: [{ code: 'Quantity' }] },
      { path: 'Observation.value[x].unit', min: 1 },
    ]);
    const observation = { resourceType: 'Observation' };
    expect(await check({ ...observation, valueString: 's' }, [row])).toEqual([]);
    expect(await check({ ...observation, valueQuantity: { value: 1 } }, [row])).toEqual([
      'error cardinality Observation.value.unit',
    ]);
  });
  it('by the type of what a reference leads to', async () => {
    const row = made('resolve', 'Observation', [
      {
        path: 'Observation.performer',
        slicing: { discriminator: [{ type: 'type', path: 'resolve()' }], rules: 'open' },
      },
      {
        path: 'Observation.performer',
        sliceName: 'organization',
        max: '1',
        type: [{ code: 'Reference', targetProfile: ['http://hl7.org/fhir/StructureDefinition/Organization'] }],
      },
    ]);
    const to = (...references: string[]): object => ({
      resourceType: 'Observation',
      contained: [{ resourceType: 'Organization', id: 'o' }],
      performer: references.map((reference) => ({ reference })),
    });
    expect(await check(to('#o', 'Patient/1') as typeof patient, [row])).toEqual([]);
    expect(await check(to('#o', 'Organization/1') as typeof patient, [row])).toEqual([
      'error slicing Observation.performer',
    ]);
  });
  it('by what is behind a reference, and decides nothing where that is not to be had', async () => {
    const target = made('coded', 'Observation', [{ path: 'Observation.code', patternCodeableConcept: { text: 'a' } }]);
    const row = made('resolve-code', 'DiagnosticReport', [
      {
        path: 'DiagnosticReport.result',
        slicing: { discriminator: [{ type: 'value', path: 'resolve().code' }], rules: 'closed' },
      },
      {
        path: 'DiagnosticReport.result',
        sliceName: 'a',
        min: 1,
        type: [{ code: 'Reference', targetProfile: [target.url] }],
      },
    ]);
    const report = (text: string, reference: string): object => ({
      resourceType: 'DiagnosticReport',
      contained: [{ resourceType: 'Observation', id: 'o', code: { text } }],
      result: [{ reference }],
    });
    expect(await check(report('a', '#o') as typeof patient, [row, target])).toEqual([]);
    expect(await check(report('b', '#o') as typeof patient, [row, target])).toEqual([
      'error slicing DiagnosticReport.result[0]',
      'error slicing DiagnosticReport.result',
    ]);
    expect(await check(report('b', 'Observation/1') as typeof patient, [row, target])).toEqual([]);
  });
  it('by profile', async () => {
    const strict = made('strict', 'Identifier', [{ path: 'Identifier.value', min: 1 }]);
    const row = made('profile', 'Patient', [
      { path: 'Patient.identifier', slicing: { discriminator: [{ type: 'profile', path: '$this' }], rules: 'open' } },
      {
        path: 'Patient.identifier',
        sliceName: 'strict',
        min: 1,
        type: [{ code: 'Identifier', profile: [strict.url] }],
      },
    ]);
    expect(await check(of('urn:a'), [row, strict])).toEqual([]);
    expect(await check({ ...patient, identifier: [{ system: 's' }] }, [row, strict])).toEqual([
      'error slicing Patient.identifier',
    ]);
  });
  it('by profile, where that is the definition of a type', async () => {
    const slice = (sliceName: string, type: string, more: object[]) => [
      { path: 'Bundle.entry', sliceName },
      { path: 'Bundle.entry.resource', min: 1, type: [{ code: type, profile: [`http://hl7.org/fhir/StructureDefinition/${type}`] }] }, // prettier-ignore
      ...more,
    ];
    const discriminator = [
      { type: 'profile', path: 'resource' },
      { type: 'value', path: 'request.method' },
    ];
    const row = made('provided', 'Bundle', [
      { path: 'Bundle.entry', slicing: { discriminator, rules: 'open' } },
      ...slice('documents', 'Binary', []),
      ...slice('bundles', 'Bundle', [{ path: 'Bundle.entry.request.method', min: 1, patternCode: 'POST' }]),
    ]);
    const entry = (resource: object) => ({ resource, request: { method: 'POST', url: 'x' } });
    const provided = (...resources: object[]) => ({ resourceType: 'Bundle', type: 'transaction', entry: resources.map(entry) }) as unknown as typeof patient; // prettier-ignore
    const inner = { resourceType: 'Bundle', type: 'collection' };
    expect(await check(provided({ resourceType: 'Binary', contentType: 'text/plain' }, inner), [row])).toEqual([]);
  });
  it('within slices', async () => {
    const row = made('reslice', 'Patient', [
      { path: 'Patient.identifier', slicing: { discriminator: [code('system')], rules: 'open' } },
      { path: 'Patient.identifier', sliceName: 'a', slicing: { discriminator: [code('use')], rules: 'closed' } },
      { path: 'Patient.identifier.system', min: 1, fixedUri: 'urn:a' },
      { path: 'Patient.identifier', sliceName: 'a/usual', max: '1' },
      { path: 'Patient.identifier.use', min: 1, fixedCode: 'usual' },
    ]);
    const usual = { system: 'urn:a', use: 'usual' };
    expect(await check({ ...patient, identifier: [usual, { system: 'urn:b', use: 'old' }] }, [row])).toEqual([]);
    expect(await check({ ...patient, identifier: [usual, usual] }, [row])).toEqual([
      'error slicing Patient.identifier',
    ]);
    expect(await check({ ...patient, identifier: [{ ...usual, use: 'old' }] }, [row])).toEqual([
      'error slicing Patient.identifier[0]',
    ]);
  });
});

describe('bindings and rules', () => {
  it('asks whether codes are in the value set: one without a system is in none, and a warning names one that cannot be decided', async () => {
    const row = made('binding', 'Patient', [
      { path: 'Patient.maritalStatus', binding: { strength: 'required', valueSet: 'http://x.org/vs' } },
    ]);
    const of = (value?: string): object => ({
      ...patient,
      maritalStatus: { coding: value === undefined ? [] : [{ system: 'urn:s', code: value }] },
    });
    const bindings = {
      isMember: (_set: string, coding: { code: string }) => Promise.resolve({ in: true, out: false }[coding.code]),
    };
    expect(await check(of('in') as typeof patient, [row], { bindings })).toEqual([]);
    expect(await check(of('out') as typeof patient, [row], { bindings })).toEqual([
      'error binding Patient.maritalStatus',
    ]);
    expect(await check(of('unknown') as typeof patient, [row], { bindings })).toEqual([
      'warning binding Patient.maritalStatus',
    ]);
    const without = { ...patient, maritalStatus: { coding: [{ code: 'in' }] } };
    expect(await check(without, [row], { bindings })).toEqual(['error binding Patient.maritalStatus']);
    expect(await check({ ...patient, maritalStatus: { text: 'm' } }, [row], { bindings })).toEqual([
      'error binding Patient.maritalStatus',
    ]);
  });
  it('tells once which rules it cannot decide', async () => {
    const rule = (key: string, expression: string) => ({ key, severity: 'error', human: 'h', expression });
    const row = made('undecided', 'Patient', [
      { path: 'Patient.name', constraint: [rule('u-1', 'zork('), rule('u-2', 'family.zork()'), rule('u-3', "family != 'A'")] },
    ] as never); // prettier-ignore
    expect(await check({ ...patient, name: [{ family: 'A' }, { family: 'B' }] }, [row])).toEqual([
      'warning u-1 Patient.name[0]',
      'warning u-2 Patient.name[0]',
      'error u-3 Patient.name[0]',
    ]);
  });
  describe('are decided where a rule has a literal of a date or quantity, or a time of day', () => {
    const rule = (expression: string) => ({ key: 'd-1', severity: 'error', human: 'h', expression });
    const broken = async (type: string, path: string, expression: string, content: object): Promise<string[]> => {
      const row = made('literal', type, [{ path, constraint: [rule(expression)] }] as never);
      return check({ resourceType: type, ...content }, [row]);
    };
    const born = (expression: string, birthDate: string) => broken('Patient', 'Patient', expression, { birthDate });
    const UCUM = 'http://unitsofmeasure.org';
    const weighs = (expression: string, value: number, code: string) =>
      broken('Observation', 'Observation', expression, { valueQuantity: { value, system: UCUM, code } });

    it('a date, a dateTime and a time', async () => {
      expect(await born('birthDate > @1900-01-01', '1900-01-02')).toEqual([]);
      expect(await born('birthDate > @1900-01-01', '1899')).toEqual(['error d-1 Patient']);
      expect(await broken('Patient', 'Patient.birthDate', '$this > @1900-01-01', { birthDate: '1899-12-31' })).toEqual([
        'error d-1 Patient.birthDate',
      ]);
      const effective = 'effective > @2020-01-01T00:00:00Z';
      const at = (effectiveDateTime: string) => broken('Observation', 'Observation', effective, { effectiveDateTime });
      expect(await at('2020-01-01T00:30:00+01:00')).toEqual(['error d-1 Observation']);
      expect(await at('2020-01-01T00:30:00Z')).toEqual([]);
      expect(await broken('Observation', 'Observation', 'value > @T10:00', { valueTime: '09:59:00' })).toEqual([
        'error d-1 Observation',
      ]);
    });
    it('not where the precision leaves it open: nothing is no failure', async () => {
      expect(await born('birthDate > @1900-01-01', '1900')).toEqual([]);
      const period = { effectivePeriod: { start: '2019', end: '2019-01-01' } };
      expect(await broken('Observation', 'Observation', 'effective.start <= effective.end', period)).toEqual([]);
    });
    it('today(), now(), and what is calculated with durations', async () => {
      for (const name of ['today()', 'now()']) {
        expect(await born(`birthDate <= ${name}`, '2000-01-01')).toEqual([]);
        expect(await born(`birthDate <= ${name}`, '9000-01-01')).toEqual(['error d-1 Patient']);
      }
      expect(await born('birthDate + 18 years <= @2020-01-01', '2002-01-02')).toEqual(['error d-1 Patient']);
    });
    it('a quantity, in its unit and in another', async () => {
      for (const value of ['value', 'value.ofType(Quantity)', '(value as Quantity)']) {
        expect(await weighs(`${value} > 10 'kg'`, 11, 'kg')).toEqual([]);
        expect(await weighs(`${value} > 10 'kg'`, 9, 'kg')).toEqual(['error d-1 Observation']);
        expect(await weighs(`${value} > 10 'kg'`, 9999, 'g')).toEqual(['error d-1 Observation']);
      }
      const range = (low: string, high: string) => {
        const of = (code: string) => ({ value: 5, system: UCUM, code });
        return broken('Observation', 'Observation.referenceRange', 'low <= high', {
          referenceRange: [{ low: of(low), high: of(high) }],
        });
      };
      expect(await range('g', 'kg')).toEqual([]);
      expect(await range('kg', 'g')).toEqual(['error d-1 Observation.referenceRange[0]']);
    });
  });
  describe('that look at more than the resource', () => {
    const rule = (expression: string) => ({ key: 'l-1', severity: 'error', human: 'h', expression });
    const named = made('named', 'Organization', [{ path: 'Organization.name', min: 1 }]);
    const broken = (expression: string, content: object, more: object = {}) =>
      check({ ...patient, ...content }, [made('looking', 'Patient', [{ path: 'Patient', constraint: [rule(expression)] }] as never), named], more); // prettier-ignore
    const error = ['error l-1 Patient'];
    const warning = ['warning l-1 Patient'];

    it('memberOf() asks for codes, Codings and CodeableConcepts', async () => {
      const isMember = (_set: string, { code }: { code: string }) => Promise.resolve({ in: true, out: false }[code]);
      const bindings = { bindings: { isMember } };
      const status = (code?: string) => ({ maritalStatus: { ...(code !== undefined && { coding: [{ system: 's', code }] }) } }); // prettier-ignore
      for (const of of ['maritalStatus', 'maritalStatus.coding.first()', 'maritalStatus.coding.code']) {
        const expression = `${of}.exists() implies ${of}.memberOf('http://x.org/vs')`;
        expect(await broken(expression, status('in'), bindings)).toEqual([]);
        expect(await broken(expression, status('out'), bindings)).toEqual(error);
        expect(await broken(expression, status('unknown'), bindings)).toEqual(warning);
        expect(await broken(expression, {}, bindings)).toEqual([]);
      }
      expect(await broken("maritalStatus.memberOf('http://x.org/vs')", status(), bindings)).toEqual(error);
    });
    it('resolve() leads to what is contained, and to what is found elsewhere', async () => {
      const expression = 'managingOrganization.resolve().name.exists()';
      const to = (reference: string, ...contained: object[]) => ({ managingOrganization: { reference }, contained });
      const organization = (more: object) => ({ resourceType: 'Organization', id: 'o', ...more });
      expect(await broken(expression, to('#o', organization({ name: 'x' })))).toEqual([]);
      expect(await broken(expression, to('#o', organization({ active: true })))).toEqual(error);
      const resolve = (more: object) => ({ resolve: () => Promise.resolve(organization(more)) });
      expect(await broken(expression, to('Organization/1'), resolve({ name: 'x' }))).toEqual([]);
      expect(await broken(expression, to('Organization/1'), resolve({}))).toEqual(error);
      expect(await broken(expression, to('Organization/1'))).toEqual(warning);
      expect(await broken(`%resource.${expression}`, to('#o', organization({})))).toEqual(error);
    });
    it('conformsTo() compares with a profile', async () => {
      const expression = `contained.ofType(Organization).all(conformsTo('${named.url}'))`;
      const of = (...contained: object[]) => ({ contained });
      expect(await broken(expression, of({ resourceType: 'Organization', name: 'x' }))).toEqual([]);
      expect(await broken(expression, of({ resourceType: 'Organization', active: true }))).toEqual(error);
      expect(await broken("conformsTo('http://hl7.org/fhir/StructureDefinition/Patient')", {})).toEqual([]);
      expect(await broken("conformsTo('http://x.org/nowhere')", {})).toEqual(warning);
    });
    it('cost what the rules cost that they ask for, and their own', () => {
      const request = { left: 1000 };
      const effort = new RuleEffort(patient as never, request);
      effort.evaluate((outer) => {
        effort.evaluate((inner) => ({ found: undefined, left: inner - 300 }));
        return { found: undefined, left: outer - 100 };
      });
      expect(request.left).toBe(600);
    });
  });
  const costly = 'descendants().where(%resource.descendants().count() < 0).empty()';
  const slow = { key: 's-1', severity: 'error', human: 'h', expression: costly };
  const named = { key: 'n-1', severity: 'error', human: 'h', expression: "family != 'A'" };
  const many = (count: number) => Array.from({ length: count }, () => ({ title: 'x', url: 'u' }));
  it('refuses what a rule that costs too much is to be checked of, and says so once', async () => {
    const row = made('slow', 'Patient', [{ path: 'Patient', constraint: [slow] }, { path: 'Patient.name', constraint: [named] }] as never); // prettier-ignore
    expect(await check({ ...patient, photo: many(20) }, [row])).toEqual([]);
    const took = processorTime();
    expect(await check({ ...patient, photo: many(3000) }, [row])).toEqual(['error s-1 Patient']);
    expect(took()).toBeLessThan(5000);
    const [issue] = await validateProfiles({ ...patient, photo: many(3000) } as never, [row.url], depsOf([row]));
    expect(issue?.issue).toBe('too-costly');
    expect(issue?.text).toContain(
      'rule s-1 costs too much to be checked: the rules look at too many values: more than 200,000, and 20',
    );
    expect(issue?.text).toContain('(profile http://x.org/slow)');
  });
  it('also where a regular expression costs too much', async () => {
    const regular = { ...slow, key: 'm-1', expression: "family.matches('(a?){900}b')" };
    const row = made('regular', 'Patient', [{ path: 'Patient.name', constraint: [regular] }] as never);
    const name = [{ family: 'a'.repeat(50_000) }];
    expect(await check({ ...patient, name }, [row])).toEqual(['error m-1 Patient.name[0]']);
  });
  it('that costs too much makes nothing conform, also where it is only tried', async () => {
    const inner = made('slow-name', 'HumanName', [{ path: 'HumanName', constraint: [slow] }] as never);
    const row = made('tried', 'Patient', [
      { path: 'Patient.name', slicing: { discriminator: [{ type: 'profile', path: '$this' }], rules: 'open' } },
      { path: 'Patient.name', sliceName: 'a', type: [{ code: 'HumanName', profile: [inner.url] }], max: '1' },
    ] as never);
    const name = [{ family: 'B', extension: Array.from({ length: 3000 }, () => ({ url: 'u', valueString: 'x' })) }];
    expect(await check({ ...patient, name }, [row, inner])).toEqual(['error s-1 Patient']);
  });
  it('is checked of a large resource where its work is in proportion', async () => {
    const rules = ["title.matches('x')", 'title.exists()'].map((expression, i) => ({ ...slow, key: `l-${i}`, expression })); // prettier-ignore
    const row = made('large', 'Patient', [{ path: 'Patient.photo', constraint: rules }] as never);
    const took = processorTime();
    expect(await check({ ...patient, photo: [...many(30_000), { url: 'u' }] }, [row])).toEqual([
      'error l-1 Patient.photo[30000]',
    ]);
    expect(took()).toBeLessThan(5000);
  });
  it('has limits of its own for each entry of a Bundle, and one for the request', async () => {
    const row = made('entry', 'Patient', [{ path: 'Patient', constraint: [slow] }] as never);
    const any = made('any', 'Bundle', []);
    const entry = (count: number) => ({
      resource: { resourceType: 'Patient', meta: { profile: [row.url] }, photo: many(count) },
    });
    const bundle = (count: number, ...more: object[]) => ({
      resourceType: 'Bundle',
      type: 'collection',
      entry: [...Array.from({ length: count }, () => entry(40)), ...more],
    });
    // Together these cost several times what one resource may.
    expect(await check(bundle(60), [any, row])).toEqual([]);
    expect(await check(bundle(1, entry(3000), entry(1)), [any, row])).toEqual(['error s-1 Bundle.entry[1].resource']);
    const request = {};
    requestEffort(request).left = 1000;
    const beginRules = () => createRuleEvaluator(tables)(request);
    const found = await check(bundle(3), [any, row], { beginRules });
    expect(found).toEqual(['error s-1 Bundle.entry[1].resource', 'error s-1 Bundle.entry[2].resource']);
  });
  it('lets others have their turn between the entries of a Bundle', async () => {
    const row = made('turns', 'Patient', []);
    let turns = 0;
    const pace = () => (turns++, undefined);
    const resource = { resourceType: 'Patient', meta: { profile: [row.url] } };
    await check({ resourceType: 'Bundle', type: 'collection', entry: [{ resource }, { resource: { ...resource } }] }, [made('any', 'Bundle', []), row], { pace }); // prettier-ignore
    expect(turns).toBeGreaterThanOrEqual(4);
  });
  it('evaluates rules on each value', async () => {
    const rule = { key: 'x-1', severity: 'error', human: 'h', expression: 'family.exists()' };
    const row = made('rule', 'Patient', [{ path: 'Patient.name', constraint: [rule] }]);
    expect(await check({ ...patient, name: [{ family: 'A' }, { text: 'B' }] }, [row])).toEqual([
      'error x-1 Patient.name[1]',
    ]);
  });
});

describe('references', () => {
  const goal = made('goal', 'Patient', [{ path: 'Patient.birthDate', min: 1 }]);
  const row = made('refers', 'Observation', [
    { path: 'Observation.subject', type: [{ code: 'Reference', targetProfile: [goal.url] }] },
  ]);
  const to = (reference: string, contained: object[] = []): object => ({
    resourceType: 'Observation',
    contained,
    subject: { reference },
  });
  it('lead to the type of the profile', async () => {
    expect(await check(to('Patient/1') as typeof patient, [row, goal])).toEqual([]);
    expect(await check(to('Group/1') as typeof patient, [row, goal])).toEqual(['error reference Observation.subject']);
  });
  it('lead to what conforms to the profile, where it is at hand', async () => {
    const good = { resourceType: 'Patient', id: 'p', birthDate: '2000' };
    expect(await check(to('#p', [good]) as typeof patient, [row, goal])).toEqual([]);
    expect(await check(to('#p', [{ resourceType: 'Patient', id: 'p' }]) as typeof patient, [row, goal])).toEqual([
      'error reference Observation.subject',
    ]);
    const resolve = (): Promise<never> => Promise.resolve({ resourceType: 'Patient', id: '1' } as never);
    expect(await check(to('Patient/1') as typeof patient, [row, goal], { resolve })).toEqual([
      'error reference Observation.subject',
    ]);
  });
});

describe('what references lead to, elsewhere', () => {
  const resource = (id: string, more: object = {}) => ({ resourceType: 'Patient', id, ...more }) as never;
  const link = (...references: string[]) => ({ link: references.map((reference) => ({ other: { reference }, type: 'refer' })) }); // prettier-ignore
  const kin = made('kin', 'Patient', [
    { path: 'Patient.link.other', type: [{ code: 'Reference', targetProfile: ['http://x.org/kin'] }] },
    { path: 'Patient.active', min: 1 },
  ]);

  it('is looked up once for each reference, and not for what was found there', async () => {
    const asked: string[] = [];
    const resolve = (reference: string) => {
      asked.push(reference);
      return Promise.resolve(resource('x', { active: true, ...link('Patient/3', 'Patient/4') }));
    };
    const one = { ...patient, active: true, ...link('Patient/1', 'Patient/2', 'Patient/1') };
    expect(await check(one, [kin], { resolve })).toEqual([]);
    expect(asked).toEqual(['Patient/1', 'Patient/2']);
  });
  it('is not looked up where the reference tells the type and only that matters', async () => {
    const resolve = (): never => {
      throw new Error('nothing is to be looked up');
    };
    const ORGANIZATION = 'http://hl7.org/fhir/StructureDefinition/Organization';
    const path = 'Patient.generalPractitioner';
    const row = made('typed', 'Patient', [
      { path, slicing: { discriminator: [{ type: 'type', path: 'resolve()' }], rules: 'open' } },
      { path, sliceName: 'o', max: '1', type: [{ code: 'Reference', targetProfile: [ORGANIZATION] }] },
      { path: 'Patient.managingOrganization', type: [{ code: 'Reference', targetProfile: [ORGANIZATION] }] },
    ]);
    const to = (...references: string[]) => references.map((reference) => ({ reference }));
    const [managingOrganization] = to('Organization/1');
    const one = { ...patient, generalPractitioner: to('Organization/1', 'Practitioner/2'), managingOrganization };
    expect(await check(one, [row], { resolve })).toEqual([]);
    const other = made('other-type', 'Patient', [{ path: 'Patient.link.other', type: [{ code: 'Reference', targetProfile: ['http://x.org/kin'] }] }]); // prettier-ignore
    expect(await check({ ...patient, ...link('RelatedPerson/1') }, [other, kin], { resolve })).toEqual([
      'error reference Patient.link[0].other',
    ]);
  });
  it('is not looked up for entries of a Bundle, whose references may mean another server', async () => {
    const resolve = (): never => {
      throw new Error('nothing is to be looked up');
    };
    const entry = [{ resource: { ...patient, active: true, meta: { profile: [kin.url] }, ...link('Patient/1') } }];
    expect(await check({ resourceType: 'Bundle', type: 'collection', entry }, [made('any', 'Bundle', []), kin], { resolve })).toEqual([]); // prettier-ignore
  });
  it('is too much where there are more than 1,000', async () => {
    const resolve = () => Promise.resolve(resource('x', { active: true }));
    const many = (count: number) => link(...Array.from({ length: count }, (_, i) => `Patient/${i}`));
    expect(await check({ ...patient, active: true, ...many(1000) }, [kin], { resolve })).toEqual([]);
    expect(await check({ ...patient, active: true, ...many(1001) }, [kin], { resolve })).toEqual([
      'error reference Patient.link[1000].other',
    ]);
  });
});

describe('a slice of values that conform to a profile', () => {
  it('says by which profile to validate a value that does not, where it has too few', async () => {
    const own = made('own', 'Identifier', [{ path: 'Identifier.value', min: 1 }]);
    const row = made('by-profile', 'Patient', [
      { path: 'Patient.identifier', slicing: { discriminator: [{ type: 'profile', path: '$this' }], rules: 'open' } },
      { path: 'Patient.identifier', sliceName: 'own', min: 1, type: [{ code: 'Identifier', profile: [own.url] }] },
    ]);
    const identifier = [{ system: 'urn:a' }];
    const [issue] = await validateProfiles({ ...patient, identifier }, [row.url], depsOf([row, own]));
    expect(issue?.text).toContain(`the profile wants at least 1; $validate?profile=${own.url} tells why`);
  });
});

describe('definitions of FHIR as profiles', () => {
  const of = (type: string, canonical: string) =>
    validateProfiles({ resourceType: type }, [`http://hl7.org/fhir/StructureDefinition/${canonical}`], depsOf([]));

  it('are also those of interfaces: a ValueSet is a CanonicalResource', async () => {
    expect(await of('ValueSet', 'CanonicalResource')).toEqual([]);
    expect(await of('Patient', 'CanonicalResource')).toHaveLength(1);
  });
  it('are not known of another version of FHIR', async () => {
    for (const version of ['5.0.0', '5.0']) expect(await of('Patient', `Patient|${version}`)).toEqual([]);
    const [issue] = await of('Patient', 'Patient|4.0.1');
    expect(issue).toMatchObject({ severity: 'warning', issue: 'not-found' });
  });
});

describe('extensions', () => {
  const definition = (id: string, expression: string, modifier = false): ReturnType<typeof made> =>
    made(
      id,
      'Extension',
      [
        { path: 'Extension', isModifier: modifier },
        { path: 'Extension.url', fixedUri: `http://x.org/${id}` },
        { path: 'Extension.value[x]', min: 1, type: [{ code: 'string' }] },
      ],
      { context: [{ type: 'element', expression }] },
    );
  const any = made('any', 'Patient', []);
  const known = definition('known', 'Patient');
  const onName = definition('on-name', 'HumanName');
  const changing = definition('changing', 'Patient', true);
  const rows = [any, known, onName, changing];
  const extension = (id: string, value: object): object => ({ url: `http://x.org/${id}`, ...value });

  it('have the value that they are defined with', async () => {
    expect(await check({ ...patient, extension: [extension('known', { valueString: 's' })] }, rows)).toEqual([]);
    expect(await check({ ...patient, extension: [extension('known', { valueCode: 's' })] }, rows)).toEqual([
      'error type Patient.extension[0].value',
    ]);
  });
  it('stand where they may', async () => {
    const one = [extension('on-name', { valueString: 's' })];
    expect(await check({ ...patient, name: [{ extension: one }] }, rows)).toEqual([]);
    expect(await check({ ...patient, extension: one }, rows)).toEqual(['warning extension Patient.extension[0]']);
  });
  it('stand anywhere, on resources too, where their context is Element', async () => {
    const anywhere = [any, definition('anywhere', 'Element')];
    const one = [extension('anywhere', { valueString: 's' })];
    expect(await check({ ...patient, extension: one, name: [{ extension: one }] }, anywhere)).toEqual([]);
  });
  it('stand on what implements an interface, and on parts of other extensions', async () => {
    const onCanonical = definition('on-canonical', 'CanonicalResource');
    const onPart = made('on-part', 'Extension', [], { context: [{ type: 'extension', expression: 'http://x.org/whole#part' }] }); // prettier-ignore
    const one = [extension('on-canonical', { valueString: 's' })];
    const of = (type: string) => check({ resourceType: type, extension: one }, [made('any', type, []), onCanonical]);
    expect(await of('ValueSet')).toEqual([]);
    expect(await of('CapabilityStatement')).toEqual([]);
    for (const other of ['Patient', 'Contract', 'Device']) expect(await of(other)).toEqual([`warning extension ${other}.extension[0]`]); // prettier-ignore
    const whole = (url: string) => [{ url: 'http://x.org/whole', extension: [{ url, extension: [extension('on-part', { valueString: 's' })] }] }]; // prettier-ignore
    const parts = [any, onPart];
    expect(await check({ ...patient, extension: whole('part') }, parts)).not.toContain('warning extension Patient.extension[0].extension[0].extension[0]'); // prettier-ignore
    expect(await check({ ...patient, extension: whole('other') }, parts)).toContain('warning extension Patient.extension[0].extension[0].extension[0]'); // prettier-ignore
  });
  it('are told of where they are not known, and refused where they change the meaning', async () => {
    const unknown = [extension('unknown', { valueString: 's' })];
    expect(await check({ ...patient, extension: unknown }, rows)).toEqual([
      'information extension Patient.extension[0]',
    ]);
    expect(await check({ ...patient, modifierExtension: unknown }, rows)).toEqual([
      'error extension Patient.modifierExtension[0]',
    ]);
  });
  it('hold the rules that their definition has for what they are on (contextInvariant)', async () => {
    const row = made('ruled', 'Extension', [], { contextInvariant: ['birthDate.exists()'] });
    const one = { ...patient, extension: [extension('ruled', { valueString: 's' })] };
    const { birthDate: _birthDate, ...without } = { birthDate: '2000', ...one };
    const patients = [made('any', 'Patient', []), row];
    expect(await check({ ...one, birthDate: '2000' }, patients)).toEqual([]);
    expect(await check(without, patients)).toEqual(['warning extension Patient.extension[0]']);
  });

  it('that are unknown hide no error, however many they are', async () => {
    const many = Array.from({ length: 400 }, (_, i) => extension(`unknown-${i}`, { valueString: 's' }));
    const wrong = [...many, extension('changing', { valueString: 's' })];
    const found = await check({ ...patient, extension: wrong }, rows, { tellsAll: true });
    expect(found.filter((each) => each.startsWith('error'))).toEqual(['error extension Patient.extension[400]']);
    const more = Array.from({ length: 1100 }, (_, i) => extension(`other-${i}`, { valueString: 's' }));
    expect(await check({ ...patient, extension: more }, rows)).toContain('error profile Patient.extension[999]');
  });

  it('belong into extension or modifierExtension', async () => {
    const one = [extension('changing', { valueString: 's' })];
    expect(await check({ ...patient, modifierExtension: one }, rows)).toEqual([]);
    expect(await check({ ...patient, extension: one }, rows)).toEqual(['warning extension Patient.extension[0]']);
  });
  it('are slices by their url', async () => {
    const row = made('with-extension', 'Patient', [
      { path: 'Patient.extension', sliceName: 'known', min: 1, type: [{ code: 'Extension', profile: [known.url] }] },
    ]);
    expect(await check({ ...patient, extension: [extension('known', { valueString: 's' })] }, [row, known])).toEqual(
      [],
    );
    expect(await check(patient, [row, known])).toEqual(['error slicing Patient.extension']);
  });
});

describe('resources within', () => {
  const goal = made('goal', 'Patient', [{ path: 'Patient.birthDate', min: 1 }]);
  const any = made('any-bundle', 'Bundle', []);
  it('are checked by the profiles that they claim', async () => {
    const resource = { resourceType: 'Patient', meta: { profile: [goal.url] } };
    const bundle = { resourceType: 'Bundle', type: 'collection', entry: [{ resource }] };
    expect(await check(bundle, [any, goal])).toEqual(['error cardinality Bundle.entry[0].resource.birthDate']);
  });
  it('are not refused for a profile that nobody knows', async () => {
    const resource = { resourceType: 'Patient', meta: { profile: ['http://x.org/nobody'] } };
    const bundle = { resourceType: 'Bundle', type: 'collection', entry: [{ resource }] };
    expect(await check(bundle, [any])).toEqual(['warning profile Bundle.entry[0].resource']);
  });
});

it('must-support is told of when wanted', async () => {
  const row = made('support', 'Patient', [{ path: 'Patient.birthDate', mustSupport: true }]);
  expect(await check(patient, [row])).toEqual([]);
  expect(await check(patient, [row], { tellsAll: true })).toEqual(['information must-support Patient.birthDate']);
});

describe('what is related in many ways', () => {
  const reference = (count: number) => ({ reference: `#p${count}` });
  const row = made('friends', 'Patient', [
    { path: 'Patient.link.other', type: [{ code: 'Reference', targetProfile: ['http://x.org/friends'] }] },
    { path: 'Patient.birthDate', min: 1 },
  ]);
  const friends = (count: number, lacking?: number) => ({
    ...patient,
    birthDate: '2000',
    link: [{ other: reference(0), type: 'seealso' }],
    contained: Array.from({ length: count }, (_, i) => ({
      ...{ ...patient, id: `p${i}`, ...(i !== lacking && { birthDate: '2000' }) },
      link: Array.from({ length: count }, (_each, j) => ({ other: reference(j), type: 'seealso' })),
    })),
  });
  it('is looked at once', async () => {
    const took = processorTime();
    expect(await check(friends(40), [row])).toEqual([]);
    expect(await check(friends(40, 39), [row])).toEqual(['error reference Patient.link[0].other']);
    expect(took()).toBeLessThan(2000);
  });
  it('costs little where nothing tells slices within slices apart', async () => {
    const depth = 40;
    const path = (level: number): string => `Patient${'.extension'.repeat(level)}`;
    const slices = Array.from({ length: depth }, (_, i) => {
      const id = (level: number): string => `Patient${Array.from({ length: level }, (_each, n) => `.extension:s${n}`).join('')}`; // prettier-ignore
      return [
        { id: `${id(i)}.extension`, path: path(i + 1), slicing: { rules: 'open' } },
        { id: id(i + 1), path: path(i + 1), sliceName: `s${i}`, max: '*' },
      ];
    });
    const deep = made('deep', 'Patient', slices.flat() as never);
    let extension: object[] = [{ url: 'u', valueString: 'v' }];
    for (let i = 0; i < depth; i++) extension = [{ url: 'u', extension }];
    const took = processorTime();
    expect((await check({ ...patient, extension }, [deep])).filter((each) => each.startsWith('error'))).toEqual([]);
    expect(took()).toBeLessThan(5000);
  });
});
