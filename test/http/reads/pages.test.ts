import { beforeAll, describe, expect, it } from 'vitest';

import type { Job, Jobs } from '../../../runtime/core/jobs.js';
import { createToyStore } from '../../toy/store.js';
import { serveWith, tokenOf } from '../auth/support.js';
import { useBundleServer } from '../bundles/bundle-server.js';
import { useToyServer, type Answer } from '../server.js';
import { isCriterion } from '../search/is-criterion.js';

/** What browsers send. */
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8';
const HTML = { accept: BROWSER };

/** Markup that would run, or break out of a text or of an attribute. */
const PLANTED = `"'></code></pre></td></main><script>alert(1)</script><img src=x onerror=alert(2)>`;

/** Tags that the pages have themselves; any other one was planted. */
const TAGS = new Set(
  (
    'html head meta title link script body a header nav form label input button span main footer h1 h2 h3 p div section ' +
    'details summary table thead tbody tr th td ul ol li dl dt dd pre code br time iframe select option textarea fieldset datalist ' +
    'legend progress svg rect figure figcaption polyline circle text'
  ).split(' '),
);

/** Nothing planted has become markup: the tags are those of the pages, and none has a handler or a style. */
function expectEscaped({ text }: Answer, name: string): void {
  const tags = [...text.matchAll(/<([a-z][a-z0-9]*)\b([^>]*)>/gi)];
  expect(
    tags.filter(([, tag]) => !TAGS.has(tag!.toLowerCase())).map(([tag]) => tag),
    name,
  ).toEqual([]);
  expect(tags.filter(([, tag]) => tag === 'script').length, name).toBe(5);
  for (const [whole, , attributes = ''] of tags) {
    expect(attributes.replace(/"[^"]*"/g, '""'), `${name}: ${whole}`).not.toMatch(/\son\w+\s*=|\sstyle\s*=|['`<]/i);
    expect(whole).not.toMatch(/(?:href|src|action)="\s*(?:javascript|data):/i);
  }
  expect(text, name).not.toContain('<script>alert');
}

const href = ({ text }: Answer, label: string): string | undefined =>
  new RegExp(`<a[^>]*href="([^"]*)"[^>]*>${label}</a>`)
    .exec(text)?.[1]
    ?.replaceAll('&amp;', '&')
    .replaceAll('&#x3D;', '=');

describe('pages without authorization', () => {
  const server = useBundleServer(createToyStore(), { validate: () => [] });
  const get = (path: string, headers: Record<string, string> = HTML) => server.send('GET', path, undefined, headers);
  const ui = (path: string) => server.raw('GET', `/ui${path}`, undefined, HTML);

  beforeAll(async () => {
    const div = `<div xmlns="http://www.w3.org/1999/xhtml">${PLANTED}</div>`;
    const evil = {
      resourceType: 'Patient',
      id: 'evil',
      text: { status: 'generated', div },
      name: [{ family: PLANTED }],
      meta: { profile: [PLANTED], tag: [{ system: PLANTED, code: PLANTED, display: PLANTED }] },
      managingOrganization: { reference: `Organization/${PLANTED}`, display: PLANTED },
    };
    await server.send('PUT', '/Patient/odd', { resourceType: 'Patient', id: 'odd', [PLANTED]: PLANTED });
    await server.send('PUT', '/Patient/evil', { ...evil, gender: 'male' });
    await server.send('PUT', '/Patient/evil', { ...evil, gender: 'female' });
    await server.send('PUT', '/Patient/gone', { resourceType: 'Patient', id: 'gone' });
    await server.send('DELETE', '/Patient/gone');
    const subject = { reference: 'Patient/evil' };
    for (const id of ['a', 'b', 'c']) {
      await server.send('PUT', `/Observation/${id}`, {
        ...{ resourceType: 'Observation', id, status: 'final', code: { text: PLANTED }, subject },
        valueQuantity: { value: 1.5, unit: 'kg' },
      });
    }
  });

  it('escape what was planted in narratives, texts, ids, names of properties, parameters and error texts', async () => {
    const planted = encodeURIComponent(PLANTED);
    for (const path of [
      '/Patient/evil',
      '/Patient/odd',
      '/Patient/evil?_view=xml',
      '/Patient/evil/_history',
      '/Patient/evil/_history/1',
      '/Patient?_id=evil',
      `/Patient?name=${planted}`,
      `/Patient?${planted}=1`,
      `/Patient/${planted}`,
      `/${planted}`,
      `/$diff?from=Patient/evil/_history/1&to=Patient/evil/_history/2`,
      `/$diff?from=${planted}&to=${planted}`,
      `/Patient/evil/$${planted}`,
      '/Observation?_include=Observation:subject',
      `/Patient?name=${planted}&_view=plan`,
    ]) {
      const page = await get(path);
      expect(page.headers['content-type'], path).toBe('text/html; charset=utf-8');
      expectEscaped(page, path);
    }
    for (const path of [
      `/search/Patient?name=${planted}&${planted}=1`,
      `/operations?type=${planted}&id=${planted}`,
      `/operations/Patient-everything?type=Patient&id=${planted}`,
      `/console?path=${planted}`,
      `/graphql?type=Patient&id=${planted}`,
      `/${planted}`,
      `/go?search=${planted}`,
      `/go?explain=${planted}`,
      `/explain-search?search=${planted}`,
    ]) {
      expectEscaped(await ui(path), path);
    }
  });

  it('have the columns that a search names by _elements, and a form to choose them that works without a script', async () => {
    const heads = ({ text }: Answer) =>
      [...text.matchAll(/<th scope="col"[^>]*>(?:<a[^>]*>)?([^<]*)/g)].map(([, name]) => name);
    const page = await get('/Patient?_id=evil&_elements=managingOrganization,gender&_count=1');
    expect(heads(page)).toEqual(['Resource', 'gender', 'managingOrganization', 'Last updated']);
    expect(page.text).toContain('name="more" value="_id&#x3D;evil&amp;_count&#x3D;1"');
    expect(page.text).toContain('name="column" value="gender" checked');
    const gone = await ui('/go?search=Patient&more=_id%3Devil%26_count%3D1&column=birthDate&column=gender');
    expect(gone.headers.location).toBe('/fhir/Patient?_id=evil&_count=1&_elements=birthDate%2Cgender');
    expect(heads(await get('/Patient?_elements=none')).length).toBeGreaterThan(3);
  });

  it('put the narrative into a frame without rights', async () => {
    const { text } = await get('/Patient/evil');
    const [frame = ''] = /<iframe[^>]*>/.exec(text)!;
    expect(frame).toMatch(/ sandbox srcdoc="/);
    expect(frame).not.toContain('allow-');
    expect(frame).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
  });

  it('link references, versions, the version before, what changed, and the plain forms', async () => {
    const page = await get('/Observation/a');
    expect(page.text).toContain('<a href="/fhir/Patient/evil">"Patient/evil"</a>');
    const current = await get('/Patient/evil');
    for (const label of ['Versions', 'Version before', 'What changed', 'Plain JSON']) {
      const link = href(current, label);
      expect((await server.raw('GET', link!, undefined, HTML)).status, label).toBe(200);
    }
    expect(href(current, 'What changed')).toBe('/fhir/Patient/evil/_history/2/$diff');
    expect(href(await get('/Patient/evil/_history/1'), 'Version before')).toBeUndefined();
  });

  it('show XML where it is asked for, with the same links', async () => {
    const { text } = await get('/Observation/a?_view=xml');
    expect(text).toContain('&lt;<span class="k">Observation</span>');
    expect(text).toContain('<a href="/fhir/Patient/evil"><span class="s">"Patient/evil"</span></a>');
    const json = await server.send('GET', '/Observation/a?_view=xml', undefined, { accept: 'application/fhir+json' });
    expect([json.status, json.json().issue[0].details.coding[0].code]).toEqual([400, 'parameter-unknown']);
  });

  it('show the beginning of a large resource, and where all of it is', async () => {
    const name = Array.from({ length: 2000 }, (_, n) => ({ family: `Name${n}`, given: ['x'] }));
    const text = { status: 'generated', div: '<div xmlns="http://www.w3.org/1999/xhtml">short</div>' };
    await server.send('PUT', '/Patient/large', { resourceType: 'Patient', id: 'large', text, name });
    const page = await get('/Patient/large');
    expect(page.text).toMatch(/This page shows the first 6\.\d kB of \d+ kB\. /);
    expect(page.text).toContain('<h2>Narrative</h2>');
    expect(page.text).toContain('"Name1"');
    expect(page.text).not.toContain('"Name1999"');
    expect(page.text.length).toBeLessThan(40_000);
    const plain = await server.raw('GET', href(page, 'Plain JSON')!);
    expect(plain.json().name).toHaveLength(2000);
    expect((await get('/Patient/large?_view=xml')).text).toContain('This page shows the first');
    expect((await get('/Patient?_id=large')).text).toContain('Patient/large</a>');
    expect((await get('/Patient/evil')).text).not.toContain('This page shows the first');
  });

  it('link the plain forms of the version that they show, not of the present one', async () => {
    expect(href(await get('/Patient/evil/_history/1'), 'Plain JSON')).toBe(
      '/fhir/Patient/evil/_history/1?_format=json&_pretty=true',
    );
  });

  it('compare two versions', async () => {
    const page = await get('/$diff?from=Patient/evil/_history/1&to=Patient/evil/_history/2');
    const [row = ''] = /<tr><td><span class="badge replace">[^]*?<\/tr>/.exec(page.text)!;
    expect(row).toContain('<code>Patient.gender</code>');
    expect(row.indexOf('"male"')).toBeGreaterThan(0);
    expect(row.indexOf('"female"')).toBeGreaterThan(row.indexOf('"male"'));
    const history = await get('/Patient/evil/_history');
    expect(history.text).toContain('<form action="/fhir/$diff" method="get"');
    expect(history.text).toContain('name="from" value="Patient/evil/_history/1"');
  });

  it('show searches as tables with pages', async () => {
    const first = await get('/Observation?_count=2');
    const rows = ({ text }: Answer): string[] =>
      [...text.matchAll(/<th scope="row"><a href="\/fhir\/Observation\/(\w)"/g)].map(([, id]) => id!);
    expect(first.text).toContain('<th scope="col">value</th>');
    expect(first.text).toContain('>1.5 kg<');
    const second = await server.raw('GET', href(first, 'Next page')!, undefined, HTML);
    expect([...rows(first), ...rows(second)]).toEqual(['a', 'b', 'c']);
    expect(href(second, 'Next page')).toBeUndefined();
    const included = await get('/Observation?_id=a&_include=Observation:subject');
    expect(included.text).toContain('<span class="badge">include</span>');
    expect((await get('/Observation?_id=none')).text).toContain('Nothing was found.');
  });

  it('sort by a column, and the other way round by the sorted one', async () => {
    const page = await get('/Patient?gender=female');
    expect(href(page, 'birthDate')).toBe('/fhir/Patient?gender=female&_sort=birthdate');
    expect(href(page, 'Last updated')).toBe('/fhir/Patient?gender=female&_sort=_lastUpdated');
    const sorted = await get('/Patient?_sort=birthdate');
    expect(sorted.text).toContain(
      '<th scope="col" aria-sort="ascending"><a href="/fhir/Patient?_sort&#x3D;-birthdate"',
    );
    expect((await get('/Patient?_sort=-birthdate')).text).toContain('aria-sort="descending"');
    expect((await server.raw('GET', href(sorted, 'birthDate')!, undefined, HTML)).status).toBe(200);
  });

  it('draw measured values of one code over time, and nothing where codes or units differ', async () => {
    const measured = (id: string, value: number, day: number, unit = 'kg') => ({
      ...{ resourceType: 'Observation', id, status: 'final', code: { text: PLANTED } },
      ...{ valueQuantity: { value, unit }, effectiveDateTime: `2026-01-0${day}` },
      meta: { tag: [{ system: 'urn:chart', code: 'course' }] },
    });
    for (const [id, value, day] of [
      ['course-1', 70.5, 3],
      ['course-2', 71, 1],
      ['course-3', 69, 2],
    ] as const)
      await server.send('PUT', `/Observation/${id}`, measured(id, value, day));
    const page = await get('/Observation?_id=course-1,course-2,course-3');
    expectEscaped(page, 'chart');
    expect(page.text.match(/<circle /g)).toHaveLength(3);
    expect(/<polyline points="([^"]*)"/.exec(page.text)![1]).toBe('70.0,16.0 345.0,186.0 620.0,58.5');
    expect((await get('/Observation?_id=course-1,course-2')).text).not.toContain('<polyline');
    await server.send('PUT', '/Observation/course-4', measured('course-4', 9, 4, 'lb'));
    expect((await get('/Observation?_id=course-1,course-2,course-3,course-4')).text).not.toContain('<polyline');
  });

  it('offer the codes of required bindings, a console for each request, and the operations of a resource', async () => {
    const builder = await ui('/search/Patient');
    expect(/<datalist id="codes-gender">(.*?)<\/datalist>/.exec(builder.text)![1]).toBe(
      ['male', 'female', 'other', 'unknown'].map((code) => `<option value="${code}"></option>`).join(''),
    );
    expect(builder.text).not.toContain('codes-family');
    const api = await ui('/api/Patient');
    const tried = await server.raw('GET', href(api, 'Try it')!, undefined, HTML);
    expect(tried.status).toBe(200);
    expect((await ui('/console?method=PUT&path=Patient/x')).text).toContain('<option selected>PUT</option>');
    const patient = await get('/Patient/evil');
    expect(href(patient, '<code>\\$everything</code>')).toBe('/ui/operations/Patient-everything?type=Patient&id=evil');
    expect(/data-referrers="([^"]*)"/.exec(patient.text)![1]!.split(' ')).toContain('Observation:subject');
  });

  it('build searches from every parameter of a type, its modifiers and prefixes, and take a search apart again', async () => {
    const page = await ui('/search/Patient?family:exact=Love&birthdate=ge1900&_has:Observation:subject:code=1');
    const statement = (await get('/metadata', { accept: 'application/fhir+json' })).json();
    const { searchParam } = statement.rest[0].resource.find(({ type }: { type: string }) => type === 'Patient');
    expect(searchParam.length).toBeGreaterThan(20);
    for (const { name, type, documentation } of searchParam.filter(isCriterion)) {
      expect(page.text, name).toContain(`${name} <span class="badge">${type}</span>`);
      const modifiers = /Modifiers: ([^.]*)\./.exec(documentation)?.[1]?.split(', ') ?? [];
      const [, options = ''] = new RegExp(`<select name="m\\.${name}"[^>]*>([^]*?)</select>`).exec(page.text) ?? [];
      for (const modifier of modifiers)
        if (modifier !== ':[type]') expect(options, name).toContain(`>${modifier}</option>`);
    }
    expect(page.text).toContain('<option value="exact" selected>');
    expect(page.text).toContain('<option value="ge" selected>');
    expect(page.text).toMatch(/name="v.birthdate" value="1900"/);
    expect(page.text).toContain('name="more" value="_has%3AObservation%3Asubject%3Acode&#x3D;1"');
    const fields = 'search=Patient&m.family=exact&v.family=Love&p.birthdate=ge&v.birthdate=1900&v.gender=&more=a.b%3D1';
    const go = await ui(`/go?${fields}`);
    expect([go.status, go.headers['location']]).toEqual([
      303,
      '/fhir/Patient?family%3Aexact=Love&birthdate=ge1900&a.b=1',
    ]);
  });

  it('make forms of every operation from its rows', async () => {
    const list = await ui('/operations');
    const ids = [...list.text.matchAll(/\/ui\/operations\/([\w.-]+)"/g)].map(([, id]) => id!);
    expect(ids).toContain('Patient-everything');
    for (const id of ids) {
      const page = await ui(`/operations/${id}`);
      expect(page.status, id).toBe(200);
      expect(page.text, id).toContain('<form ');
      const used = [...page.text.matchAll(/ id="([^"]*)"/g)].map(([, each]) => each!);
      expect(used.length, id).toBe(new Set(used).size);
    }
    const call = 'operation=Patient-everything&level=instance&_type=Patient&_id=evil&v._count=3&v.start=';
    expect((await ui(`/go?${call}`)).headers['location']).toBe('/fhir/Patient/evil/$everything?_count=3');
    expect((await ui('/go?operation=Patient-everything&level=instance&_type=Patient')).status).toBe(400);
    const outside = await ui('/go?operation=Patient-everything&level=instance&_type=//evil.example&_id=x');
    expect(outside.headers['location']).toBe('/fhir/%2F%2Fevil.example/x/$everything');
  });

  it.each(['/search', '/explain-search', '/api', '/api/Patient', '/api/system', '/console', '/graphql', '/jobs'])(
    'have %s',
    async (path) => {
      const page = await ui(path);
      expect([page.status, page.headers['x-content-type-options']]).toEqual([200, 'nosniff']);
      expectEscaped(page, path);
    },
  );

  it.each([
    ['/Patient/none', 404, 'Not Found'],
    ['/Nothing', 404, 'Not Found'],
    ['/Patient/gone', 410, 'Gone'],
    ['/Patient?x=1', 400, 'Bad Request'],
  ])('show the failure of %s as a page, with the status %i', async (path, status, words) => {
    const page = await get(path);
    expect([page.status, page.headers['content-type']]).toEqual([status, 'text/html; charset=utf-8']);
    expect(page.text).toContain(`<h1>${status} ${words}</h1>`);
    expect(page.headers['vary']).toContain('Accept');
    const json = await get(path, { accept: '*/*' });
    expect([json.status, json.headers['content-type']]).toEqual([status, 'application/fhir+json; charset=utf-8']);
    if (status === 410) expect(href(page, 'Versions')).toBe('/fhir/Patient/gone/_history');
  });

  it('are for clients that like HTML best, and vary by Accept', async () => {
    for (const [accept, type] of [
      [BROWSER, 'text/html'],
      ['text/html', 'text/html'],
      ['*/*', 'application/fhir+json'],
      ['application/fhir+json, text/html;q=0.9', 'application/fhir+json'],
      ['application/fhir+xml', 'application/fhir+xml'],
    ] as const) {
      const answer = await get('/Patient/evil', { accept });
      expect(answer.headers['content-type'], accept).toBe(`${type}; charset=utf-8`);
      expect(answer.headers['vary']).toBe('Accept, Accept-Encoding');
    }
    const nowhere = await server.raw('GET', '/nowhere', undefined, HTML);
    expect([nowhere.status, nowhere.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
  });

  it('serve the scripts, the style sheets and the icon for good, and nothing else of that folder', async () => {
    const { text } = await get('/Patient/evil');
    const assets = [...text.matchAll(/"(\/ui\/assets\/[^"]*)"/g)].map(([, path]) => path!);
    expect(assets).toHaveLength(7);
    for (const path of assets) {
      const asset = await server.raw('GET', path);
      expect([asset.status, asset.headers['cache-control']]).toEqual([200, 'public, max-age=31536000, immutable']);
      expect(asset.headers['x-content-type-options']).toBe('nosniff');
    }
    for (const path of ['/ui/search/%E0%A4%A', '/ui/operations/%', '/ui/api/%ff', '/openapi/%ff.json']) {
      expect((await server.raw('GET', path)).status).toBe(400);
    }
    for (const path of ['/ui/assets/', '/ui/assets/../page.ts', '/ui/assets/%2e%2e/page.ts']) {
      expect((await server.raw('GET', path)).status).toBe(404);
    }
  });
});

describe('pages with authorization', () => {
  const job = (id: string, clientId: string, more: Partial<Job> = {}, scope = 'system/Patient.rs'): Job => ({
    ...{
      id,
      type: 'export',
      owner: { clientId, scope },
      input: {},
      state: 'in-progress',
      created: 0,
      failures: 0,
      run: 1,
    },
    progress: { done: 30, total: 120, unit: 'resources' },
    ...more,
  });
  const kept = [
    job('mine', 'client'),
    job('theirs', 'other'),
    job('done', 'client', { state: 'completed', ended: 1 }),
    job('wide', 'client', {}, 'system/Patient.rs system/Observation.rs'),
  ];
  const jobs = { list: () => Promise.resolve(kept) } as Partial<Jobs> as Jobs;
  const server = serveWith(createToyStore(), { jobs });
  beforeAll(async () => {
    await server.as('system/*.cruds').send('PUT', '/Patient/ada', { resourceType: 'Patient', id: 'ada' });
  });

  it.each([
    '/Patient/ada',
    '/Patient',
    '/Patient/ada/_history',
    '/Patient/ada/$diff',
    '/$diff?from=Patient/ada&to=Patient/ada',
  ])('of %s need what its JSON needs', async (path) => {
    const missing = await server.send('GET', path, undefined, HTML);
    expect([missing.status, missing.headers['cache-control']]).toEqual([401, 'no-store']);
    expect(missing.headers['www-authenticate']).toMatch(/^Bearer/);
    expect(missing.text).toContain('<label for="token">Access token</label>');
    const other = server.as('system/Observation.cruds');
    const [page, json] = [await other.send('GET', path, undefined, HTML), await other.send('GET', path)];
    expect([page.status, json.status]).toEqual([403, 403]);
    expect(page.headers['www-authenticate']).toBe(json.headers['www-authenticate']);
    expect(page.text).toContain('<h1>403 Forbidden</h1>');
    const allowed = await server.as('system/Patient.rs').send('GET', path, undefined, HTML);
    expect([allowed.status, allowed.headers['cache-control']]).toEqual([200, 'no-store']);
    expect(allowed.headers['vary']).toBe('Authorization, Accept, Accept-Encoding');
  });

  it.each([
    ['*/*', { accept: '*/*' }],
    ['none', {}],
    ['application/fhir+json', { accept: 'application/fhir+json' }],
    ['application/json', { accept: 'application/json' }],
    ['application/fhir+json before text/html', { accept: 'application/fhir+json, text/html;q=0.5' }],
  ])('are for browsers: a failure is never HTML for a client with Accept %s', async (_name, headers) => {
    const scoped = server.as('system/Observation.rs');
    const asked = [
      [401, await server.send('GET', '/Patient/ada', undefined, headers)],
      [401, await server.send('GET', '/Patient/ada', undefined, { ...headers, authorization: 'Bearer forged' })],
      [401, await server.raw('GET', '/ui/jobs', undefined, headers)],
      [403, await scoped.send('GET', '/Patient/ada', undefined, headers)],
      [403, await scoped.send('GET', '/Patient?name=x', undefined, headers)],
      [404, await server.as('system/*.cruds').send('GET', '/Patient/none', undefined, headers)],
      [404, await server.raw('GET', '/nowhere', undefined, headers)],
      [400, await scoped.send('GET', '/Observation?x=1', undefined, headers)],
    ] as const;
    for (const [status, answer] of asked) {
      expect(answer.status).toBe(status);
      expect(answer.headers['content-type']).toMatch(/^application\/(?:fhir\+)?json; charset=utf-8$/);
      expect(answer.json().resourceType).toBe('OperationOutcome');
    }
  });

  it('never take a token from the URL', async () => {
    const token = tokenOf('system/*.rs');
    expect((await server.send('GET', `/Patient/ada?access_token=${token}`, undefined, HTML)).status).toBe(400);
    expect((await server.raw('GET', `/ui/jobs?access_token=${token}`, undefined, HTML)).status).toBe(400);
  });

  it('without data need no token', async () => {
    for (const path of [
      '/',
      '/ui/search',
      '/ui/search/Patient',
      '/ui/edit/Patient',
      '/ui/edit/Patient?id=ada&copy=1',
      '/ui/upload',
      '/ui/operations',
      '/ui/api/Patient',
      '/ui/console',
      '/ui/explain-search',
    ]) {
      expect((await server.raw('GET', path, undefined, HTML)).status, path).toBe(200);
    }
    expect((await server.raw('GET', '/ui/assets/kiln.js')).status).toBe(200);
  });

  it('list the jobs that the client has started, with their progress, and no others', async () => {
    const without = await server.raw('GET', '/ui/jobs', undefined, HTML);
    expect([without.status, without.headers['content-type']]).toEqual([401, 'text/html; charset=utf-8']);
    const authorization = `Bearer ${tokenOf('system/Patient.rs')}`;
    const page = await server.raw('GET', '/ui/jobs', undefined, { ...HTML, authorization });
    expect([page.status, page.headers['cache-control']]).toEqual([200, 'no-store']);
    expect(page.text).toContain('<code>mine</code>');
    expect(page.text).toMatch(/<progress [^>]*max="120" value="30">/);
    expect(page.text).toContain('<span class="badge">completed</span>');
    expect(page.text).not.toContain('theirs');
    // What was started with wider scopes is not for this token.
    expect(page.text).not.toContain('wide');
    expectEscaped(page, 'jobs');
  });
});

describe('pages of a server that is mounted in another application', () => {
  const server = useToyServer({ mountPath: '/r5', ownBase: 'http://127.0.0.1/r5' });

  it('have everything below that path', async () => {
    await server.raw('PUT', '/Patient/ada', JSON.stringify({ resourceType: 'Patient', id: 'ada' }), {
      'content-type': 'application/fhir+json',
    });
    for (const path of ['/', '/Patient/ada', '/ui/search/Patient', '/nothing']) {
      const { text, headers } = await server.raw('GET', path, undefined, HTML);
      expect(headers['content-type'], path).toBe('text/html; charset=utf-8');
      const own = [...text.matchAll(/(?:href|src|action)="(\/[^"]*)"/g)].map(([, link]) => link!);
      expect(own.length).toBeGreaterThan(5);
      expect(
        own.filter((link) => !link.startsWith('/r5/')),
        path,
      ).toEqual([]);
      for (const asset of own.filter((link) => link.includes('/assets/'))) {
        expect((await server.raw('GET', asset.slice('/r5'.length))).status).toBe(200);
      }
    }
  });
});
