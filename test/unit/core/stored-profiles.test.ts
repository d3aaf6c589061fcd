import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { profiles } from '../../../generated/profiles.js';
import { tables } from '../../../generated/tables.js';
import { createStoredProfiles, type StoredProfiles } from '../../../runtime/core/validation/stored-profiles.js';

type Store = StoredProfiles['store'];

const url = 'http://x.org/stored';
const definition = (min: number): object => ({
  resourceType: 'StructureDefinition',
  ...{ url, type: 'Patient', derivation: 'constraint' },
  snapshot: { element: [{ path: 'Patient' }, { path: 'Patient.birthDate', min, max: '1', type: [{ code: 'date' }] }] },
});

/** A store with one definition, which says how often it was asked. */
function store(): { readonly base: Store; asked: number; json: string | undefined } {
  const state = {
    asked: 0,
    json: JSON.stringify(definition(1)) as string | undefined,
    base: {
      find: () => {
        state.asked++;
        return Promise.resolve({ versions: state.json === undefined ? [] : [{ json: state.json }] });
      },
      write: () => Promise.resolve([]),
    } as unknown as Store,
  };
  return state;
}

describe('profiles for validation', () => {
  let time = 0;
  const load = (): Promise<typeof profiles> => Promise.resolve(profiles);
  beforeAll(() => void (time = 0));
  afterAll(() => void (time = 0));

  it('are the generated ones, then those of the store, and are remembered', async () => {
    const state = store();
    const found = createStoredProfiles(state.base, tables, load, () => time);
    expect((await found.profile('http://hl7.org/fhir/StructureDefinition/bp|5.0.0'))?.type).toBe('Observation');
    expect(state.asked).toBe(0);
    expect((await found.profile(url))?.root.children?.[0]).toEqual({ name: 'birthDate', min: 1 });
    await found.profile(url);
    expect(state.asked).toBe(1);
  });

  it('are looked for again when a StructureDefinition was written, or some time has passed', async () => {
    const state = store();
    const found = createStoredProfiles(state.base, tables, load, () => time);
    await found.profile(url);
    state.json = undefined;
    await found.store.write([{ type: 'Patient' }] as never, []);
    expect(await found.profile(url)).toBeDefined();
    await found.store.write([{ type: 'StructureDefinition' }] as never, []);
    expect(await found.profile(url)).toBeUndefined();
    state.json = JSON.stringify(definition(0));
    time += 1501;
    expect((await found.profile(url))?.root).toEqual({ name: 'Patient' });
  });

  it.each([
    { snapshot: { element: 'x' } },
    { snapshot: { element: [{ min: 1 }] } },
    {
      snapshot: undefined,
      differential: { element: [5, { path: 7 }] },
      baseDefinition: `http://hl7.org/fhir/StructureDefinition/Patient`,
    },
    { context: 'x', type: 'Extension', snapshot: { element: [{ path: 'Extension' }] } },
  ])('say that a stored definition is of wrong form: %j', async (more) => {
    const state = store();
    state.json = JSON.stringify({ ...definition(1), ...more });
    const found = createStoredProfiles(state.base, tables, load, () => time);
    expect(await found.profile(url)).toBeUndefined();
    expect(found.whyUnusable(url)).toContain(url);
  });

  it('say why a stored definition cannot be used', async () => {
    const state = store();
    const element = [{ path: 'Patient.birthDate', patternCode: 'x' }];
    const more = { snapshot: undefined, differential: { element } };
    const baseDefinition = 'http://hl7.org/fhir/StructureDefinition/Patient';
    state.json = JSON.stringify({ ...definition(1), ...more, baseDefinition });
    const found = createStoredProfiles(state.base, tables, load, () => time);
    expect(await found.profile(url)).toBeUndefined();
    expect(found.whyUnusable(url)).toBe(`${url}: Patient.birthDate has patternCode; it is of type date`);
  });
});
