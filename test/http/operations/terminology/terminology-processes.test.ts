import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { Store } from '../../../../runtime/store/store.js';
import { openStore } from '../../../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../../mongod/for-tests.js';
import { useBundleServer } from '../../bundles/bundle-server.js';

const URL = 'http://changing.example';

/** Two servers, each with a store of its own on the same data, as two processes have. */
function followsOthers(stores: readonly [Store, Store]): void {
  const [writer, reader] = [useBundleServer(stores[0]), useBundleServer(stores[1])];
  const put = async (resource: { resourceType: string; id: string; [name: string]: unknown }): Promise<void> => {
    const answer = await writer.send('PUT', `/${resource.resourceType}/${resource.id}`, resource);
    expect(answer.status, answer.text).toBeLessThan(300);
  };
  const system = (codes: readonly string[]) => put({ resourceType: 'CodeSystem', id: 'cs', url: URL, status: 'active', content: 'complete', concept: codes.map((code) => ({ code, display: `Code ${code} of many` })) }); // prettier-ignore
  const valueSet = (compose: object) => put({ resourceType: 'ValueSet', id: 'vs', url: `${URL}/set`, status: 'active', compose }); // prettier-ignore
  const total = async (): Promise<unknown> => {
    const answer = await reader.send('GET', `/ValueSet/$expand?url=${URL}/set&count=1`);
    return answer.status === 200 ? answer.json().expansion.total : answer.status;
  };
  /** So soon that all processes see a change. */
  const SOON = { timeout: 2000, interval: 50 };
  const many = (count: number): string[] => Array.from({ length: count }, (_, i) => `c${i}`);

  beforeAll(async () => {
    await system(['a', 'b']);
    await valueSet({ include: [{ system: URL }] });
  });

  it('a code system that grows, beyond what is kept and beyond what is read again without a question', async () => {
    expect(await total()).toBe(2);
    await system(many(500));
    await expect.poll(total, SOON).toBe(500);
    await system(many(4000));
    await expect.poll(total, SOON).toBe(4000);
    await system(many(4001));
    await expect.poll(total, SOON).toBe(4001);
  });

  it('a value set that changes, is deleted, and comes back', async () => {
    await valueSet({ include: [{ system: URL, concept: [{ code: 'c1' }] }] });
    await expect.poll(total, SOON).toBe(1);
    await writer.send('DELETE', '/ValueSet/vs');
    await expect.poll(total, SOON).toBe(404);
    await valueSet({ include: [{ system: URL, concept: [{ code: 'c1' }, { code: 'c2' }] }] });
    await expect.poll(total, SOON).toBe(2);
  });
}

const folder = mkdtempSync(join(tmpdir(), 'kiln-terms-'));
const file = `sqlite:${join(folder, 'kiln.db')}`;
const onFile: readonly [Store, Store] = [await openStore(file), await openStore(file)];

describe('terminology of two processes on SQLite', () => {
  afterAll(async () => {
    for (const each of onFile) await each.close();
    rmSync(folder, { recursive: true });
  });
  followsOthers(onFile);
});

const database = mongodUrl() === undefined ? undefined : newDatabase();
const onMongo: readonly [Store, Store] | undefined =
  database === undefined ? undefined : [await openStore(database), await openStore(database)];

describeOnMongod('terminology of two processes on MongoDB', () => {
  if (onMongo === undefined) return;
  afterAll(async () => {
    for (const each of onMongo) await each.close();
  });
  followsOthers(onMongo);
});
