import { gzipSync } from 'node:zlib';

import { rolldown } from 'rolldown';
import { afterAll, describe, expect, it } from 'vitest';

import { FhirClient } from '../../../runtime/client/index.js';
import { openStore } from '../../contract/open-store.js';
import { clientSuite } from './client.js';

const store = await openStore('sqlite::memory:');
afterAll(() => store.close());

describe('the typed client, on SQLite', () => clientSuite(store));

describe('the typed client', () => {
  it('follows no link to another server', async () => {
    const other = new FhirClient({
      base: 'http://127.0.0.1:1/fhir',
      fetch: () =>
        Promise.resolve(
          Response.json({
            resourceType: 'Bundle',
            type: 'searchset',
            link: [{ relation: 'next', url: 'http://evil.example/' }],
          }),
        ),
    });
    const walk = async (): Promise<void> => {
      for await (const each of other.search('Patient', {})) expect(each).toBeUndefined();
    };
    await expect(walk()).rejects.toThrow('does not lead below');
  });

  it('is smaller than 15 kB for a browser, compressed, with jose', async () => {
    const bundle = await rolldown({
      input: new URL('../../../runtime/client/index.ts', import.meta.url).pathname,
      platform: 'browser',
    });
    const { output } = await bundle.generate({ format: 'esm', minify: true });
    await bundle.close();
    expect(output).toHaveLength(1);
    const [{ code }] = output;
    expect(code).not.toMatch(/node:|from"/);
    const size = gzipSync(code).length;
    expect(size).toBeGreaterThan(1000);
    expect(size).toBeLessThan(15_000);
  });
});
