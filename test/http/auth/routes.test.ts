import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import type { RouteRow } from '../../../runtime/contract/rest.js';
import { isWired } from '../../../runtime/interactions/registry.js';
import { OPERATIONS } from '../../../runtime/operations/registry.js';
import { openStore } from '../../contract/open-store.js';
import { putAll } from '../search-server.js';
import { codeOf, type Answer } from '../server.js';
import { scopedServer } from './scoped.js';
import { BAD_TOKENS } from './support.js';

const MARK = 'nobody-may-see-this';
const sqlite = await openStore('sqlite::memory:');
afterAll(() => sqlite.close());
const server = scopedServer(sqlite, {
  allowsExpunge: true,
  hasWebsocket: true,
  publish: { types: ['Patient'], every: 3_600_000 },
});

/** Types that stand in the place of `[type]`, in turn. */
const ANY = ['Patient', 'Observation', 'Binary', 'AuditEvent'];

/** Every route, where something is to be had wherever a type can be named. */
const ROUTES = tables.routes.map((row, n) => {
  const type = row.path.startsWith('[type]') ? ANY[n % ANY.length]! : /^[A-Z]\w+/.exec(row.path)?.[0];
  const path = `/${row.path
    .replace('[type]', type ?? '')
    .replace('[id]', 'x')
    .replace('[vid]', '1')}`;
  return { row, type, path };
});

/** What leads nowhere, or nowhere good. */
const NOWHERE = [
  ...['/nothing', '/Nonsense', '/Nonsense/x', '/patient/x', '/$nonsense', '/Patient/x/$nonsense', '/Patient/x/y/z/a'],
  ...['//Patient/x', '/Patient//x', '/Patient/x/', '/%50atient/x', '/Patient%2Fx', '/metadata/x', '/metadata//', '/./metadata/../Patient/x'], // prettier-ignore
  ...['/Patient/x/_history/', '/.well-known/nothing', '/Patient?_format=json', '/Patient/x;metadata', '/metadata%3F/../Patient'], // prettier-ignore
];

const isOpen = ({ interaction, operation }: RouteRow): boolean =>
  tables.scopes.rows.some((row) => row.open && row.interaction === interaction && row.operation === operation);

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

function ask(who: Pick<typeof server, 'send'>, { row, type, path }: (typeof ROUTES)[number]): Promise<Answer> {
  if (row.method === 'GET' || row.method === 'DELETE') return who.send(row.method, path);
  if (path.endsWith('_search')) return who.send('POST', path, '_id=x', FORM);
  if (row.interaction === 'bundle') {
    const entry = [{ request: { method: 'GET', url: 'Patient/x' } }];
    return who.send('POST', path, { resourceType: 'Bundle', type: 'batch', entry });
  }
  const resourceType = row.operation === undefined ? (type ?? 'Parameters') : 'Parameters';
  return who.send(row.method, path, { resourceType, id: 'x' });
}

/** Nothing of what is there, and no sign of it. */
function expectNothing(answer: Answer, what: string): void {
  expect(answer.text, what).not.toContain(MARK);
  for (const header of ['etag', 'last-modified', 'location', 'content-location']) {
    expect(answer.headers[header], what).toBeUndefined();
  }
}

/** Operations that every token may call. */
const ANY_TOKEN = new Set(
  tables.scopes.rows.filter(({ anyToken }) => anyToken === true).map(({ operation }) => operation),
);

/** Operations that need a scope of administration at system level. */
const ADMINISTRATIVE = new Set(
  tables.scopes.rows.filter(({ admin }) => admin !== undefined).map(({ operation }) => operation),
);

