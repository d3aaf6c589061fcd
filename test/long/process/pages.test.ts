import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { docsFolder } from '../../../runtime/assembly/docs-folder.js';
import { SHIPPED } from '../../../runtime/core/shipped/shipped-resources.js';
import { createValidator } from '../../../runtime/validate/create-validator.js';
import { openStore } from '../../contract/open-store.js';
import { serveWith, tokenOf } from '../../http/auth/support.js';
import { useBundleServer } from '../../http/bundles/bundle-server.js';
import type { ToyServer } from '../../http/server.js';

/** Where a Chromium may be. */
const PLACES = [process.env['KILN_TEST_CHROMIUM'], '/usr/bin/chromium', '/usr/bin/chromium-browser'];
const executablePath = PLACES.find((path) => path !== undefined && existsSync(path));
if (executablePath === undefined) {
  process.stderr.write(
    'NOT TESTED: the pages in a browser. There is no Chromium here; KILN_TEST_CHROMIUM may name one.\n',
  );
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Folder for screenshots; absent: none are taken. */
const shots = process.env['KILN_TEST_SHOTS'];
if (shots !== undefined) mkdirSync(shots, { recursive: true });

const SCHEMES = ['light', 'dark'] as const;
const WIDTHS = [375, 1280] as const;

const PLANTED = '</script><script>window.planted = 1</script><img src=x onerror="window.planted = 1">';

/** A narrative as no validator would let it pass. */
const EVIL =
  '<div xmlns="http://www.w3.org/1999/xhtml"><p>Ada Lovelace</p>' +
  '<script>top.planted = 1; parent.planted = 1</script><img src="x" onerror="top.planted = 1" /></div>';

const store = await openStore('sqlite::memory:');
const open = useBundleServer(store, { validate: () => [], shipped: SHIPPED, docsFolder: docsFolder() });
const guarded = serveWith(store, { validate: () => [] });
/** Lets pages keep the token. */
const keeping = serveWith(store, { validate: () => [], keepsToken: true, tokenCommand: 'npx kiln token' });
/** Validates, as every server does outside of tests. */
const strict = useBundleServer(store, { validate: createValidator(tables) });

async function fill(server: ToyServer): Promise<void> {
  const name = [{ family: `Lovelace ${PLANTED}`, given: ['Ada'] }];
  const patient = { resourceType: 'Patient', id: 'ada', gender: 'female', birthDate: '1815-12-10', name };
  const put = async (resource: {
    readonly id: string;
    readonly resourceType: string;
    readonly [name: string]: unknown;
  }) => {
    const { status } = await server.send('PUT', `/${resource.resourceType}/${resource.id}`, resource);
    expect(status).toBeLessThan(300);
  };
  await put({ ...patient, text: { status: 'generated', div: EVIL } });
  const managingOrganization = { reference: 'Organization/hospital', display: 'Hospital' };
  await put({ resourceType: 'Organization', id: 'hospital', name: 'Hospital' });
  await put({ ...patient, text: { status: 'generated', div: EVIL }, managingOrganization, active: true });
  for (let i = 0; i < 12; i++)
    await put({ ...patient, id: `p${i}`, name: [{ family: 'Lovelace', given: [`No ${i}`] }] });
}

describe.skipIf(executablePath === undefined)('the pages in a browser', () => {
  let browser: Browser;

  beforeAll(async () => {
    await fill(open);
    browser = await chromium.launch({ executablePath: executablePath!, args: ['--no-sandbox'] });
  });
  afterAll(async () => {
    await browser?.close();
    await store.close();
  });

  /** A window that notices every script that runs where none may. */
  async function windowOf(width: number, colorScheme: 'light' | 'dark', more: object = {}) {
    const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme, ...more });
    const page = await context.newPage();
    const faults: string[] = [];
    page.on('dialog', (dialog) => faults.push(`dialog ${dialog.message()}`));
    page.on('pageerror', (error) => faults.push(`error ${error.message}`));
    return { page, faults, close: () => context.close() };
  }

  /** What axe finds that keeps people out, and whether the page is wider than its window. */
  async function inspect(page: Page, name: string): Promise<void> {
    await page.evaluate(AXE);
    const found = await page.evaluate(async () => {
      const { axe } = globalThis as unknown as {
        axe: { run(): Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }> };
      };
      const { violations } = await axe.run();
      return violations.map(
        ({ id, impact, nodes }) =>
          `${impact} ${id}: ${nodes
            .map(({ html }) => html)
            .join(' ')
            .slice(0, 300)}`,
      );
    });
    expect(
      found.filter((text) => /^(?:serious|critical)/.test(text)),
      name,
    ).toEqual([]);
    const overflow = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
    expect(overflow, `${name} is wider than its window`).toBeLessThanOrEqual(0);
    expect(await page.evaluate('window.planted'), name).toBeUndefined();
    if (shots !== undefined) await page.screenshot({ path: join(shots, `${name}.png`), fullPage: true });
  }

  describe.each(SCHEMES)('%s', (scheme) => {
    it.each(WIDTHS)('landing, search, resource, versions, changes, and back, at %i pixels', async (width) => {
      const { page, faults, close } = await windowOf(width, scheme);
      const named = (step: string): string => `${step}-${scheme}-${width}`;
      await page.goto(`${open.url}/`);
      expect(await page.textContent('h1')).toBe('Kiln');
      await inspect(page, named('1-landing'));
      await page.click('main >> text=Search');
      await inspect(page, named('2-types'));
      await page.click('.types >> text="Patient"');
      await page.fill('[name="v.family"]', 'lovel');
      await page.selectOption('[name="p.birthdate"]', 'lt');
      await page.fill('[name="v.birthdate"]', '1900');
      await page.fill('[name="v._count"]', '5');
      await inspect(page, named('3-builder'));
      await page.keyboard.press('Enter');
      await page.waitForURL(/\/fhir\/Patient\?/);
      expect(new URL(page.url()).search).toBe('?birthdate=lt1900&family=lovel&_count=5');
      expect(await page.locator('tbody tr').count()).toBe(5);
      await inspect(page, named('4-results'));
      await page.locator('a[rel=next]').first().click();
      expect(await page.locator('tbody tr').count()).toBe(5);
      await page.goBack();
      await page.click('text=Patient/ada');
      expect(await page.textContent('h1')).toBe('Patient/ada');
      expect(await page.frameLocator('iframe').locator('p').textContent()).toBe('Ada Lovelace');
      await inspect(page, named('5-resource'));
      await page.click('.tabs >> text=XML');
      expect(await page.textContent('pre.code code')).toContain('<family value="Lovelace');
      await inspect(page, named('6-xml'));
      await page.goBack();
      await page.click('text=Versions');
      await inspect(page, named('7-versions'));
      await page.click('text=Compare');
      await page.waitForURL(/\$diff/);
      expect(await page.locator('tbody tr').count()).toBe(2);
      await inspect(page, named('8-changes'));
      for (const address of [/_history$/, /Patient\/ada$/, /\/fhir\/Patient\?/]) {
        await page.goBack();
        expect(page.url()).toMatch(address);
      }
      expect(faults).toEqual([]);
      await close();
    });

    it.each(WIDTHS)('capabilities, operations, API, jobs, console and failures, at %i pixels', async (width) => {
      const { page, faults, close } = await windowOf(width, scheme);
      for (const [name, path] of [
        ['capabilities', '/fhir/metadata'],
        ['operations', '/ui/operations'],
        ['operation', '/ui/operations/Patient-everything?type=Patient&id=ada'],
        ['api-types', '/ui/api'],
        ['api', '/ui/api/Appointment'],
        ['jobs', '/ui/jobs'],
        ['subscriptions', '/ui/subscriptions'],
        ['console', '/ui/console'],
        ['graphql', '/ui/graphql'],
        ['views', '/ui/views'],
        ['explain-search', '/ui/explain-search'],
        ['plan', '/fhir/Patient?family=lovel&birthdate=lt1900&_include=Patient:organization&_sort=family&_view=plan'],
        ['not-found', '/fhir/Patient/none'],
        ['empty', '/fhir/Basic'],
        ['reference', '/docs/index.html'],
        ['reference-type', '/docs/patient.html'],
      ] as const) {
        await page.goto(open.url + path);
        await inspect(page, `${name}-${scheme}-${width}`);
      }
      expect(faults).toEqual([]);
      await close();
    });
  });

  it('creates, edits, sees a conflict and deletes without JavaScript', async () => {
    const { page, close } = await windowOf(375, 'light', { javaScriptEnabled: false });
    await page.goto(`${strict.url}/ui/edit/Observation`);
    await page.fill(
      '#plain-text',
      '{\n  "resourceType": "Observation",\n  "status": "final",\n  "code": { "txt": 1 }\n}',
    );
    await page.click('#edit-plain >> text=Check');
    expect(await page.locator('.issues li pre').first().textContent()).toBe('4  "code": { "txt": 1 }');
    if (shots !== undefined) await page.screenshot({ path: join(shots, 'plain-issues.png'), fullPage: true });
    await page.fill('#plain-text', (await page.inputValue('#plain-text')).replace('"txt": 1', '"text": "before"'));
    await page.click('#edit-plain >> text=Create');
    expect(await page.textContent('pre.code code')).toContain('before');
    const path = new URL(page.url()).pathname;
    await page.click('.actions >> text=Edit');
    await page.click('#edit-plain >> text=Edit');
    const theirs = JSON.parse((await strict.send('GET', path.slice('/fhir'.length))).text) as object;
    await strict.send('PUT', path.slice('/fhir'.length), { ...theirs, status: 'amended' });
    await page.fill('#plain-text', (await page.inputValue('#plain-text')).replace('before', 'after'));
    await page.click('#edit-plain >> text=Save');
    expect(await page.textContent('main')).toContain('Save over version 2');
    if (shots !== undefined) await page.screenshot({ path: join(shots, 'plain-conflict.png'), fullPage: true });
    await page.click('text=Save over version 2');
    expect(await page.textContent('pre.code code')).toContain('after');
    await page.click('.actions >> text=Edit');
    await page.click('#edit-plain >> text=Edit');
    await page.click('#edit-plain >> text=Delete');
    if (shots !== undefined) await page.screenshot({ path: join(shots, 'plain-delete.png'), fullPage: true });
    await page.click('text=Delete it');
    expect(page.url()).toMatch(/_history$/);
    expect((await strict.send('GET', path.slice('/fhir'.length))).status).toBe(410);
    await close();
  });

  it('works without JavaScript, but for the console and forms that POST', async () => {
    const { page, close } = await windowOf(1280, 'light', { javaScriptEnabled: false });
    await page.goto(`${open.url}/ui/search/Patient`);
    await page.fill('[name="v.gender"]', 'female');
    await page.locator('main button').first().click();
    await page.click('text=Patient/ada');
    await page.click('text=Versions');
    await page.click('text=Compare');
    expect(await page.textContent('h1')).toBe('What changed');
    await page.goto(`${open.url}/ui/operations/Resource-meta?type=Patient&id=ada`);
    await page.goto(`${open.url}/ui/console`);
    expect(await page.isVisible('text=The console needs the script')).toBe(true);
    await close();
  });

  it('runs no script that was planted, and its policy stops one that had got into a page', async () => {
    const { page, close } = await windowOf(1280, 'light');
    const refused: string[] = [];
    page.on('console', (message) => refused.push(message.text()));
    await page.goto(`${open.url}/fhir/Patient/ada`);
    await page.frameLocator('iframe').locator('p').waitFor();
    await page.evaluate(`
      const script = document.createElement('script');
      script.textContent = 'window.planted = 1';
      document.body.append(script);
      const frame = document.createElement('iframe');
      frame.srcdoc = '<p>in</p><script>top.planted = 1</scr' + 'ipt>';
      document.body.append(frame);
      new Promise((resolve) => { frame.onload = resolve; });
    `);
    expect(await page.evaluate('window.planted')).toBeUndefined();
    expect(refused.filter((text) => text.includes('Content Security Policy')).length).toBeGreaterThanOrEqual(2);
    await close();
  });

  it('copies, sends requests from the console, and keeps its history in memory', async () => {
    const { page, close } = await windowOf(1280, 'light');
    await page.goto(`${open.url}/ui/console`);
    await page.fill('#console-path', 'Patient/ada');
    await page.click('text=Send');
    await page.locator('#console-answer', { hasText: /^200 / }).waitFor();
    await page.selectOption('#console-method', 'PUT');
    await page.fill('#console-path', 'Patient/bob');
    await page.fill('#console-body', '{"resourceType":"Patient","id":"bob"}');
    await page.click('text=Send');
    await page.locator('#console-answer', { hasText: /^201 / }).waitFor();
    expect(await page.locator('#console-history li').count()).toBe(2);
    await page.click('#console-history >> text=GET Patient/ada');
    expect(await page.inputValue('#console-path')).toBe('Patient/ada');
    if (shots !== undefined) await page.screenshot({ path: join(shots, 'console-used.png'), fullPage: true });
    await page.reload();
    expect(await page.locator('#console-history li').count()).toBe(0);
    await close();
  });

  it('shows all of a large resource when that is asked for: its text to the character, links, and the narrative', async () => {
    const name = Array.from({ length: 300 }, (_, n) => ({ family: `Name${n}`, given: ['x', 'y "z" <b>'] }));
    const large = {
      ...{ resourceType: 'Patient', id: 'large', name },
      extension: [{ url: 'http://example.org/x', valueDecimal: '1.50' }],
      managingOrganization: { reference: 'Organization/hospital' },
      text: { status: 'generated', div: EVIL },
    };
    const sent = JSON.stringify(large).replace('"1.50"', '1.50');
    await open.send('PUT', '/Patient/large', sent, { 'content-type': 'application/fhir+json' });
    const { page, faults, close } = await windowOf(375, 'dark');
    await page.goto(`${open.url}/fhir/Patient/large`);
    await inspect(page, 'large-beginning');
    await page.click('text=Show all here');
    await page.locator('pre.code', { hasText: '"Name299"' }).waitFor();
    const plain = await open.send('GET', '/Patient/large?_pretty=true');
    expect(await page.textContent('pre.code code')).toBe(plain.text);
    expect(await page.getAttribute('pre.code a', 'href')).toBe('/fhir/Organization/hospital');
    expect(await page.frameLocator('iframe').locator('p').textContent()).toBe('Ada Lovelace');
    await inspect(page, 'large-all');
    expect(faults).toEqual([]);
    await close();
  });

  it('asks GraphQL, lists the fields of a type, and inserts one', async () => {
    const { page, faults, close } = await windowOf(1280, 'light');
    await page.goto(`${open.url}/ui/graphql`);
    await page.fill('#graphql-query', 'query($id: ID!) { Patient(id: $id) { gender  } }');
    await page.fill('#graphql-variables', '{ "id": "ada" }');
    await page.press('#graphql-variables', 'Control+Enter');
    await page.locator('#graphql-answer', { hasText: '"gender": "female"' }).waitFor();
    await page.click('#graphql-fields >> text="Patient"');
    await page.locator('#graphql-fields >> text="HumanName"').waitFor();
    await inspect(page, 'graphql-used');
    await page.evaluate(`(() => {
      const { query } = document.getElementById('graphql').elements;
      query.selectionStart = query.selectionEnd = query.value.indexOf('}');
    })()`);
    await page.click('#graphql-fields >> text="birthDate"');
    expect(await page.inputValue('#graphql-query')).toContain('gender  birthDate }');
    await page.click('.run >> text=Run');
    await page.locator('#graphql-answer', { hasText: '"birthDate": "1815-12-10"' }).waitFor();
    await page.fill('#graphql-place', 'Patient/ada');
    await page.fill('#graphql-query', '{ birthDate }');
    await page.fill('#graphql-variables', '');
    await page.click('.run >> text=Run');
    await page.locator('#graphql-answer', { hasText: /^{\s*"data": {\s*"birthDate"/ }).waitFor();
    expect(faults).toEqual([]);
    await close();
  });

  it('runs a view, shows its rows with the types of their columns, and downloads them', async () => {
    const { page, faults, close } = await windowOf(375, 'dark');
    await page.goto(`${open.url}/ui/views`);
    await page.press('#views-view', 'Control+Enter');
    await page.locator('#views-rows td', { hasText: /^Lovelace / }).waitFor();
    expect(await page.locator('#views-rows th').allTextContents()).toEqual(['id string', 'family string', 'gender code', 'birth_date date']); // prettier-ignore
    expect(await page.isVisible('#views-stored')).toBe(false);
    await inspect(page, 'views-used');
    for (const format of ['csv', 'ndjson', 'parquet']) {
      const [download] = await Promise.all([page.waitForEvent('download'), page.click(`[data-table="${format}"]`)]);
      expect(download.suggestedFilename()).toBe(`view.${format}`);
      expect(statSync(await download.path()).size).toBeGreaterThan(50);
    }
    const column = [
      { name: 'family', path: 'name.family.first()' },
      { name: 'id', path: 'id', type: 'id' },
    ];
    await page.fill('#views-view', JSON.stringify({ resourceType: 'ViewDefinition', status: 'active', resource: 'Patient', select: [{ column }], where: [{ path: "id = 'bare'" }] })); // prettier-ignore
    await open.send('PUT', '/Patient/bare', { resourceType: 'Patient', id: 'bare' });
    await page.click('.run >> text=Run');
    await page.locator('#views-rows td', { hasText: /^bare$/ }).waitFor();
    expect(await page.locator('#views-rows td').allTextContents()).toEqual(['', 'bare']);
    const stored = { resourceType: 'ViewDefinition', id: 'stored', status: 'active', name: 'stored_view', resource: 'Patient', select: [{ column }] }; // prettier-ignore
    expect((await open.send('PUT', '/ViewDefinition/stored', stored)).status).toBe(201);
    await page.reload();
    await page.locator('#views-pick').selectOption({ label: 'stored_view (Patient)' });
    await page.waitForFunction("document.getElementById('views-view').value.includes('stored_view')");
    await page.click('.run >> text=Run');
    // Walks before it leave Patients, so the number is not known.
    await page.locator('#views-state', { hasText: /^\d.* rows/ }).waitFor();
    expect(await page.locator('#views-rows th').allTextContents()).toEqual(['family', 'id id']);
    await inspect(page, 'views-stored');
    await page.fill('#views-view', '{ "resourceType": "ViewDefinition", "resource": "Patient" }');
    await page.click('.run >> text=Run');
    await page.locator('#views-state', { hasText: /^422 .*select/ }).waitFor();
    expect(faults.filter((fault) => !/422/.test(fault))).toEqual([]);
    await close();
  });

  it('asks for a token, keeps it in memory, and sends it to this server alone', async () => {
    const { page, close } = await windowOf(1280, 'light');
    await page.goto(`${guarded.url}/fhir/Patient/ada`);
    expect(await page.textContent('h1')).toBe('401 Unauthorized');
    await inspect(page, 'token-needed');
    const authorized: string[] = [];
    page.on('request', (request) => {
      if (request.headers()['authorization'] !== undefined) authorized.push(new URL(request.url()).origin);
    });
    await page.fill('#token', tokenOf('system/Patient.rs'));
    await page.click('#token-form >> text=Use');
    await page.waitForSelector('h1:has-text("Patient/ada")');
    await inspect(page, 'token-used');
    expect(await page.evaluate('window.planted')).toBeUndefined();
    await page.click('text=Versions');
    await page.click('text=Compare');
    await page.waitForSelector('h1:has-text("What changed")');
    await page.click('a:has-text("Organization")');
    await page.waitForSelector('h1:has-text("403 Forbidden")');
    await page.goBack();
    await page.waitForSelector('h1:has-text("What changed")');
    expect(new Set(authorized)).toEqual(new Set([guarded.url]));
    const kept = await page.evaluate('JSON.stringify([localStorage.length, sessionStorage.length, document.cookie])');
    expect(kept).toBe('[0,0,""]');
    await page.reload();
    expect(await page.textContent('h1')).toBe('401 Unauthorized');
    await close();
  });

  it('keeps the token in its tab where that is allowed, until a button forgets it', async () => {
    const { page, faults, close } = await windowOf(375, 'dark');
    await page.goto(`${keeping.url}/fhir/Patient/ada`);
    await page.click('text=Get a token');
    expect(await page.textContent('#token-command')).toBe('npx kiln token');
    await inspect(page, 'token-kept');
    const kept = (): Promise<unknown> => page.evaluate('JSON.stringify({ ...sessionStorage })');
    const token = tokenOf('system/Patient.rs');
    await page.fill('#token', token);
    await page.click('#token-form >> text=Use');
    await page.waitForSelector('h1:has-text("Patient/ada")');
    expect(await kept()).toBe('{}');
    await page.check('[name=keep]');
    await page.fill('#token', token);
    await page.click('#token-form >> text=Use');
    await page.waitForSelector('h1:has-text("Patient/ada")');
    expect(await kept()).toBe(JSON.stringify({ 'kiln-token': token }));
    await page.reload();
    await page.waitForSelector('h1:has-text("Patient/ada")');
    // Another tab has none.
    const other = await page.context().newPage();
    await other.goto(`${keeping.url}/fhir/Patient/ada`);
    expect(await other.textContent('h1')).toBe('401 Unauthorized');
    await page.click('text=Forget');
    await page.waitForSelector('h1:has-text("401 Unauthorized")');
    expect(await kept()).toBe('{}');
    expect(faults).toEqual([]);
    await close();
  });

  it('keeps no token of a page that was not opened on this machine, and drops what it has where keeping ended', async () => {
    const elsewhere = await chromium.launch({
      executablePath: executablePath!,
      args: ['--no-sandbox', '--host-resolver-rules=MAP kiln.example 127.0.0.1'],
    });
    try {
      const page = await elsewhere.newPage();
      const { port } = new URL(keeping.url);
      await page.goto(`http://kiln.example:${port}/fhir/Patient/ada`);
      expect(await page.isVisible('#token')).toBe(true);
      expect(await page.isVisible('[name=keep]')).toBe(false);
      await page.goto(`${guarded.url}/ui/search`);
      await page.evaluate("sessionStorage.setItem('kiln-token', 'old')");
      await page.reload();
      expect(await page.evaluate('sessionStorage.length')).toBe(0);
    } finally {
      await elsewhere.close();
    }
  });

  it('takes a token where the browser is set to store nothing', async () => {
    const { page, faults, close } = await windowOf(1280, 'light');
    await page.addInitScript(
      "Object.defineProperty(window, 'sessionStorage', { get() { throw new DOMException('no', 'SecurityError'); } })",
    );
    for (const { url } of [guarded, keeping]) {
      await page.goto(`${url}/fhir/Patient/ada`);
      await page.fill('#token', tokenOf('system/Patient.rs'));
      await page.click('#token-form >> text=Use');
      await page.waitForSelector('h1:has-text("Patient/ada")');
    }
    expect(faults).toEqual([]);
    await close();
  });

  it('takes uploaded content for no page of this server', async () => {
    const evil = '<main id="main"><h1>Sign in</h1></main>';
    await open.send('PUT', '/Binary/evil', evil, { 'content-type': 'text/html' });
    const { page, close } = await windowOf(1280, 'light');
    await page.goto(`${guarded.url}/fhir/Patient/ada`);
    await page.fill('#token', tokenOf('system/*.rs'));
    await page.click('#token-form >> text=Use');
    await page.waitForSelector('h1:has-text("Patient/ada")');
    await page.evaluate(`
      const link = document.createElement('a');
      link.href = '/fhir/Binary/evil';
      link.textContent = 'the content';
      document.getElementById('main').append(link);
    `);
    await page.click('text=the content');
    await page.waitForSelector('text=Save the content');
    expect(await page.isVisible('text=Sign in')).toBe(false);
    await close();
  });

  describe.each(SCHEMES)('editing, %s', (scheme) => {
    it.each(WIDTHS)('create, edit, conflict, history, compare, delete, at %i pixels', async (width) => {
      const { page, faults, close } = await windowOf(width, scheme);
      const named = (step: string): string => `edit-${step}-${scheme}-${width}`;
      await page.goto(`${strict.url}/ui/search/Observation`);
      await page.click('text=New Observation');
      expect(JSON.parse(await page.inputValue('#edit-text'))).toEqual({
        resourceType: 'Observation',
        status: 'registered',
        code: { text: 'fill in' },
      });
      await page.click('text=Outline');
      await page.locator('.outline button', { hasText: 'code' }).waitFor();
      expect(await page.locator('.outline button').allTextContents()).toEqual(['resourceType', 'status', 'code']);
      await page.click('.outline >> text=code');
      expect(await page.evaluate('getSelection().toString()')).toContain('"code"');
      await inspect(page, named('1-template'));
      await page.fill(
        '#edit-text',
        '{\n  "resourceType": "Observation",\n  "status": "final",\n  "code": { "txt": 1 }\n}',
      );
      await page.click('#edit >> text=Check');
      await page.locator('#edit-issues button', { hasText: 'line 4' }).first().waitFor();
      expect(await page.locator('#edit-lines .bad').first().textContent()).toBe('4\n');
      await inspect(page, named('2-issues'));
      await page.click('#edit-issues button >> nth=0');
      expect(await page.evaluate('getSelection().toString()')).toContain('"txt"');
      await page.fill(
        '#edit-text',
        '{\n  "resourceType": "Observation",\n  "status": "final",\n  "code": { "text": "before" },\n  "valueQuantity": { "value": 1.50 }\n}',
      );
      await page.press('#edit-text', 'Control+Enter');
      await page.waitForURL(/\/fhir\/Observation\/[^/]+$/);
      expect(await page.textContent('pre.code code')).toContain('1.50');
      const path = new URL(page.url()).pathname;
      await page.click('.actions >> text=Edit');
      await page.locator('#edit-text').filter({ hasText: '' }).waitFor();
      await expect.poll(() => page.inputValue('#edit-text')).toContain('1.50');
      // Another writer comes first.
      const theirs = JSON.parse((await strict.send('GET', path.slice('/fhir'.length))).text) as object;
      await strict.send('PUT', path.slice('/fhir'.length), { ...theirs, status: 'amended' });
      await page.fill('#edit-text', (await page.inputValue('#edit-text')).replace('before', 'after'));
      await page.click('#edit >> text=Save');
      await page.locator('#edit-issues .diff', { hasText: 'amended' }).waitFor();
      await inspect(page, named('3-conflict'));
      await page.click('text=Take theirs');
      await expect.poll(() => page.inputValue('#edit-text')).toContain('amended');
      await page.fill('#edit-text', (await page.inputValue('#edit-text')).replace('before', 'after'));
      await page.click('#edit >> text=Save');
      await page.waitForURL((url) => url.pathname === path);
      await page.click('text=Versions');
      expect(await page.locator('tbody tr').count()).toBe(3);
      await page.click('text=Compare');
      expect(await page.textContent('.diff')).toContain('after');
      await page.goto(`${strict.url}${path}`);
      await page.click('text=Copy as new');
      await expect.poll(() => page.inputValue('#edit-text')).toContain('after');
      expect(await page.inputValue('#edit-text')).not.toMatch(/"id"|versionId/);
      await page.goto(`${strict.url}${path}`);
      await page.click('.actions >> text=Edit');
      await expect.poll(() => page.inputValue('#edit-text')).toContain('after');
      await page.click('summary >> text=Delete');
      await page.click('text=Outline');
      await page.locator('.outline li', { hasText: /^valueQuantity \d+$/ }).waitFor();
      await inspect(page, named('4-delete'));
      await page.click('text=Delete it');
      await page.waitForURL(/_history$/);
      expect((await strict.send('GET', path.slice('/fhir'.length))).status).toBe(410);
      expect(faults).toEqual([]);
      await close();
    });
  });

  it('builds a search by pickers, copied as curl that runs in a shell; sorts, charts, counts and finds what refers', async () => {
    const { page, faults, close } = await windowOf(1280, 'light');
    for (const [n, day] of ['03', '01', '02'].entries()) {
      await open.send('PUT', `/Observation/kg-${n}`, {
        ...{ resourceType: 'Observation', id: `kg-${n}`, status: 'final', code: { text: 'Weight' } },
        ...{ subject: { reference: 'Patient/ada' }, effectiveDateTime: `2026-01-${day}` },
        valueQuantity: { value: 70 + n * 1.5, unit: 'kg' },
      });
    }
    await page.goto(`${open.url}/ui/search/Patient`);
    expect(await page.getAttribute('.bar [aria-current]', 'href')).toBe('/ui/search');
    const about = (code: string) =>
      page.locator('.parameter', { has: page.locator(`[name="v.${code}"]`) }).textContent();
    expect(await about('family')).toContain('A portion of the family name of the patient');
    expect(await page.textContent('#codes-gender option[value=other]')).toBe('Other.');
    await page.fill('form [data-filter]', 'organization');
    expect(await page.locator('.parameter legend:visible').allTextContents()).toEqual([
      'general-practitioner reference',
      'organization reference',
    ]);
    await page.fill('form [data-filter]', '');
    await page.fill('[name="v.gender"]', 'female');
    await page.fill('[data-pick="v.birthdate"]', '1815-12-31');
    await page.selectOption('[name="p.birthdate"]', 'le');
    await page.fill('[name="v.family"]', "Love'l");
    expect(await page.textContent('#search-url')).toBe(
      `${open.url}/fhir/Patient?birthdate=le1815-12-31&family=Love'l&gender=female`,
    );
    await page.fill('[name="v.family"]', 'lovel');
    await inspect(page, 'pickers');
    await page.click('main button >> nth=0');
    await page.waitForURL(/\/fhir\/Patient\?/);
    await page.click('text=Copy as curl');
    const command = await page.locator('.copy-as pre').first().textContent();
    // Not at once: the server is in this process.
    const { stdout } = await promisify(execFile)('sh', ['-c', `${command!} -s`]);
    const { resourceType, total } = JSON.parse(stdout) as { resourceType: string; total: number };
    expect([resourceType, total]).toEqual(['Bundle', 13]);
    expect(await page.locator('.copy-as pre').last().textContent()).toContain(
      'client.search(\'Patient\', { "birthdate": "le1815-12-31"',
    );
    await inspect(page, 'copied');
    await page.click('th >> text=birthDate');
    await page.waitForURL(/_sort=birthdate/);
    expect(await page.getAttribute('th[aria-sort]', 'aria-sort')).toBe('ascending');
    await page.goto(`${open.url}/fhir/Observation?_id=kg-0,kg-1,kg-2`);
    expect(await page.locator('.chart circle').count()).toBe(3);
    await inspect(page, 'chart');
    await page.locator('td a[title="Patient/ada"]', { hasText: 'Ada Lovelace' }).first().waitFor();
    await page.click('summary >> text=Columns');
    const shown = page.locator('.choices input:checked');
    while ((await shown.count()) > 0) await shown.first().click();
    await page.check('.choices [value=subject]');
    await page.check('.choices [value=code]');
    await inspect(page, 'columns');
    await page.click('text=Show these');
    await page.waitForURL(/_elements=code%2Csubject/);
    expect(await page.locator('thead th').allTextContents()).toEqual(['Resource', 'code', 'subject', 'Last updated']);
    await page.goto(`${open.url}/ui/search/Patient`);
    await page.fill('[name="v.given"]', 'no');
    await page.click('[aria-label="and another value of given"]');
    await page.keyboard.type('7');
    expect(await page.textContent('#search-url')).toContain('given=no&given=7');
    await page.click('main button >> nth=0');
    await page.waitForURL(/given=no&given=7/);
    await page.goto(`${open.url}/fhir/Patient/ada`);
    await page.click('text=What refers to it');
    await page.locator('.referrers', { hasText: 'Observation by subject: 3' }).waitFor();
    await inspect(page, 'referrers');
    await page.goto(`${open.url}/`);
    await page.locator('[data-counts] li', { hasText: 'Patient' }).waitFor();
    await inspect(page, 'counts');
    await page.goto(`${open.url}/ui/api/Patient`);
    await page.click('summary >> nth=0');
    await page.click('text=Try it >> nth=0');
    await page.click('text=Send');
    await page.locator('#console-answer', { hasText: /^\d{3} / }).waitFor();
    await page.click('text=Copy as curl');
    expect(await page.locator('.copy-as pre').first().textContent()).toContain(
      "curl -H 'Accept: application/fhir+json'",
    );
    await page.goto(`${open.url}/ui/api`);
    await page.fill('[data-filter]', 'obs');
    expect(await page.locator('.types li:visible').allTextContents()).toEqual(['Observation', 'ObservationDefinition']);
    await inspect(page, 'filtered');
    await page.goto(`${open.url}/ui/operations`);
    await page.fill('[data-filter]', 'hfql-execute');
    expect(await page.locator('tbody tr:visible').count()).toBe(1);
    await inspect(page, 'filtered-operations');
    expect(faults).toEqual([]);
    await close();
  });

  it('uploads 1,000 resources of a file with progress, and says which were refused', async () => {
    const { page, faults, close } = await windowOf(1280, 'light');
    await page.goto(`${open.url}/ui/upload`);
    const lines = Array.from({ length: 1000 }, (_, n) =>
      JSON.stringify({ resourceType: 'Basic', id: `up-${n}`, code: { text: 'up' } }),
    );
    const send = async (name: string, text: string): Promise<void> => {
      await page.setInputFiles('#upload-file', { name, mimeType: 'application/json', buffer: Buffer.from(text) });
      await page.click('main >> text="Upload" >> nth=-1');
    };
    await send('many.ndjson', `${lines.join('\n')}\n`);
    await page.locator('#upload-state', { hasText: '1000 resources are stored.' }).waitFor();
    await inspect(page, 'upload-done');
    expect((await open.send('GET', '/Basic?_summary=count')).json().total).toBe(1000);
    await send('odd.ndjson', `${lines[0]!}\n{"resourceType":"Basic","id":"not an id","code":{}}\n`);
    await page.locator('#upload-faults li', { hasText: 'Resource 2: 400' }).waitFor();
    await inspect(page, 'upload-refused');
    await send(
      'bundle.json',
      JSON.stringify({
        resourceType: 'Bundle',
        type: 'collection',
        entry: [{ resource: JSON.parse(lines[1]!) as object }],
      }),
    );
    await page.locator('#upload-state', { hasText: '1 resources are stored.' }).waitFor();
    await send('none.json', 'nothing');
    await page.locator('#upload-state', { hasText: 'cannot be read' }).waitFor();
    expect(faults).toEqual([]);
    await close();
  });

  it('edits with the token alone, and is refused by its scopes', async () => {
    const { page, close } = await windowOf(1280, 'dark');
    await page.goto(`${guarded.url}/ui/edit/Patient?id=ada`);
    await page.locator('#edit-state', { hasText: 'needs an access token' }).waitFor();
    await page.fill('#token', tokenOf('system/Patient.rs'));
    await page.click('#token-form >> text=Use');
    await expect.poll(() => page.inputValue('#edit-text')).toContain('Lovelace');
    await page.click('main >> text=Save');
    await page.locator('#edit-state', { hasText: '403' }).waitFor();
    await inspect(page, 'edit-refused');
    // What is there is the text of the page before.
    await page.fill('#edit-text', '');
    await page.fill('#token', tokenOf('system/Patient.cruds'));
    await page.click('#token-form >> text=Use');
    await expect.poll(() => page.inputValue('#edit-text')).toContain('Lovelace');
    await page.fill('#edit-text', (await page.inputValue('#edit-text')).replace('1815-12-10', '1815-12-11'));
    await page.click('main >> text=Save');
    await page.locator('h1', { hasText: /^Patient\/ada$/ }).waitFor();
    expect((await open.send('GET', '/Patient/ada')).json().birthDate).toBe('1815-12-11');
    await close();
  });
});
