import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { openMongoStore } from '../../../../../runtime/store/mongo/mongo-store.js';
import { useWriteServer } from '../../../../http/write-server.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../../../mongod/for-tests.js';
import { joined, targetOf, WIDENESS, type Target } from './command-target.js';

/** A row of the table in docs/scaling.md: what is asked, and how many shards that concerns. */
const ROW = /^\| (?<name>[^|]+?) +\| (?<target>one|few|all) +\|/gm;

const sent: { name: string; target: Target; command: object }[] = [];
const store =
  mongodUrl() === undefined
    ? undefined
    : await openMongoStore(newDatabase(), {
        onCommand(name, command) {
          const target = targetOf(name, command);
          if (target !== undefined) sent.push({ name, target, command });
        },
      });

describeOnMongod('commands of a sharded cluster', () => {
  const server = useWriteServer(store!);
  const patient = (id: string, more: object = {}) => ({
    resourceType: 'Patient',
    id,
    identifier: [{ system: 'urn:s', value: id }],
    ...more,
  });

  const bundle = (type: string, ...requests: readonly (readonly [string, string, object?])[]) => ({
    resourceType: 'Bundle',
    type,
    entry: requests.map(([method, url, resource]) => ({ request: { method, url }, ...(resource && { resource }) })),
  });

  /** Each by its name in the table. */
  const ASKED: Readonly<Record<string, () => Promise<{ readonly status: number; readonly text: string }>>> = {
    'read, vread': async () => {
      await server.send('GET', '/Patient/a/_history/1');
      return server.send('GET', '/Patient/a');
    },
    create: () => server.send('POST', '/Patient', { resourceType: 'Patient' }),
    'update, patch, delete': async () => {
      await server.send('PUT', '/Patient/u', patient('u'));
      await server.send('PATCH', '/Patient/u', [{ op: 'add', path: '/active', value: true }], {
        'content-type': 'application/json-patch+json',
      });
      return server.send('DELETE', '/Patient/u');
    },
    'batch of reads': () => server.send('POST', '/', bundle('batch', ['GET', 'Patient/a'], ['GET', 'Patient/b'])),
    'transaction of updates': () =>
      server.send(
        'POST',
        '/',
        bundle('transaction', ['PUT', 'Patient/t1', patient('t1')], ['PUT', 'Patient/t2', patient('t2')]),
      ),
    'search by `_id`': () => server.send('GET', '/Patient?_id=a,b'),
    'search by another parameter': () => server.send('GET', '/Patient?identifier=urn:s|a'),
    'chains, `_has`, includes': () =>
      server.send('GET', '/Observation?subject.identifier=urn:s|a&_include=Observation:subject'),
    'conditional create, update, delete': () =>
      server.send('POST', '/Patient', patient('x'), { 'if-none-exist': 'identifier=urn:s|a' }),
    'history of a resource': () => server.send('GET', '/Patient/a/_history'),
    'history of a type, of all': () => server.send('GET', '/Patient/_history'),
  };

  beforeAll(async () => {
    for (const id of ['a', 'b']) await server.send('PUT', `/Patient/${id}`, patient(id));
    await server.send('PUT', '/Patient/a', patient('a', { active: true }));
    await server.send('PUT', '/Observation/o', {
      resourceType: 'Observation',
      id: 'o',
      status: 'final',
      code: { text: 'x' },
      subject: { reference: 'Patient/a' },
    });
  }, 60_000);
  afterAll(() => store?.close());

  const table = readFileSync('docs/scaling.md', 'utf8').matchAll(ROW);
  const rows = new Map(Array.from(table, ({ groups }) => [groups!['name']!, groups!['target'] as Target]));

  it('are all in the table', () => {
    expect([...rows.keys()].sort()).toEqual(Object.keys(ASKED).sort());
  });

  it.each(Object.entries(ASKED))('%s: no more shards than docs/scaling.md says', async (name, ask) => {
    sent.length = 0;
    const answer = await ask();
    expect(answer.status, answer.text).toBeLessThan(300);
    const data = sent.map(({ target }) => target);
    // Several commands to one shard each are no wider than one.
    const widest = data.includes('all') ? 'all' : data.includes('few') ? 'few' : joined(data.slice(0, 1));
    // What is written in one moment may share a command.
    expect(WIDENESS.indexOf(widest), `${widest}: ${JSON.stringify(sent)}`).toBeLessThanOrEqual(
      WIDENESS.indexOf(rows.get(name)!),
    );
  });
});
