import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';

const SCRIPT = readFileSync(new URL('../../../runtime/pages/assets/edit.js', import.meta.url), 'utf8');

interface Sent {
  readonly path: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The script of the editor and the upload in a page of stubs. @param answer what the server answers */
function openPage(answer: (sent: Sent) => Response) {
  const sent: Sent[] = [];
  const listeners: Record<string, (event: object) => void> = {};
  const elements: Record<string, Record<string, unknown>> = {};
  const stub = (more: object = {}) => ({
    ...{ textContent: '', value: '', dataset: {}, hidden: true },
    ...{ addEventListener: () => {}, replaceChildren: () => {}, append: () => {}, focus: () => {} },
    ...more,
  });
  const getElementById = (id: string) => (elements[id] ??= stub());
  runInNewContext(SCRIPT, {
    document: {
      addEventListener: (name: string, listener: (event: object) => void) => (listeners[name] = listener),
      getElementById,
    },
    fetch: (url: URL, init: Omit<Sent, 'path'>) => {
      const { pathname: path } = url;
      sent.push({ ...init, path });
      return Promise.resolve(answer({ ...init, path }));
    },
    location: { href: 'http://kiln.example/ui/upload', assign: () => {} },
    headersFor: (more: object) => more,
    element: (_tag: string, textContent: string) => stub({ textContent }),
    ...{ URL, token: '', PAGE_MARK: 'Kiln-Page', visit: () => {} },
  });
  const textOf = (id: string): unknown => getElementById(id)['textContent'];
  return {
    sent,
    textOf,
    element: getElementById,
    /** What the page says of an uploaded file in the end. */
    upload: async (text: string): Promise<unknown> => {
      Object.assign(getElementById('upload-file'), { files: [new Blob([text])] });
      listeners['submit']!({ target: { id: 'upload', dataset: { base: '/fhir' } }, preventDefault: () => {} });
      await expect.poll(() => textOf('upload-state')).toMatch(/are stored|cannot be read|Stopped/);
      return textOf('upload-state');
    },
    shown: () => listeners['kiln-shown']!({}),
    submit: (form: object) => listeners['submit']!({ target: form, preventDefault: () => {} }),
    click: (edit: string) => listeners['click']!({ target: { closest: () => ({ dataset: { edit } }) } }),
  };
}

const stores = ({ body = '' }: Sent): Response => {
  const { entry } = JSON.parse(body) as { entry: unknown[] };
  return Response.json({ entry: entry.map(() => ({ response: { status: '201 Created' } })) });
};

const VALUE = '{ "value" : 1.50, "unit":"a \\"}],[{ \\\\", "code" : "\\u00e9" }';
const OBSERVATION = `{"resourceType":"Observation", "id":"o1", "note":[{"text":"x, y"}], "valueQuantity":${VALUE}}`;

it.each(['transaction', 'batch'])('a %s is uploaded with its entries as they are', async (type) => {
  const page = openPage(stores);
  const entries = [`{"request":{"method":"PUT","url":"Observation/o1"},"resource":${OBSERVATION}}`, '{ "x" : 1.0 }'];
  const text = `\n{"resourceType":"Bundle","total":1,"entry" : [\n${entries.join(' ,\n')} ], "type":"${type}"}\n`;
  expect(await page.upload(text)).toBe('2 resources are stored.');
  const [{ body = '' }] = page.sent as [Sent];
  expect(JSON.parse(body)).toEqual({ ...(JSON.parse(text) as object), total: undefined });
  for (const entry of entries) expect(body).toContain(entry);
});

it('resources of another Bundle and of NDJSON are uploaded as they are', async () => {
  const other = '{"resourceType":"Basic","extension":[]}';
  const files = [
    `{"type":"collection","entry":[{"search":{},"\\u0072esource":${OBSERVATION}},{"resource":${other}}],"resourceType":"Bundle"}`,
    `${OBSERVATION}\n\n${other}\n`,
  ];
  for (const file of files) {
    const page = openPage(stores);
    expect(await page.upload(file)).toBe('2 resources are stored.');
    const [{ body = '' }] = page.sent as [Sent];
    expect(body).toContain(`"resource":${OBSERVATION}`);
    expect(JSON.parse(body)).toEqual({
      ...{ resourceType: 'Bundle', type: 'batch' },
      entry: [
        { request: { method: 'PUT', url: 'Observation/o1' }, resource: JSON.parse(OBSERVATION) as unknown },
        { request: { method: 'POST', url: 'Basic' }, resource: JSON.parse(other) as unknown },
      ],
    });
  }
});

it('long texts are no obstacle, and no entry is none', async () => {
  const page = openPage(stores);
  const data = `${'x'.repeat(20_000_000)}\\"`;
  const bundle = (entry: string) => `{"resourceType":"Bundle","type":"collection"${entry}}`;
  expect(await page.upload(bundle(`,"entry":[{"resource":{"resourceType":"Binary","data":"${data}"}}]`))).toBe(
    '1 resources are stored.',
  );
  for (const entry of ['', ',"entry":[]', ',"entry":[ ]']) {
    page.element('upload-state')['textContent'] = '';
    expect(await page.upload(bundle(entry))).toBe('0 resources are stored.');
  }
});

const HISTORY = `{
  "resourceType": "Bundle", "type": "history",
  "entry": [
    { "resource": ${OBSERVATION}, "request": { "method": "PUT", "url": "Observation/o1" } },
    { "request": { "method": "DELETE", "url": "Observation/o1" } }
  ]
}`;

it.each([
  [HISTORY, 'entry 2 of the Bundle has no resource; its request is DELETE Observation/o1'],
  ['{"resourceType":"Bundle",\n"entry":[{"fullUrl":"urn:x"}]}', 'entry 1 of the Bundle has no resource'],
  ['{"resourceType":"Bundle","entry":[{"resource":{"id":"1"}}]}', 'the resource of entry 1 has no resourceType'],
  ['{"resourceType":"Bundle","entry":{"resource":{}}}', 'entry of the Bundle is no list'],
  ['{"resourceType":"Basic"}\n\n{"id":"1"}\n', 'line 3 has no resourceType'],
  ['{"resourceType":"Basic"}\n\n{"id":1', 'line 3: Expected'],
  ['[]', 'the file has no resourceType'],
  ['null', 'the file has no resourceType'],
  ['{\n"resourceType": "Basic"\n"id": "1"\n}', 'after property value in JSON at position 26'],
])('what is wrong with a file is named: %s', async (file, message) => {
  const page = openPage(stores);
  const said = await page.upload(file);
  expect(said).toContain('The file cannot be read: ');
  expect(said).toContain(message);
  expect(page.sent).toEqual([]);
});

it.each([
  ['the server refuses to show it', () => Promise.resolve(Response.json({}, { status: 403 }))],
  ['it is still being loaded', () => new Promise<Response>(() => {})],
])('nothing is replaced or deleted while %s', async (_case, answer) => {
  const page = openPage(answer as unknown as () => Response);
  const dataset = { base: '/fhir', type: 'Patient', id: 'ada', source: '/fhir/Patient/ada' };
  const form = page.element('edit');
  Object.assign(form, { id: 'edit', dataset });
  page.shown();
  await expect.poll(() => page.textOf('edit-state')).toMatch(/loading|403/);
  page.element('edit-text')['value'] = '{"resourceType":"Patient","id":"ada"}';
  for (const act of [() => page.submit(form), () => page.click('delete')]) {
    page.element('edit-state')['textContent'] = '';
    act();
    await expect.poll(() => page.textOf('edit-state')).toContain('Nothing was sent');
  }
  expect(page.sent.map(({ method }) => method)).toEqual(['GET']);
});

it('what was read is replaced and deleted with its version', async () => {
  const page = openPage(({ method }) =>
    method === 'GET'
      ? new Response('{}', { headers: { ETag: 'W/"3"' } })
      : Response.json({ issue: [] }, { status: 200 }),
  );
  const dataset = { base: '/fhir', type: 'Patient', id: 'ada', source: '/fhir/Patient/ada' };
  const form = page.element('edit');
  Object.assign(form, { id: 'edit', dataset });
  page.shown();
  await expect.poll(() => page.element('edit-text')['value']).toBe('{}');
  page.submit(form);
  await expect.poll(() => page.sent.at(-1)?.method).toBe('PUT');
  page.click('delete');
  await expect
    .poll(() => page.sent.map(({ method, headers }) => `${method} ${headers['If-Match'] ?? ''}`))
    .toEqual([...['GET ', 'POST ', 'PUT W/"3"', 'DELETE W/"3"']]);
});
