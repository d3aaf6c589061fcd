import { expect, it } from 'vitest';

import { startFor } from '../../../runtime/assembly/reindex-on-change.js';
import type { JsonObject } from '../../../runtime/fhir/resource.js';
import { SILENT } from '../../../runtime/observe/log.js';
import { createToyStore } from '../../toy/store.js';

const OWNER = { resourceTypes: ['Patient', 'Basic'], log: SILENT };

/** A store with some types, and what is started on it. */
function world(types: readonly string[]) {
  const store = Object.assign(createToyStore(), {
    counts: () => Promise.resolve(new Map(types.map((type) => [type, 1]))),
  });
  const started: JsonObject[] = [];
  const jobs = {
    start: (_type: string, input: JsonObject) => {
      started.push(input);
      return Promise.resolve({ id: String(started.length) } as never);
    },
  };
  const change = (whole: string, ...stale: string[]) =>
    startFor(
      {
        maker: { whole, own: [], record: () => ({ whole, rows: {} }) },
        indexStatus: { notCurrent: () => Promise.resolve(stale) },
      },
      { ...OWNER, store, jobs },
    );
  return { change, types: () => started.map(({ parts }) => (parts as { type: string }[]).map(({ type }) => type)) };
}

it('a change of search parameters starts one job for the types that it is about, whatever the number of processes', async () => {
  const { change, types } = world(['Patient', 'Basic', 'Group']);
  expect(await Promise.all([change('one', 'Patient.eyes'), change('one', 'Patient.eyes')])).toContain('1');
  expect(types()).toEqual([['Patient']]);
  await change('two');
  await change('three', 'Basic.eyes', 'Patient.eyes');
  expect(types()).toEqual([['Patient'], ['Basic', 'Patient']]);
});

it('a parameter that all types inherit is about all that are stored', async () => {
  const { change, types } = world(['Patient', 'Basic']);
  await change('one', 'DomainResource.eyes');
  expect(types()).toEqual([['Basic', 'Patient']]);
});
