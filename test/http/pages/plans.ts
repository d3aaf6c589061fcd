import { beforeAll, expect, it } from 'vitest';

import type { Store } from '../../../runtime/store/store.js';
import { LAB, observed, serveWith, type GuardedServer } from '../auth/support.js';

const HTML = { accept: 'text/html' };

/** The page that explains a search, as a client with these scopes sees it. */
const planAs = (server: GuardedServer, scopes: string, search: string) =>
  server.as(scopes).send('GET', `${search}${search.includes('?') ? '&' : '?'}_view=plan`, undefined, HTML);

/** Numbers that tell of data. */
const FIGURES = /\d+ match|Examines|Returns \d|begins here|What the store runs/;

/** Plans of searches tell a client no more than its searches do. */
export function planPages(store: Store): void {
  const audited: (string | undefined)[] = [];
  const audit = {
    answered: ({ interaction, type }: { interaction?: string; type?: string }) =>
      void audited.push(`${interaction} ${type}`),
    failed: () => undefined,
  };
  const server = serveWith(store, { validate: () => [], audit });

  beforeAll(async () => {
    const all = server.as('system/*.cruds');
    for (let n = 0; n < 6; n++) {
      const id = `p${n}`;
      await all.send('PUT', `/Patient/${id}`, { resourceType: 'Patient', id, name: [{ family: 'Love' }] });
      const subject = { reference: `Patient/${id}` };
      const observation = observed(n === 0 ? 'laboratory' : 'vital-signs', { id, subject });
      await all.send('PUT', `/Observation/${id}`, observation);
    }
  });

  it('say what a search is understood as, what was counted, examined and returned', async () => {
    const { status, text } = await planAs(server, 'system/Patient.rs', '/Patient?name=love&_sort=-birthdate&_count=4');
    expect(status).toBe(200);
    expect(text).toContain('<code>name begins &quot;love&quot;</code>');
    expect(text).toMatch(/6 matches/);
    expect(text).toMatch(/Examines [\d,]+ index entries and rows/);
    expect(text).toContain('Returns 4');
    expect(text).toContain('<dd><code>-birthdate, _id</code></dd>');
    expect(text).toContain('What the store runs');
    expect(text).toContain(
      '<a href="/fhir/Patient?name&#x3D;love&amp;_sort&#x3D;-birthdate&amp;_count&#x3D;4">Results</a>',
    );
  });

  it('are recorded in the audit as the searches that they do', async () => {
    audited.length = 0;
    await planAs(server, 'system/Patient.rs', '/Patient?name=love');
    expect(audited).toEqual(['search-type Patient']);
  });

  it.each([
    ['no token for the type', 'system/Observation.rs', '/Patient?name=love'],
    ['a chain to another type', 'system/Observation.rs', '/Observation?subject:Patient.name=love'],
    ['reading, not searching', 'system/Patient.r', '/Patient?name=love'],
    ['a compartment without its type', 'system/Observation.rs', '/Patient/p1/Condition'],
  ])('need the scopes of the search: %s', async (_name, scopes, search) => {
    const plan = await planAs(server, scopes, search);
    const asked = await server.as(scopes).send('GET', search);
    expect([plan.status, asked.status]).toEqual([403, 403]);
    expect(plan.headers['www-authenticate']).toBe(asked.headers['www-authenticate']);
    expect(plan.text).not.toMatch(FIGURES);
  });

  it.each([
    ['a constrained scope', `system/Observation.rs?${LAB}`, '/Observation?status=final'],
    [
      'a constrained scope at the end of a chain',
      `system/Patient.rs system/Observation.rs?${LAB}`,
      '/Patient?_has:Observation:subject:status=final',
    ],
    ['several types, of which some are not shown', 'system/Patient.rs', '?_type=Patient,Observation&_id=p1'],
  ])('tell no numbers where the token limits the search: %s', async (_name, scopes, search) => {
    const { status, text } = await planAs(server, scopes, search);
    if (status === 403) return expect(text).not.toMatch(FIGURES);
    expect(status).toBe(200);
    expect(text).not.toMatch(FIGURES);
    expect(text).toContain('is not shown');
  });

  it('of several types leave out those without resources', async () => {
    const { text } = await planAs(server, 'system/*.rs', '?_id=p1&_type=Claim,Observation,Patient');
    expect([...text.matchAll(/<h2>(\w+)<\/h2>/g)].map(([, type]) => type)).toEqual(['Observation', 'Patient']);
  });

  it('without a token, or of a search that is refused, are failures', async () => {
    expect((await server.send('GET', '/Patient?_view=plan', undefined, HTML)).status).toBe(401);
    const unknown = await planAs(server, 'system/Patient.rs', '/Patient?nmae=x');
    expect(unknown.status).toBe(400);
    expect(unknown.text).toContain('<h1>400 Bad Request</h1>');
    const json = await server.as('system/Patient.rs').send('GET', '/Patient?_view=plan');
    expect([json.status, json.headers['content-type']]).toEqual([400, 'application/fhir+json; charset=utf-8']);
  });

  it('are found from a search as people write it, on this server alone', async () => {
    const go = (search: string) => server.raw('GET', `/ui/go?explain=${encodeURIComponent(search)}`, undefined, HTML);
    for (const [search, target] of [
      ['Patient?name=a b', '/fhir/Patient?name=a+b&_view=plan'],
      ['https://evil.example/r5/Patient/1/Observation', '/fhir/Patient/1/Observation?_view=plan'],
      ['//evil.example/Patient?x=//y', '/fhir/Patient?x=%2F%2Fy&_view=plan'],
      ['?_type=Patient', '/fhir?_type=Patient&_view=plan'],
    ] as const) {
      const { status, headers } = await go(search);
      expect([status, headers['location']], search).toEqual([303, target]);
    }
    expect((await go('//evil.example')).status).toBe(400);
    expect((await go('')).status).toBe(400);
    const form = await server.raw('GET', '/ui/explain-search?search=Patient', undefined, HTML);
    expect(form.text).toContain('value="Patient"');
  });
}
