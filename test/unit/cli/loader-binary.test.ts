import { describe, expect, it } from 'vitest';

import { DEFAULT_SERVICES } from '../../../runtime/core/default-services.js';
import type { LoadItem } from '../../../runtime/cli/load/items.js';
import { loadItems } from '../../../runtime/cli/load/load-items.js';
import { storeSink } from '../../../runtime/cli/load/store-sink.js';
import { toyTables } from '../../toy/tables.js';
import { DEFAULT_LIMITS } from '../../../runtime/fhir/limits.js';
import type { Resource } from '../../../runtime/fhir/resource.js';
import { toyExtract } from '../../toy/extract.js';
import { useToyServer } from '../../http/server.js';

describe('kiln load of Binaries stores what HTTP would', () => {
  const server = useToyServer();
  const failures: string[] = [];
  const load = (...resources: object[]) => {
    async function* items(): AsyncGenerator<LoadItem> {
      for (const each of resources as Resource[]) {
        yield { place: String(each['id']), resource: each, id: String(each['id']), size: 100 };
      }
    }
    const sink = storeSink({
      ...DEFAULT_SERVICES,
      tables: toyTables,
      store: server.store,
      extract: toyExtract,
      limits: DEFAULT_LIMITS,
    });
    return loadItems(items(), sink, (place, error) => failures.push(`${place}: ${(error as Error).message}`));
  };
  const binary = (id: string, data: string) => ({
    resourceType: 'Binary',
    id,
    contentType: 'text/plain',
    data: Buffer.from(data).toString('base64'),
  });
  const other = { resourceType: 'Basic', id: 'other' };

  it('the content as a blob, so that equal content makes no new version, whoever brings it', async () => {
    expect(await load(binary('a', 'one'), other, binary('b', 'two'), binary('a', 'more'))).toMatchObject({
      created: 3,
      updated: 1,
    });
    expect((await server.store.read('Binary', 'a'))?.json).not.toContain('"data"');
    expect((await server.send('GET', '/Binary/a')).text).toBe('more');
    expect((await server.send('GET', '/Binary/a/_history/1')).text).toBe('one');
    expect((await server.send('PUT', '/Binary/a', binary('a', 'more'))).headers.etag).toBe('W/"2"');
    const blobs = server.store.contents.size;
    expect(await load(binary('a', 'more'), other, binary('b', 'two'))).toMatchObject({ unchanged: 3, updated: 0 });
    expect(server.store.contents.size).toBe(blobs);
  });

  it('refuses one that says itself where its content is, and leaves nothing of what failed behind', async () => {
    await load(binary('mine', 'secret'));
    const { _data } = JSON.parse((await server.store.read('Binary', 'mine'))?.json ?? '') as { _data: object };
    const blobs = server.store.contents.size;
    const { data: _content, ...thief } = binary('thief', 'x');
    expect(await load({ ...thief, _data }, { ...binary('bad', 'x'), data: '*' })).toMatchObject({
      failed: 2,
      created: 0,
    });
    expect(failures.sort()).toEqual([
      'bad: Binary.data has to be base64',
      expect.stringMatching(/^thief: Binary\.data\.extension\[0\]: the extension urn:kiln:blob is the server's own/),
    ]);
    expect([(await server.send('GET', '/Binary/thief')).status, server.store.contents.size]).toEqual([404, blobs]);
  });
});
