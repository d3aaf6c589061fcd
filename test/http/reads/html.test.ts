import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { PRODUCT } from '../../../runtime/fhir/product.js';
import { createToyStore } from '../../toy/store.js';
import { serveWith, EVERYTHING, LAB, observed } from '../auth/support.js';
import { batch, entry, useBundleServer } from '../bundles/bundle-server.js';
import { codeOf, useToyServer, type Answer } from '../server.js';

/** What browsers send. */
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8';
const HTML = { accept: BROWSER };
const PAGE = 'text/html; charset=utf-8';

const SIGNS: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' };

/** The JSON that a page shows. There is no other markup in it than that of the highlighting. */
function shown({ text }: Pick<Answer, 'text'>): string {
  const [, content = ''] = /<pre class="code"><code>([^]*?)<\/code><\/pre>/.exec(text)!;
  const plain = content.replace(/<\/?span(?: class="[a-z]")?>|<a href="\/fhir\/[A-Za-z0-9/.-]+">|<\/a>/g, '');
  expect(plain).not.toMatch(/[<>]/);
  return plain.replace(/&(lt|gt|quot|#39|amp);/g, (_, name: string) => SIGNS[name]!);
}

/** Nothing runs but the script of the pages, and nothing is loaded from elsewhere. */
function expectHarmless({ headers, text }: Answer): void {
  const policy = String(headers['content-security-policy']);
  const [, nonce = ''] = /'nonce-([A-Za-z0-9+/=]{20,})'/.exec(policy) ?? [];
  expect(policy).toBe(
    `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'self'; img-src 'self'; connect-src 'self'; ` +
      `base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
  );
  expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'same-origin' });
  const scripts = [...text.matchAll(/<script\b[^>]*>/g)].map(([tag]) => tag);
  expect(scripts).toEqual([
    expect.stringMatching(/^<script src="\/ui\/assets\/tools\.js\?v=[\w-]+" nonce="/),
    expect.stringMatching(/^<script src="\/ui\/assets\/views\.js\?v=[\w-]+" nonce="/),
    expect.stringMatching(/^<script src="\/ui\/assets\/edit\.js\?v=[\w-]+" nonce="/),
    expect.stringMatching(/^<script src="\/ui\/assets\/results\.js\?v=[\w-]+" nonce="/),
    expect.stringMatching(/^<script src="\/ui\/assets\/kiln\.js\?v=[\w-]+" nonce="/),
  ]);
  for (const script of scripts) expect(script).toContain(`nonce="${nonce}"`);
  expect(text).not.toMatch(/<(?:img|object|embed|base)\b|<[^>]*\s(?:on\w+|style)=|href="javascript:/i);
}

describe('Accept: text/html was 406: a page with the resource as indented JSON', () => {
  const store = createToyStore();
  const server = useBundleServer(store);
  const family = '</pre><script>alert(1)</script>"><img src=x onerror=alert(2)>\'&lt;';
  const div = '<div xmlns="http://www.w3.org/1999/xhtml"><p>a &lt;script&gt; <b>bold</b></p></div>';
  const patient = { resourceType: 'Patient', id: 'ada', text: { status: 'generated', div }, name: [{ family }] };
  beforeAll(async () => {
    expect((await server.send('PUT', '/Patient/ada', patient)).status).toBe(201);
  });

  it('shows what the JSON says, to the character, and executes nothing of it', async () => {
    const json = await server.send('GET', '/Patient/ada?_pretty=true');
    const page = await server.send('GET', '/Patient/ada', undefined, HTML);
    expect([page.status, page.headers['content-type']]).toEqual([200, PAGE]);
    expect(page.text.match(/<title>(.*)<\/title>/)?.[1]).toBe('Patient/ada · Kiln');
    expect(shown(page)).toBe(json.text);
    expect(page.text).toContain('&lt;script&gt;alert(1)');
    expectHarmless(page);
    expect(page.headers['etag']).toBe(json.headers['etag']);
    expect(page.headers['vary']).toContain('Accept');
  });

  it('each page of /metadata has the nonce of its own policy, compressed too: that of the first was kept', async () => {
    const nonces = new Set<string>();
    for (const encoding of ['gzip', 'gzip', 'identity']) {
      const page = await server.send('GET', '/metadata', undefined, { ...HTML, 'accept-encoding': encoding });
      const text = encoding === 'gzip' ? gunzipSync(page.bytes).toString() : page.text;
      expectHarmless({ ...page, text });
      nonces.add(/'nonce-([^']+)'/.exec(String(page.headers['content-security-policy']))![1]!);
    }
    expect(nonces.size).toBe(3);
  });

  it.each([
    ['text/html', '', PAGE],
    ['application/fhir+json', '?_format=html', PAGE],
    ['application/fhir+json', '?_format=text/html', PAGE],
    [BROWSER, '?_format=json', 'application/fhir+json; charset=utf-8'],
    ['text/html;q=0.5, application/fhir+json', '', 'application/fhir+json; charset=utf-8'],
    ['application/fhir+json, text/html', '', 'application/fhir+json; charset=utf-8'],
    ['text/*', '', 'application/fhir+json; charset=utf-8'],
    ['*/*', '', 'application/fhir+json; charset=utf-8'],
  ])('Accept %s, %s: %s', async (accept, query, type) => {
    expect((await server.send('GET', `/Patient/ada${query}`, undefined, { accept })).headers['content-type']).toBe(
      type,
    );
  });

  it('is for searches, histories, metadata, writes and large Bundles too, compressed and for HEAD', async () => {
    for (const [path, content] of [
      ['/Patient?_id=ada', '<th scope="row"><a href="/fhir/Patient/ada">Patient/ada</a></th>'],
      ['/Patient/ada/_history', '<a href="/fhir/Patient/ada/_history/1">version 1</a>'],
      ['/metadata', '<th scope="row"><a href="/fhir/Patient">Patient</a></th>'],
    ] as const) {
      const page = await server.send('GET', path, undefined, HTML);
      expect([page.status, page.headers['content-type']], path).toEqual([200, PAGE]);
      expect(page.text).toContain(content);
      expectHarmless(page);
      const head = await server.send('HEAD', path, undefined, HTML);
      expect([head.headers['content-type'], head.text]).toEqual([PAGE, '']);
    }
    const written = await server.send('PUT', '/Patient/ada', patient, HTML);
    expect(shown(written)).toContain('"versionId": "1"');
    const many = batch(...Array.from({ length: 700 }, () => entry('GET', 'Patient/ada')));
    const large = await server.send('POST', '/', many, HTML);
    expect(large.bytes.length).toBeGreaterThan(512 * 1024);
    expect(JSON.parse(shown(large)).entry).toHaveLength(700);
    const packed = await server.send('POST', '/', many, { ...HTML, 'accept-encoding': 'gzip' });
    expect(shown({ text: gunzipSync(packed.bytes).toString() }).length).toBe(shown(large).length);
  });

  it('shows failures as pages, with their OperationOutcome', async () => {
    const answer = await server.send('GET', '/Patient/none', undefined, HTML);
    expect([answer.status, answer.headers['content-type']]).toEqual([404, PAGE]);
    expect(answer.text).toContain('<h1>404 Not Found</h1>');
    expect(JSON.parse(shown(answer)).issue[0].details.coding[0].code).toBe('not-found');
    expectHarmless(answer);
  });

  it('is never read: a page is no resource', async () => {
    const answer = await server.send(
      'PUT',
      '/Patient/x',
      shown(await server.send('GET', '/Patient/ada', undefined, HTML)),
      {
        'content-type': 'text/html',
      },
    );
    expect([answer.status, codeOf(answer)]).toEqual([415, 'unsupported-media-type']);
  });

  it('leaves the content of a Binary what it is: no page of ours', async () => {
    const evil = '<script>alert(1)</script>';
    await server.send('PUT', '/Binary/evil', evil, { 'content-type': 'text/html' });
    const content = await server.send('GET', '/Binary/evil', undefined, HTML);
    expect(content.text).toBe(evil);
    expect(content.headers).toMatchObject({
      'content-security-policy': "sandbox; default-src 'none'",
      'content-disposition': 'attachment',
    });
    const page = await server.send('GET', '/Binary/evil?_format=html');
    expect(JSON.parse(shown(page))).toMatchObject({
      resourceType: 'Binary',
      data: Buffer.from(evil).toString('base64'),
    });
  });
});

describe('a page with authorization', () => {
  const server = serveWith(createToyStore());

  it('shows what the token gives, and nothing without one', async () => {
    const admin = server.as(EVERYTHING);
    for (const category of ['laboratory', 'vital-signs'] as const) {
      await admin.send('PUT', `/Observation/${category}`, observed(category, { id: category }));
    }
    for (const path of ['/Observation', '/Observation/laboratory', '/Observation/vital-signs', '/Patient']) {
      const refused = await server.send('GET', path, undefined, HTML);
      expect([refused.status, refused.headers['content-type']]).toEqual([401, PAGE]);
      expect(JSON.parse(shown(refused)).issue[0].details.coding[0].code).toBe('token-missing');
      expect(refused.headers['www-authenticate']).toMatch(/^Bearer/);
      const lab = server.as(`system/Observation.rs?${LAB}`);
      const [page, json] = [
        await lab.send('GET', path, undefined, HTML),
        await lab.send('GET', `${path}?_pretty=true`, undefined, {}),
      ];
      expect(page.status).toBe(json.status);
      expect(page.headers['cache-control']).toBe('no-store');
      if (page.status !== 200) expect(JSON.parse(shown(page))).toEqual(json.json());
      else expect(linkedIds(page.text)).toEqual(idsIn(json.text));
    }
  });
});

/** The ids of the resources that a page shows, or is about. */
function linkedIds(text: string): string[] {
  const rows = [...text.matchAll(/<th scope="row"><a href="\/fhir\/[A-Za-z]+\/([^"/]+)"/g)].map(([, id]) => id!);
  return rows.length > 0 ? rows : [/<h1>[A-Za-z]+\/([^<]+)<\/h1>/.exec(text)![1]!];
}

function idsIn(text: string): (string | undefined)[] {
  const { id, entry: entries } = JSON.parse(text) as { id?: string; entry?: { resource: { id: string } }[] };
  return entries?.map(({ resource }) => resource.id) ?? [id];
}

describe('the landing page', () => {
  const docsFolder = mkdtempSync(join(tmpdir(), 'kiln-docs-'));
  writeFileSync(join(docsFolder, 'index.html'), '<!doctype html><title>Reference</title>');
  afterAll(() => rmSync(docsFolder, { recursive: true }));
  const open = useToyServer({ docsFolder });
  const guarded = useToyServer({
    ownBase: 'https://fhir.example/r5/fhir',
    tokenCommand: "npx kiln token --store '<x>'",
    gate: {
      admit() {
        throw new Error('nobody is asked for a token here');
      },
    },
  });

  it.each(['/', '/fhir', '/fhir/'])(
    'is at %s for browsers: what this is, its version, and where to go on',
    async (path) => {
      const page = await open.raw('GET', path, undefined, HTML);
      expect([page.status, page.headers['content-type']]).toEqual([200, PAGE]);
      expectHarmless(page);
      expect(page.text).toContain(`Kiln ${PRODUCT.version}`);
      const content = page.text.split('<main')[1]!.split('</main>')[0]!;
      const links = [...content.matchAll(/<a href="([^"]*)"/g)].map(([, url]) => url!);
      expect(links).toEqual([
        '/ui/search',
        '/ui/upload',
        '/fhir/metadata',
        '/docs/index.html',
        '/fhir/Patient',
        '/openapi/index.json',
        'https://hl7.org/fhir/R5/',
      ]);
      for (const link of links.slice(0, 6)) expect((await open.raw('GET', link, undefined, HTML)).status).toBe(200);
      expect(page.headers['vary']).toBe('Accept');
      const head = await open.raw('HEAD', path, undefined, HTML);
      expect([head.headers['content-length'], head.text]).toEqual([String(page.bytes.length), '']);
    },
  );

  it('says how a token is got, where requests need one', async () => {
    const page = await guarded.raw('GET', '/', undefined, HTML);
    expect(page.text).toContain('token&#x3D;$(npx kiln token --store &#x27;&lt;x&gt;&#x27;)');
    expect(page.text).toContain(
      'curl -H &quot;Authorization: Bearer $token&quot; &#x27;https://fhir.example/r5/fhir/Patient',
    );
    expect(page.text).toContain('<script src="/r5/ui/assets/kiln.js?');
    expect(page.text).toContain('<label for="token">');
    expect(page.text).not.toContain('/docs/');
  });

  it('names the command beside the box for a token, and keeps no token unless the server lets it', async () => {
    const page = await guarded.raw('GET', '/ui/search', undefined, HTML);
    expect(page.text).toContain('<code id="token-command">npx kiln token --store &#x27;&lt;x&gt;&#x27;</code>');
    expect(page.text).not.toContain('data-forget');
  });

  it('is for nobody else: programs get what they got before', async () => {
    for (const accept of ['*/*', 'application/fhir+json', 'text/html;q=0.1, application/fhir+json']) {
      expect((await open.raw('GET', '/', undefined, { accept })).status).toBe(404);
      expect((await open.raw('GET', '/fhir', undefined, { accept })).headers['content-type']).toContain('json');
    }
    expect((await open.raw('POST', '/', undefined, HTML)).status).toBe(404);
    expect((await open.raw('GET', '/fhir?_type=Patient', undefined, HTML)).text).not.toContain('First request');
  });

  it('/docs, which people type, was 404: it leads to /docs/, under any base URL', async () => {
    const answer = await open.raw('GET', '/docs', undefined, HTML);
    expect([answer.status, answer.headers.location]).toEqual([301, 'docs/']);
    expect((await open.raw('GET', '/docs/', undefined, HTML)).status).toBe(200);
  });

  it('has no way out of the folder of the reference pages', async () => {
    for (const path of ['/docs/../package.json', '/docs/%2e%2e/package.json', '/docs/..%2fpackage.json']) {
      const answer = await open.raw('GET', path, undefined, { accept: '*/*' });
      expect([path, answer.status, codeOf(answer)]).toEqual([path, 404, 'unknown-path']);
    }
    const page = await open.raw('GET', '/docs/index.html');
    expect(page.headers).toMatchObject({ 'x-content-type-options': 'nosniff' });
    expect(page.headers['content-security-policy']).toContain("default-src 'none'; style-src 'self'");
  });
});
