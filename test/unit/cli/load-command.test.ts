import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { findFiles } from '../../../runtime/cli/load/find-files.js';
import { readDocuments } from '../../../runtime/cli/load/read-documents.js';
import { runProgram } from '../../../runtime/cli/program.js';
import { printable } from '../../../runtime/cli/terminal.js';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'kiln-load-'))));
afterEach(() => rmSync(folder, { recursive: true }));

function file(name: string, content: string | Buffer): string {
  const path = join(folder, name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, content);
  return path;
}

async function kiln(...args: string[]) {
  const lines: string[] = [];
  const drawn: string[] = [];
  const code = await runProgram(args, {
    out: (line) => lines.push(line),
    // A new store is told before everything else, which is not what these tests are about.
    err: (line) => void (line.startsWith('kiln: new store at ') || lines.push(line)),
    draw: (line) => drawn.push(line),
    env: {},
  });
  return { code, lines, drawn };
}

const patient = (id: string, more = '') => `{"resourceType":"Patient","id":"${id}"${more}}`;

describe('kiln load and the size of files', () => {
  it('a file larger than the limit, inflated or not, fails, and the rest is read', async () => {
    const large = patient('x', `,"language":"${'y'.repeat(5000)}"`);
    file('in/large.json', large);
    file('in/small.json', patient('a'));
    const { create } = await import('tar');
    await create({ gzip: true, file: join(folder, 'f.tgz'), cwd: join(folder, 'in') }, ['large.json', 'small.json']);
    const paths = [
      file('a.json', large),
      file('b.json.gz', gzipSync(large)),
      file('c.ndjson.gz', gzipSync(`${patient('b')}\n${large}\n${patient('c')}`)),
      file('d.json.gz', gzipSync(patient('d'))),
      join(folder, 'f.tgz'),
    ];
    const seen: string[] = [];
    for await (const document of readDocuments(await findFiles(paths), undefined, 2048)) {
      const place = document.place.slice(folder.length + 1);
      seen.push('error' in document ? `${place}: ${(document.error as Error).message}` : place);
    }
    const why = 'too large for one resource: at most 2 kB, inflated; raise the limit with --limits-body';
    expect(seen).toEqual([
      `a.json: ${why}`,
      `b.json.gz: ${why}`,
      'c.ndjson.gz:1',
      `c.ndjson.gz:2: ${why}`,
      'c.ndjson.gz:3',
      'd.json.gz',
      `f.tgz/large.json: ${why}`,
      'f.tgz/small.json',
    ]);
  });

  it('files that inflate to much were all inflated ahead: one is at a time', async () => {
    const size = 16 * 1024 * 1024;
    const bytes = gzipSync(Buffer.alloc(size, ' '));
    const paths = Array.from({ length: 12 }, (_, i) => file(`${i}.json.gz`, bytes));
    const before = process.memoryUsage().external;
    const documents = readDocuments(await findFiles(paths), undefined, 2 * size);
    await documents.next();
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(process.memoryUsage().external - before).toBeLessThan(5 * size);
    await documents.return(undefined);
  });

  it('kiln load has the limit of bodies', async () => {
    const path = file('large.json', patient('x', `,"language":"${'y'.repeat(5000)}"`));
    const { code, lines } = await kiln('load', path, '--store', `sqlite:${folder}/kiln.db`, '--limits-body', '2kB');
    expect(code).toBe(1);
    expect(lines[0]).toBe(
      `${path}: too large for one resource: at most 2 kB, inflated; raise the limit with --limits-body`,
    );
  });
});

describe('what kiln load prints', () => {
  it('names of files steered the terminal, and began lines of their own', async () => {
    file('deep/a\u001b[31m\nkiln: done\u009b.json', '{');
    const store = `sqlite:${folder}/kiln.db`;
    const loaded = await kiln('load', join(folder, 'deep'), '--store', store);
    const missing = await kiln('load', join(folder, 'no\u001b]0;x\u0007\r\n'), '--store', store);
    expect([loaded.code, missing.code]).toEqual([1, 2]);
    for (const line of [...loaded.lines, ...missing.lines]) expect(line).not.toMatch(/\p{Cc}/u);
    expect(loaded.lines[0]).toContain('/a\\u{1b}[31m\\u{a}kiln: done\\u{9b}.json: ');
    expect(missing.lines).toEqual([expect.stringContaining('/no\\u{1b}]0;x\\u{7}\\u{d}\\u{a}: does not exist')]);
  });

  it.each([
    ['plain, Ünïcode 漢字 🙂', 'plain, Ünïcode 漢字 🙂'],
    ['a\tb\u2028c\u202ed\u2066', 'a\\u{9}b\\u{2028}c\\u{202e}d\\u{2066}'],
  ])('%j as %j', (text, shown) => expect(printable(text)).toBe(shown));
});

