import { describe, expectTypeOf, it } from 'vitest';

import type {
  AnyResource,
  Bundle,
  CodeableReference,
  Group,
  Observation,
  Parameters,
  Patient,
  Reference,
} from '../../../generated/types/index.js';
import { FhirClient, referenceTo } from '../../../runtime/client/index.js';

// `npm run typecheck` checks these: at run time nothing of them is left. No request is sent.
const client = new FhirClient({ base: 'http://127.0.0.1:1/fhir' });

describe('types of the client and of resources', () => {
  it('know the resource of a type', () => {
    expectTypeOf(client.read<'Patient'>).returns.resolves.toEqualTypeOf<Patient>();
    expectTypeOf(client.find<'Patient'>).returns.resolves.toEqualTypeOf<Patient | undefined>();
    expectTypeOf(client.create<'Observation'>).returns.resolves.toEqualTypeOf<Observation>();
    // @ts-expect-error No such type.
    expectTypeOf(client.read<'Patiant'>).toBeFunction();
  });

  it('refuse properties that a resource does not have, which create and update took before', () => {
    expectTypeOf(() =>
      client.create({ resourceType: 'Patient', name: [{ family: 'x' }] }),
    ).returns.resolves.toEqualTypeOf<Patient>();
    // @ts-expect-error No such property.
    expectTypeOf(() => client.create({ resourceType: 'Patient', nmae: [] })).toBeFunction();
    // @ts-expect-error No such property.
    expectTypeOf(() => client.update({ resourceType: 'Patient', id: '1', nmae: [] })).toBeFunction();
    // @ts-expect-error No such property of a name.
    expectTypeOf(() => client.create({ resourceType: 'Patient', name: [{ famly: 'x' }] })).toBeFunction();
    // @ts-expect-error No such property.
    expectTypeOf(() => client.transaction().create({ resourceType: 'Patient', nmae: [] })).toBeFunction();
    expectTypeOf((patient: Patient) =>
      client.update({ ...patient, active: true }),
    ).returns.resolves.toEqualTypeOf<Patient>();
    expectTypeOf((resource: AnyResource) => client.create(resource)).returns.resolves.toEqualTypeOf<AnyResource>();
  });

  it('refuse two values of one choice element, but not what was read and is sent back', () => {
    const observation = { resourceType: 'Observation', status: 'final', code: {} } as const;
    expectTypeOf(() => client.create({ ...observation, valueString: 'x' })).toBeFunction();
    // @ts-expect-error Two values.
    expectTypeOf(() => client.create({ ...observation, valueString: 'x', valueQuantity: { value: 1 } })).toBeFunction();
    // @ts-expect-error Two values.
    expectTypeOf(() => client.update({ ...observation, id: '1', valueString: 'x', valueBoolean: true })).toBeFunction();
    expectTypeOf(() =>
      client.create({ ...observation, valueString: 'x', effectiveDateTime: '2026' }),
    ).returns.resolves.toEqualTypeOf<Observation>();
    expectTypeOf((read: Observation) => client.update(read)).returns.resolves.toEqualTypeOf<Observation>();
    expectTypeOf((read: Observation) => client.update({ ...read, valueInteger: 1 })).toBeFunction();
  });

  it('refuse modifiers that a parameter of this kind does not have', () => {
    const search = () => client.search('Patient', { 'family:exact': 'x', 'general-practitioner:Organization': '1' });
    expectTypeOf(search).toBeFunction();
    expectTypeOf(() => client.search('Patient')).toBeFunction();
    expectTypeOf(() =>
      client.search('Observation', { 'code:in': 'x', 'date:missing': true, 'subject:Patient.name': 'x' }),
    ).toBeFunction();
    expectTypeOf(() =>
      client.search('Patient', { '_has:Observation:patient:code': 'x', '_id:not': '1' }),
    ).toBeFunction();
    // @ts-expect-error No such modifier.
    expectTypeOf(() => client.search('Patient', { 'family:exat': 'x' })).toBeFunction();
    // @ts-expect-error Not of a date.
    expectTypeOf(() => client.search('Patient', { 'birthdate:exact': 'x' })).toBeFunction();
    // @ts-expect-error Not of a string.
    expectTypeOf(() => client.search('Patient', { 'family:in': 'x' })).toBeFunction();
  });

  it('know the codes of a required binding', () => {
    expectTypeOf<Patient['gender']>().toEqualTypeOf<'male' | 'female' | 'other' | 'unknown' | undefined>();
  });

  it('know the types that a reference leads to', () => {
    expectTypeOf<NonNullable<Patient['managingOrganization']>>().toEqualTypeOf<Reference<'Organization'>>();
    expectTypeOf<NonNullable<Patient['generalPractitioner']>[0]['type']>().toEqualTypeOf<
      'Organization' | 'Practitioner' | 'PractitionerRole' | undefined
    >();
    expectTypeOf<NonNullable<CodeableReference<'Group'>['reference']>>().toEqualTypeOf<Reference<'Group'>>();
    expectTypeOf<Reference<'Patient'>>().toExtend<Reference>();
    expectTypeOf<Reference<'Patient'>>().not.toExtend<Reference<'Group'>>();
    expectTypeOf(referenceTo<Patient>).returns.toEqualTypeOf<Reference<'Patient'>>();
    expectTypeOf(client.resolve<'Patient' | 'Group'>).returns.resolves.toEqualTypeOf<Patient | Group>();
    expectTypeOf(client.resolve<string>).returns.resolves.toEqualTypeOf<AnyResource>();
  });

  it('know the search parameters of a type', () => {
    const search = client.search<'Patient'>;
    expectTypeOf<{ family: string; 'general-practitioner.name': string; _count: number }>().toExtend<
      Parameters_<typeof search>[1]
    >();
    // @ts-expect-error No such parameter.
    expectTypeOf(() => client.search('Patient', { famly: 'x' })).toBeFunction();
  });

  it('know the operations: their types, parameters and results', () => {
    const everything = () => client.operation('everything', { type: 'Patient', query: { start: '2020', _count: 5 } });
    expectTypeOf(everything).returns.resolves.toEqualTypeOf<Bundle>();
    expectTypeOf(() => client.operation('lookup')).returns.resolves.toEqualTypeOf<Parameters>();
    expectTypeOf(() =>
      client.operation('of-another-server', { query: { x: 1 } }),
    ).returns.resolves.toEqualTypeOf<AnyResource>();
    // @ts-expect-error No such parameter.
    expectTypeOf(() => client.operation('everything', { query: { begin: '2020' } })).toBeFunction();
    // @ts-expect-error Not an operation of this type.
    expectTypeOf(() => client.operation('everything', { type: 'Observation' })).toBeFunction();
  });
});

/** The utility type, which `Parameters` of FHIR hides. */
type Parameters_<F> = F extends (...args: infer A) => unknown ? A : never;