describe('all routes', { timeout: 60_000 }, () => {
  beforeAll(async () => {
    const types = [...new Set(ROUTES.flatMap(({ type }) => type ?? []))].filter((type) => ANY.includes(type));
    const contents: Record<string, object> = {
      Observation: { status: 'final', code: { text: MARK } },
      Binary: { contentType: 'text/plain', data: Buffer.from(MARK).toString('base64') },
      AuditEvent: { code: { text: MARK }, recorded: '2024-01-01T00:00:00Z', agent: [{ who: { display: MARK } }], source: { observer: { display: MARK } } }, // prettier-ignore
    };
    await putAll(server.all, types.map((resourceType) => ({ resourceType, id: 'x', language: 'en', ...contents[resourceType] }))); // prettier-ignore
  });

  it('are not answered without a good token, but for those that are open', async () => {
    const open: string[] = [];
    for (const route of ROUTES) {
      const what = `${route.row.method} ${route.path}`;
      const bad = { send: (...[method, path, body, headers]: Parameters<typeof server.send>) =>
        server.send(method, path, body, { ...headers, authorization: `Bearer ${BAD_TOKENS.invalid}` }) }; // prettier-ignore
      const [none, forged] = await Promise.all([ask(server, route), ask(bad, route)]);
      if (isOpen(route.row)) {
        open.push(what);
        expect([none.status, forged.status]).toEqual([200, 200]);
        continue;
      }
      expect([none.status, codeOf(none)], what).toEqual([401, 'token-missing']);
      expect([forged.status, codeOf(forged)], what).toEqual([401, 'token-invalid']);
      for (const answer of [none, forged]) expectNothing(answer, what);
    }
    expect(open).toEqual(['GET /metadata']);
  });

  it.each(NOWHERE)('neither is %s', async (path) => {
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND']) {
      const answer = await server.send(method, path);
      expect(answer.status, method).toBe(401);
      if (method !== 'HEAD') expect(codeOf(answer), method).toBe('token-missing');
    }
  });

  it('show nothing to a token without a scope that fits', async () => {
    for (const route of ROUTES) {
      const { row, path } = route;
      const what = `${row.method} ${path}`;
      for (const scopes of ['', 'system/Linkage.cruds system/Nonsense.cruds __introspect']) {
        if (path.includes('Linkage') || isOpen(row)) continue;
        const answer = await ask(server.as(scopes), route);
        expectNothing(answer, what);
        if (row.interaction === 'bundle') {
          expect(answer.json().entry[0].response.status, what).toBe('403 Forbidden');
        } else if (
          isWired(row, OPERATIONS) &&
          scopes.includes('Linkage') &&
          ['/', '/_search', '/_history'].includes(path)
        ) {
          // All types: of those that it has there is nothing.
          expect([answer.status, answer.json().total], what).toEqual([200, 0]);
        } else if (row.operation === 'diff' && path === '/$diff') {
          // Its parameters name the types, and are missing.
          expect(answer.status, what).toBe(400);
        } else if (
          row.operation !== undefined &&
          isWired(row, OPERATIONS) &&
          ANY_TOKEN.has(row.operation) &&
          // Of an instance it needs to read that.
          !(row.operation === 'Resource-graphql' && row.path.includes('[id]'))
        ) {
          // They say nothing of what is stored.
          expect(answer.status, what).toBeLessThan(401);
        } else if (
          isWired(row, OPERATIONS) &&
          /-poll-status$|^async-result$|^bulk-(?!publish|submit$)/.test(row.operation ?? '')
        ) {
          // The client names a job of its own, which is missing here.
          expect(answer.status, what).toBe(400);
        } else if (['bulk-submit', 'export', 'import'].includes(row.operation ?? '') && scopes.includes('Linkage')) {
          // The scopes are enough for that type, but the request is not complete.
          expect(answer.status, what).toBe(400);
        } else if (isWired(row, OPERATIONS) && row.operation !== undefined && ADMINISTRATIVE.has(row.operation)) {
          expect(answer.status, what).toBe(403);
        } else if (row.operation === 'ConceptMap-closure' || row.operation === 'bulk-publish') {
          // It needs ConceptMap at the level of the system as well, or all types that are published.
          expect(answer.status, what).toBe(403);
        } else if (isWired(row, OPERATIONS) && scopes.includes('Linkage') && path.startsWith('/$')) {
          // Operations on all types answer for those of the token, of which nothing is stored.
          expect(answer.status, what).toBe(200);
        } else if (isWired(row, OPERATIONS)) expect(answer.status, what).toBe(403);
        else expect(answer.status, what).toBe(row.operation === undefined ? 404 : 501);
        if (answer.status === 403) expect(answer.headers['www-authenticate'], what).toMatch(/scope="(system|__)/);
      }
    }
    expect(server.defects).toEqual([]);
  });

  it('are there: with all scopes what is wired is found', async () => {
    for (const route of ROUTES) {
      if (route.row.method !== 'GET' || !isWired(route.row, OPERATIONS)) continue;
      const answer = await ask(server.all, route);
      expect([401, 403, 405], route.path).not.toContain(answer.status);
    }
    expect((await server.all.send('GET', '/Observation/x')).text).toContain(MARK);
  });
});