describe('kiln load and faults', () => {
  const faulty = { resourceType: 'Patient', id: 'x', a: 1, b: 1, c: 1, d: 1, e: 1, f: 1, g: 1 };
  const told = (place: string) =>
    [...'abcde'].map((key) => `${place}.${key}: Patient has no property "${key}"; .*`).join('') + 'and 2 more$';

  it('only the first fault of a resource was told', async () => {
    const path = file('p.json', JSON.stringify(faulty));
    const { lines } = await kiln('load', path, '--store', `sqlite:${folder}/kiln.db`);
    expect(lines[0]).toMatch(new RegExp(`^${path}: ${told('Patient')}`));
  });

  it('places of faults in Bundles were told twice', async () => {
    const put = (resource: object) => ({ resource, request: { method: 'PUT', url: 'Patient/x' } });
    const bundle = (type: string) =>
      file(`${type}.json`, JSON.stringify({ resourceType: 'Bundle', type, entry: [put(faulty)] }));
    const paths = [bundle('batch'), bundle('transaction'), bundle('collection')];
    const { lines } = await kiln('load', ...paths, '--bundles', 'apply', '--store', `sqlite:${folder}/kiln.db`);
    expect(lines.slice(0, 3)).toEqual([
      expect.stringMatching(new RegExp(`^${paths[0]} entry\\[0\\]: 400 Bad Request: ${told('Patient')}`)),
      expect.stringMatching(new RegExp(`^${paths[1]}: ${told('Bundle.entry\\[0\\].resource')}`)),
      expect.stringMatching(new RegExp(`^${paths[2]} entry\\[0\\]: ${told('Patient')}`)),
    ]);
  });

  it('Bundles that are not executed were stored without a word under --bundles apply', async () => {
    const bundle = (id: string, type: string) =>
      file(
        `${id}.json`,
        JSON.stringify({ resourceType: 'Bundle', id, type, link: [{ relation: 'self', url: 'http://example.org' }] }),
      );
    const paths = [bundle('a', 'searchset'), bundle('b', 'history'), bundle('c', 'batch')];
    const { code, lines } = await kiln('load', ...paths, '--bundles', 'apply', '--store', `sqlite:${folder}/kiln.db`);
    expect(code).toBe(0);
    expect(lines.at(-1)).toMatch(/^2 Bundles were stored as they are: only batches and transactions are executed/);
  });
});

describe('kiln load --url', () => {
  async function freeUrl(): Promise<string> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    return `http://127.0.0.1:${port}/fhir/`;
  }

  it('nothing that answers was told after twenty seconds, behind a full bar, by a code alone', async () => {
    const url = await freeUrl();
    const { code, lines, drawn } = await kiln('load', file('a.json', patient('a')), '--url', url);
    expect([code, lines]).toEqual([1, [`kiln: nothing answers at ${url.slice(0, -1)} (ECONNREFUSED)`]]);
    expect(drawn).toEqual([]);
  });

  it('a server that is just starting is waited for', async () => {
    const url = await freeUrl();
    const seen: string[] = [];
    const server = createServer((req, res) => {
      seen.push(`${req.method} ${req.url}`);
      req.resume();
      res.writeHead(req.method === 'GET' ? 404 : 201).end();
    });
    setTimeout(() => server.listen(Number(new URL(url).port), '127.0.0.1'), 300);
    const { code, lines } = await kiln('load', file('a.json', patient('a')), '--url', url);
    server.close();
    server.closeAllConnections();
    expect([code, seen]).toEqual([0, ['GET /fhir/metadata', 'PUT /fhir/Patient/a']]);
    expect(lines[0]).toMatch(/^1 resources in /);
  });
});

describe('kiln load --url', () => {
  it('takes an empty token for a mistake, before it sends anything', async () => {
    const { code, lines } = await kiln(
      'load',
      file('a.json', patient('a')),
      '--url',
      'http://127.0.0.1:1/fhir',
      '--token',
      '',
    );
    expect([code, lines]).toEqual([2, ['kiln: --token is empty: did kiln token fail?']]);
  });
});

describe('kiln load of Subscriptions straight into a store', () => {
  it('refuses those that would have to fire, each by itself and in Bundles; others are stored', async () => {
    const subscription = (id: string, status: string) => ({
      ...{ resourceType: 'Subscription', id, status, topic: 'http://topic.example/x', endpoint: 'https://a.example' },
      ...{
        channelType: { system: 'http://terminology.hl7.org/CodeSystem/subscription-channel-type', code: 'rest-hook' },
      },
    });
    const resources = ['requested', 'active', 'error', 'off'].map((status) => subscription(status, status));
    const request = { method: 'PUT', url: 'Subscription/within' };
    const bundle = {
      ...{ resourceType: 'Bundle', type: 'batch' },
      entry: [{ resource: subscription('within', 'requested'), request }],
    };
    const path = file('s.ndjson', resources.map((each) => JSON.stringify(each)).join('\n'));
    const other = file('b.json', JSON.stringify(bundle));
    const store = `sqlite:${join(folder, 'kiln.db')}`;
    const { code, lines } = await kiln('load', path, other, '--bundles', 'apply', '--store', store);
    expect(code).toBe(1);
    const refused = lines.filter((line) => line.includes('Subscription.status'));
    expect(refused.map((line) => /is (\w+), but/.exec(line)?.[1]).sort()).toEqual([
      'active',
      'error',
      'requested',
      'requested',
    ]);
    expect(refused[0]).toContain('load it through a server (--url or --running)');
    expect(lines.join('\n')).toContain('1 created, 0 updated, 0 unchanged; 4 failed');
  });

  it('refuses a topic that cannot be evaluated, as a server does', async () => {
    const topic = (id: string, current: string) =>
      JSON.stringify({
        ...{ resourceType: 'SubscriptionTopic', id, url: `http://topic.example/${id}`, status: 'active' },
        resourceTrigger: [{ resource: 'Observation', queryCriteria: { current } }],
      });
    const path = file('t.ndjson', [topic('good', 'status=final'), topic('bad', 'none=1')].join('\n'));
    const { code, lines } = await kiln('load', path, '--store', `sqlite:${join(folder, 'kiln.db')}`);
    expect(code).toBe(1);
    expect(lines.join('\n')).toContain('SubscriptionTopic.resourceTrigger[0].queryCriteria.current');
    expect(lines.join('\n')).toContain('1 created, 0 updated, 0 unchanged; 1 failed');
  });
});
