import { describe, expect, it } from 'vitest';

import type { Store } from '../../../../runtime/store/store.js';
import { scopedServer } from '../../auth/scoped.js';
import { batch, transaction } from '../../bundles/bundle-server.js';
import type { Answer } from '../../server.js';
import { expectRefusal, word } from '../../write-server.js';
import { mergeParameters, replacementParameters, undoMergeParameters } from '../replacement-support.js';

const SYSTEM = 'http://labels.example';
const label = (code: string) => ({ system: SYSTEM, code });
const MRN = 'urn:test:amended';

/** What happens while a write is on its way to the store, once. */
type Meanwhile = (() => Promise<unknown>) | undefined;

/** `$meta-add` and `$meta-delete` beside writes that were decided on what was there before. */
export function amendedMeanwhile(base: Store): void {
  let beforeWrite: Meanwhile;
  let beforeAmend: Meanwhile;
  const once = async (meanwhile: Meanwhile): Promise<void> => void (await meanwhile?.());
  // As another process would be in between: what the store is asked to write was decided on what it said before.
  const store: Store = Object.assign(Object.create(base) as Store, {
    async write(...asked: Parameters<Store['write']>) {
      const now = beforeWrite;
      beforeWrite = undefined;
      await once(now);
      return base.write(...asked);
    },
    async amend(...asked: Parameters<Store['amend']>) {
      const now = beforeAmend;
      beforeAmend = undefined;
      await once(now);
      return base.amend(...asked);
    },
  });
  const server = scopedServer(store);
  const send = (method: string, path: string, body?: unknown, headers = {}) => server.all.send(method, path, body, headers); // prettier-ignore
  const amendment = (valueMeta: object) => ({ resourceType: 'Parameters', parameter: [{ name: 'meta', valueMeta }] });
  const done = (answer: Answer): Answer => {
    expect(answer.status, answer.text).toBeLessThan(300);
    return answer;
  };
  const add = async (path: string, code: string) => done(await send('POST', `${path}/$meta-add`, amendment({ security: [label(code)] }))); // prettier-ignore
  const remove = async (path: string, code: string) => done(await send('POST', `${path}/$meta-delete`, amendment({ security: [label(code)] }))); // prettier-ignore
  const patient = (id: string, more: object = {}) => ({
    ...{ resourceType: 'Patient', id, identifier: [{ system: MRN, value: id }], ...more },
  });
  const read = async (path: string) => done(await send('GET', path)).json();
  const labelsOf = async (path: string): Promise<string[]> => ((await read(path)).meta.security ?? []).map(({ code }: { code: string }) => code); // prettier-ignore
  const found = async (code: string, type = 'Patient'): Promise<string[]> =>
    ((await read(`/${type}?_security=${SYSTEM}|${code}`)).entry ?? []).map(
      ({ resource }: { resource: { id: string } }) => resource.id,
    );
  const put = async (body: { resourceType: string; id: string }) => done(await send('PUT', `/${body.resourceType}/${body.id}`, body)); // prettier-ignore

  const JSON_PATCH = { 'content-type': 'application/json-patch+json' };
  const GENDER = [{ op: 'add', path: '/gender', value: 'other' }];
  const male = (id: string) => patient(id, { gender: 'male' });
  /** Writes of `Patient/ID`, or of what is named so; there is another patient that none is about, `Patient/ID-o`. */
  const WRITES: Readonly<Record<string, (id: string) => Promise<Answer>>> = {
    PUT: (id) => send('PUT', `/Patient/${id}`, male(id)),
    'PUT with If-Match': (id) => send('PUT', `/Patient/${id}`, male(id), { 'if-match': 'W/"1"' }),
    PATCH: (id) => send('PATCH', `/Patient/${id}`, GENDER, JSON_PATCH),
    'conditional PUT': (id) => send('PUT', `/Patient?identifier=${MRN}|${id}`, male(id)),
    'conditional PATCH': (id) => send('PATCH', `/Patient?identifier=${MRN}|${id}`, GENDER, JSON_PATCH),
    transaction: (id) => {
      const other = { request: { method: 'PUT', url: `Patient/${id}-n` }, resource: patient(`${id}-n`) };
      return send('POST', '/', transaction({ request: { method: 'PUT', url: `Patient/${id}` }, resource: male(id) }, other)); // prettier-ignore
    },
    batch: (id) => send('POST', '/', batch({ request: { method: 'PUT', url: `Patient/${id}` }, resource: male(id) })),
    '$merge, of the target': (id) => send('POST', '/Patient/$merge', mergeParameters(`Patient/${id}-o`, `Patient/${id}`)), // prettier-ignore
    '$merge, of the source': (id) => send('POST', '/Patient/$merge', mergeParameters(`Patient/${id}`, `Patient/${id}-o`)), // prettier-ignore
  };

  describe.each(Object.entries(WRITES))('%s', (_name, write) => {
    it('a label that was added meanwhile stays', async () => {
      const id = word();
      for (const each of [patient(id), patient(`${id}-o`)]) await put(each);
      beforeWrite = () => add(`/Patient/${id}`, id);
      done(await write(id));
      const now = await read(`/Patient/${id}`);
      expect([now.meta.versionId, now.meta.security]).toEqual(['2', [label(id)]]);
      expect(await found(id)).toEqual([id]);
      expect(await labelsOf(`/Patient/${id}/_history/1`)).toEqual([id]);
    });

    it('a label that was removed meanwhile does not come back', async () => {
      const id = word();
      for (const each of [patient(id, { meta: { security: [label(id)] } }), patient(`${id}-o`)]) await put(each);
      beforeWrite = () => remove(`/Patient/${id}`, id);
      done(await write(id));
      const now = await read(`/Patient/${id}`);
      expect([now.meta.versionId, now.meta.security]).toEqual(['2', undefined]);
      expect(await found(id)).toEqual([]);
    });
  });

  it('replaced references: a label that was added to what refers stays', async () => {
    const id = word();
    for (const each of [patient(`${id}-a`), patient(`${id}-b`)]) await put(each);
    const subject = { reference: `Patient/${id}-a` };
    await put({ resourceType: 'Basic', id, code: { text: 'x' }, subject } as never);
    beforeWrite = () => add(`/Basic/${id}`, id);
    done(
      await send('POST', '/$svc.fhir.replace-references', replacementParameters(`Patient/${id}-a`, `Patient/${id}-b`)),
    );
    const now = await read(`/Basic/${id}`);
    expect([now.subject.reference, now.meta.security]).toEqual([`Patient/${id}-b`, [label(id)]]);
  });

  it('the undo of a merge is refused where a label was added since: it would be lost', async () => {
    const id = word();
    for (const each of [patient(`${id}-a`), patient(`${id}-b`)]) await put(each);
    const [source, target] = [`Patient/${id}-a`, `Patient/${id}-b`];
    done(await send('POST', '/Patient/$merge', mergeParameters(source, target)));
    await add(`/${target}`, id);
    const undone = await send('POST', '/Patient/$svc.fhir.undo-merge', undoMergeParameters(source, target));
    expectRefusal(undone, 409, 'version-conflict', target, 'labels');
    expect(await labelsOf(`/${target}`)).toEqual([id]);
    await remove(`/${target}`, id);
    done(await send('POST', '/Patient/$svc.fhir.undo-merge', undoMergeParameters(source, target)));
  });

  it('a conditional delete by a label that was removed meanwhile deletes nothing', async () => {
    const id = word();
    await put(patient(id, { meta: { security: [label(id)] } }));
    beforeWrite = () => remove(`/Patient/${id}`, id);
    await send('DELETE', `/Patient?_security=${SYSTEM}|${id}`);
    expect((await read(`/Patient/${id}`)).meta.versionId).toBe('1');
  });

  it.each([
    ['PUT', (id: string) => male(id)],
    ['DELETE', () => undefined],
  ])('%s by whom a label hides the resource meanwhile: not found, and nothing is changed', async (method, bodyOf) => {
    const id = word();
    await put(patient(id, { meta: { security: [label('open')] } }));
    const within = server.as(`system/Patient.cruds?_security=${SYSTEM}|open`);
    beforeWrite = () => remove(`/Patient/${id}`, 'open');
    const answer = await within.send(method, `/Patient/${id}`, bodyOf(id));
    expect(answer.status, answer.text).toBeGreaterThanOrEqual(400);
    expect(await read(`/Patient/${id}`)).toMatchObject({ meta: { versionId: '1' } });
    expect(await labelsOf(`/Patient/${id}`)).toEqual([]);
  });

  it('another version comes meanwhile: the label goes to that, or to the version that the URL names', async () => {
    const id = word();
    await put(patient(id));
    beforeAmend = () => put(male(id));
    await add(`/Patient/${id}`, 'a');
    expect([await labelsOf(`/Patient/${id}`), await labelsOf(`/Patient/${id}/_history/1`)]).toEqual([['a'], []]);
    beforeAmend = () => put(patient(id));
    await add(`/Patient/${id}/_history/2`, 'b');
    expect([await labelsOf(`/Patient/${id}`), await labelsOf(`/Patient/${id}/_history/2`)]).toEqual([['a'], ['a', 'b']]); // prettier-ignore
  });

  it('a client that has the version from before gets it again, as it has the same number and time', async () => {
    const id = word();
    const { etag = '', 'last-modified': modified = '' } = (await put(patient(id))).headers;
    const path = `/Patient/${id}`;
    const unmodified = async (at = path) => [
      (await send('GET', at, undefined, { 'if-none-match': etag })).status,
      (await send('GET', at, undefined, { 'if-modified-since': String(modified) })).status,
    ];
    expect(await unmodified()).toEqual([304, 304]);
    await add(path, 'a');
    expect(await unmodified()).toEqual([200, 200]);
    const again = await send('GET', path, undefined, { 'if-none-match': etag });
    expect([again.headers.etag, again.json().meta.security]).toEqual([etag, [label('a')]]);
    await put(male(id));
    expect(await unmodified(`${path}/_history/1`)).toEqual([200, 200]);
    await put(patient(id));
    const next = (await send('GET', `${path}/_history/2`)).headers;
    expect((await send('GET', `${path}/_history/2`, undefined, { 'if-none-match': String(next.etag) })).status).toBe(304); // prettier-ignore
    await add(`${path}/_history/2`, 'b');
    expect((await send('GET', `${path}/_history/2`, undefined, { 'if-none-match': String(next.etag) })).status).toBe(200); // prettier-ignore
  });

  it('leaves no defects', () => expect(server.defects).toEqual([]));
}
