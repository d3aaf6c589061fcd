import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import type { Resource } from '../../../runtime/fhir/resource.js';
import { createExtractor } from '../../../runtime/search/extract.js';
import { openStore } from '../../contract/open-store.js';
import { EVERYTHING, LAB, observed, serveWith } from './support.js';

const extract = createExtractor(tables);
let extracted = 0;
let notCurrent: readonly string[] = [];
const store = await openStore('sqlite::memory:');
afterAll(() => store.close());

describe('a read of what a constraint hides', () => {
  const server = serveWith(store, {
    extract: (resource: Resource) => {
      extracted++;
      return extract(resource);
    },
    currency: { notCurrent: () => Promise.resolve(notCurrent) },
  });
  const client = server.as(`system/Observation.r?${LAB}`);
  const read = async (id: string) => {
    extracted = 0;
    const { status, text } = await client.send('GET', `/Observation/${id}`);
    return [status, text.includes('OperationOutcome'), extracted] as const;
  };

  beforeAll(async () => {
    const all = server.as(EVERYTHING);
    await all.send('PUT', '/Observation/seen', { ...observed('laboratory'), id: 'seen' });
    await all.send('PUT', '/Observation/hidden', { ...observed('vital-signs'), id: 'hidden' });
    await all.send('PUT', '/Observation/gone', { ...observed('laboratory'), id: 'gone' });
    await all.send('DELETE', '/Observation/gone');
  });

  it('does not look at its content, which would take the longer the more there is', async () => {
    expect(await read('hidden')).toEqual([404, true, 0]);
    expect(await read('never')).toEqual([404, true, 0]);
    expect((await read('seen'))[0]).toBe(200);
    expect((await read('gone'))[0]).toBe(410);
  });

  it('does, where the index was made by other definitions', async () => {
    notCurrent = ['Observation.category'];
    expect(await read('hidden')).toEqual([404, true, 1]);
    expect((await read('seen'))[0]).toBe(200);
    notCurrent = [];
  });
});
