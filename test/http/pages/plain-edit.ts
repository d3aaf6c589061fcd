import { expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import type { FailedCall } from '../../../runtime/core/call-audit.js';
import type { Reply } from '../../../runtime/core/call.js';
import type { FhirError } from '../../../runtime/fhir/errors.js';
import type { Store } from '../../../runtime/store/store.js';
import { createValidator } from '../../../runtime/validate/create-validator.js';
import { serveWith, tokenOf } from '../auth/support.js';
import { useBundleServer } from '../bundles/bundle-server.js';
import type { Answer, ToyServer } from '../server.js';

const FORM = { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' };

/** An audit that keeps who asked, whence, for what, and what came of it. */
function recording() {
  const events: string[] = [];
  const add = ({ principal, trace, type, interaction }: FailedCall, status: number): void =>
    void events.push([principal?.clientId, trace?.address, type, interaction, status].join(' '));
  return {
    ...{ events, address: '10.1.2.3' },
    answered: (call: FailedCall, reply: Reply) => add(call, reply.status),
    failed: (call: FailedCall, error: FhirError) => add(call, error.status),
  };
}

/** The pages that edit without a script, on any store. */
export function editPlainly(store: Store): void {
  const open = useBundleServer(store);
  const guarded = serveWith(store, { validate: createValidator(tables) });
  const { address, ...audited } = recording();
  const server = serveWith(store, {
    validate: createValidator(tables),
    audit: audited,
    clientAddress: () => address,
  });

  const post = (
    fields: Record<string, string>,
    headers: Record<string, string> = { 'sec-fetch-site': 'same-origin' },
    server: ToyServer = open,
  ): Promise<Answer> =>
    server.raw('POST', '/ui/edit/Patient', new URLSearchParams(fields).toString(), { ...FORM, ...headers });

  const patient = (more: object = {}) => JSON.stringify({ resourceType: 'Patient', ...more }, null, 2);
  const field = ({ text }: Answer, key: string): string | undefined =>
    new RegExp(`name="${key}" value="([^"]*)"`).exec(text)?.[1];

  it('records in the audit who sent a form, whence, and what was refused before a call was made of it', async () => {
    const headers = (scope?: string) => ({
      'sec-fetch-site': 'same-origin',
      ...(scope !== undefined && { authorization: `Bearer ${tokenOf(scope, 'ann')}` }),
    });
    const sent = async (fields: Record<string, string>, more = headers('system/Patient.cruds')) => {
      audited.events.length = 0;
      const { status } = await post(fields, more, server);
      return [status, ...audited.events];
    };
    const from = (client: string | undefined, interaction: string | undefined, status: number) =>
      [client, address, 'Patient', interaction, status].join(' ');
    expect(await sent({ do: 'save', text: patient() })).toEqual([303, from('ann', 'create', 201)]);
    expect(await sent({ do: 'save', text: patient() }, headers())).toEqual([401, from(undefined, undefined, 401)]);
    const foreign = { ...headers('system/Patient.cruds'), 'sec-fetch-site': 'cross-site' };
    expect(await sent({ do: 'save', text: patient() }, foreign)).toEqual([403, from(undefined, undefined, 403)]);
    expect(await sent({ do: 'save', text: '{ "resourceType": ' })).toEqual([400, from('ann', 'create', 400)]);
    expect(await sent({ do: 'check', text: '{' })).toEqual([400, from('ann', 'operation', 400)]);
    expect(await sent({ do: 'delete', version: '1' })).toEqual([400, from('ann', 'delete', 400)]);
    expect(await sent({ do: 'open', id: 'none' })).toEqual([404, from('ann', 'read', 404)]);
    expect(await sent({ do: 'save', text: patient() }, headers('system/Patient.rs'))).toEqual([403, from('ann', 'create', 403)]); // prettier-ignore
    const long = await post({ do: 'save', text: 'x'.repeat(1024 * 1024) }, headers('system/Patient.cruds'), server);
    expect([long.status, long.text]).toEqual([413, expect.stringContaining('a longer resource needs the script of the page, or PUT')]); // prettier-ignore
    expect(audited.events.at(-1)).toBe(from('ann', undefined, 413));
  });

  it('is refused where it names no resource', async () => {
    for (const action of ['open', 'copy', 'ask', 'delete']) {
      expect((await post({ do: action, version: '1' })).status, action).toBe(400);
    }
  });

  it('stays small, however many faults a long line has', async () => {
    const contact = Array.from({ length: 3000 }, () => ({ gender: 'x' }));
    const text = JSON.stringify({ resourceType: 'Patient', contact });
    for (const action of ['check', 'save']) {
      const answer = await post({ do: action, text }, undefined, guarded);
      expect(answer.text.length, action).toBeLessThan(200_000);
    }
  });

  it('creates, opens, saves with the version that was read, and deletes after a question', async () => {
    const made = await post({ do: 'save', text: patient({ gender: 'female' }) });
    expect(made.status, made.text).toBe(303);
    expect(made.headers.location).toMatch(/^\/fhir\/Patient\/[^/]+$/);
    const id = made.headers.location!.split('/').at(-1)!;
    const opened = await post({ do: 'open', id });
    expect([opened.status, field(opened, 'version')]).toEqual([200, '1']);
    expect(opened.text).toContain('&quot;gender&quot;: &quot;female&quot;');
    expect(opened.headers['cache-control']).toBe('no-store');
    const saved = await post({
      id,
      version: '1',
      do: 'save',
      text: patient({ id, active: true }).replaceAll('\n', '\r\n'),
    });
    expect([saved.status, saved.headers.location]).toEqual([303, `/fhir/Patient/${id}`]);
    expect((await open.send('GET', `/Patient/${id}`)).json()).toMatchObject({
      active: true,
      meta: { versionId: '2' },
    });
    const copied = await post({ do: 'copy', id });
    expect(field(copied, 'id')).toBeUndefined();
    expect(copied.text).not.toContain('versionId');
    const asked = await post({ id, version: '2', do: 'ask' });
    expect(asked.text).toContain('Delete it');
    expect((await open.send('GET', `/Patient/${id}`)).status).toBe(200);
    expect((await post({ id, version: '2', do: 'delete' })).headers.location).toBe(`/fhir/Patient/${id}/_history`);
    expect((await open.send('GET', `/Patient/${id}`)).status).toBe(410);
  });

  it('replaces nothing that was changed since, and says what is there now', async () => {
    await open.send('PUT', '/Patient/plain', { resourceType: 'Patient', id: 'plain' });
    await open.send('PUT', '/Patient/plain', { resourceType: 'Patient', id: 'plain', active: false });
    const mine = { id: 'plain', version: '1', text: patient({ id: 'plain', gender: 'male' }) };
    const late = await post({ ...mine, do: 'save' });
    expect([late.status, field(late, 'over')]).toEqual([412, '2']);
    expect(late.text).toContain('/fhir/$diff?from=Patient/plain/_history/1&amp;to=Patient/plain');
    expect((await post({ ...mine, do: 'delete' })).status).toBe(412);
    expect((await post({ id: 'plain', do: 'save', text: mine.text })).status).toBe(400);
    expect((await post({ id: 'plain', do: 'delete' })).status).toBe(400);
    expect((await open.send('GET', '/Patient/plain')).json()).toMatchObject({ active: false });
    expect((await post({ ...mine, over: '2' })).status).toBe(303);
    expect((await open.send('GET', '/Patient/plain')).json()).toMatchObject({ gender: 'male' });
  });

  it('shows each issue with its line, and keeps the text', async () => {
    const text = '{\n  "resourceType": "Patient",\n  "gander": "female"\n}';
    for (const [action, status] of [
      ['check', 200],
      ['save', 400],
    ] as const) {
      const answer = await post({ do: action, text });
      expect(answer.status, action).toBe(status);
      expect(answer.text, action).toContain('line 3');
      expect(answer.text, action).toContain('<code>3  &quot;gander&quot;: &quot;female&quot;</code>');
    }
    const none = await post({ do: 'save', text: '{\n  "resourceType": x\n}' });
    expect(none.status).toBe(400);
    expect(none.text).toContain('<code>2  &quot;resourceType&quot;: x</code>');
    expect((await post({ do: 'check', text: patient() })).text).toContain('Valid.');
  });

  it('takes forms of its own pages alone', async () => {
    const host = `127.0.0.1:${open.port}`;
    const fields = { do: 'save', text: patient({ id: 'foreign' }) };
    const statusOf = async (headers: Record<string, string>) => (await post(fields, headers)).status;
    expect(await statusOf({ 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' })).toBe(403);
    expect(await statusOf({ 'sec-fetch-site': 'same-site', origin: 'http://127.0.0.1:1' })).toBe(403);
    expect(await statusOf({ 'sec-fetch-site': 'none' })).toBe(403);
    expect(await statusOf({ origin: 'null' })).toBe(403);
    expect(await statusOf({ origin: 'http://127.0.0.1:1', host })).toBe(403);
    expect(await statusOf({})).toBe(403);
    expect((await open.raw('POST', '/ui/edit/Patient', 'do=open', { ...FORM, 'content-type': 'text/plain', 'sec-fetch-site': 'same-origin' })).status).toBe(415); // prettier-ignore
    expect(await statusOf({ origin: `http://${host}`, host })).toBe(303);
  });

  it('asks for a token where the server does, and is bounded by its scopes', async () => {
    await open.send('PUT', '/Patient/guarded', { resourceType: 'Patient', id: 'guarded' });
    const as = (scope: string | undefined, fields: Record<string, string>) =>
      post(
        { id: 'guarded', version: '1', text: patient({ id: 'guarded', active: true }), ...fields },
        {
          'sec-fetch-site': 'same-origin',
          ...(scope !== undefined && { authorization: `Bearer ${tokenOf(scope)}` }),
        },
        guarded,
      );
    expect((await as(undefined, { do: 'open' })).status).toBe(401);
    expect((await as('system/Observation.rs', { do: 'open' })).status).toBe(403);
    for (const action of ['save', 'delete']) expect((await as('system/Patient.rs', { do: action })).status).toBe(403);
    expect((await as('system/Patient.rs', { do: 'open' })).text).toContain('guarded');
    expect((await as('system/Patient.u', { do: 'save' })).status).toBe(303);
  });
}
