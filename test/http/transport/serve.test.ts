import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { runProgram } from '../../../runtime/cli/program.js';
import { openSqliteStore } from '../../../runtime/store/sqlite/sqlite-store.js';
import { EVENTUALLY } from '../../eventually.js';
import { startKiln, type KilnProcess } from '../../service/kiln-process.js';
import { createMinimalValues } from '../../../runtime/conformance/minimal-resource.js';
import { FHIR_JSON } from '../server.js';

async function kiln(...args: string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runProgram(args, { out: (line) => out.push(line), err: (line) => err.push(line), env: {} });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

describe('kiln serve, with all types of the generated tables', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-serve-'));
  const store = `sqlite:${join(folder, 'data', 'kiln.db')}`;
  let server: KilnProcess;
  let base: string;

  beforeAll(async () => {
    // The minimal resources have the elements that they need, and break rules such as "either this or that".
    server = startKiln(['serve', '--port', '0', '--store', store, '--validation', 'structure']);
    base = await server.started;
  });
  afterAll(async () => {
    server.child.kill('SIGKILL');
    await server.ended;
    rmSync(folder, { recursive: true });
  });

  const send = (method: string, path: string, body?: object) =>
    fetch(`${base}${path}`, {
      method,
      // Or a Binary would be answered as its content.
      headers: { accept: FHIR_JSON, ...(body === undefined ? {} : { 'content-type': FHIR_JSON }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });

  it('prints one line with its URL, and that the store was not there before', () => {
    const file = join(folder, 'data', 'kiln.db');
    expect(server.output.out).toBe(`Kiln serves FHIR R5 at ${base} from a new store, ${file}\n`);
  });

  it('stores, reads, changes and deletes every type, and claims just that', { timeout: 60_000 }, async () => {
    expect(tables.resourceTypes.length).toBeGreaterThan(150);
    const { resource } = createMinimalValues(tables);
    const topic = { url: 'http://example.org/topic', resourceTrigger: [{ resource: 'Patient' }] };
    const minimal = (type: string) => ({ ...resource(type), ...(type === 'SubscriptionTopic' && topic) });
    // A Subscription that could not fire is refused: test/http/subscriptions.
    for (const type of tables.resourceTypes.filter((each) => each !== 'Subscription')) {
      const url = `/${type}/test`;
      const answers = [
        await send('PUT', url, { ...minimal(type), id: 'test', language: 'de' }),
        await send('PUT', url, { ...minimal(type), id: 'test', language: 'en' }),
        await send('GET', url),
        await send('GET', `${url}/_history/1`),
        await send('DELETE', url),
        await send('GET', url),
      ];
      expect(answers.map(({ status }) => status)).toEqual([201, 200, 200, 200, 200, 410]);
      expect(await answers[2]?.json()).toMatchObject({ resourceType: type, language: 'en' });
    }
    const statement = (await (await send('GET', '/metadata')).json()) as { rest: { resource: { type: string }[] }[] };
    expect(statement.rest[0]?.resource.map(({ type }) => type)).toEqual(tables.resourceTypes);
  });

  it('shows at once what kiln load puts in beside it', async () => {
    const file = join(folder, 'loaded.json');
    writeFileSync(file, '{"resourceType":"Patient","id":"loaded","extension":[{"url":"urn:x","valueDecimal":2.0}]}');
    const first = await kiln('load', file, '--store', store);
    expect([first.code, first.err]).toEqual([0, '']);
    expect(first.out).toMatch(
      /^1 resources in .* a second\): 1 created, 0 updated, 0 unchanged; 0 failed, 0 .*skipped$/,
    );
    expect(await (await send('GET', '/Patient/loaded')).text()).toContain('"valueDecimal":2.0');
    expect((await kiln('load', file, '--store', store)).out).toContain('1 unchanged');
    expect(await kiln('load', file, join(folder, 'none'), join(folder, 'no'), '--store', store)).toEqual({
      code: 2,
      out: '',
      err: `kiln: nothing was loaded: ${folder}/none: does not exist; ${folder}/no: does not exist`,
    });
  });

  it('says in one line that a port is in use', async () => {
    const { port } = new URL(base);
    const { code, err } = await kiln('serve', '--port', port, '--store', 'sqlite::memory:');
    expect([code, err]).toEqual([1, `kiln: port ${port} of 127.0.0.1 is in use; choose another with --port`]);
  });

  it('logs requests without ids, values and query strings', async () => {
    await send('GET', '/Patient/secret-id?secret-name=secret-value');
    const logged = () => server.output.err.trimEnd().split('\n');
    await vi.waitFor(
      () =>
        expect(JSON.parse(logged().at(-1) ?? '')).toMatchObject({
          level: 'info',
          method: 'GET',
          route: '[type]/[id]',
          interaction: 'read',
          status: 400,
          params: ['secret-name'],
        }),
      EVENTUALLY,
    );
    expect(logged().join()).not.toMatch(/secret-id|secret-value|"level":"error"/);
  });

  it('closes on SIGTERM, exit code 0, and everything is there', async () => {
    await send('PUT', '/Basic/last', { resourceType: 'Basic', id: 'last', code: { text: 'x' } });
    server.child.kill('SIGTERM');
    expect(await server.ended).toBe(0);
    const left = openSqliteStore(store);
    expect((await left.read('Basic', 'last'))?.version).toBe(1);
    expect((await left.counts()).get('Patient')).toBe(1);
    await left.close();
  });
});
