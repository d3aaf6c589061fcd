import { Unmet, type Answer, type MutableJson, type Probe } from './probe.js';

/** Context of a check: the server, and the data that the check creates there. */
export interface CheckContext {
  readonly probe: Probe;
  /** Returns a resource that the server should take, with a patient where the statement searches the type by patient. */
  data(type: string): Promise<MutableJson>;
  /** Returns the criterion of the patient of a resource, `patient=Patient/1&`; empty where there is none. */
  narrowing(resource: MutableJson): string;
}

/** Checks one thing. @throws Unmet where it does not work */
export type Check = (context: CheckContext, type: string) => Promise<void>;

/** Checks of interactions with a type. https://hl7.org/fhir/R5/valueset-type-restful-interaction.html */
export const TYPE_INTERACTIONS: Readonly<Record<string, Check>> = {
  async create(context, type) {
    await make(context, type);
  },
  async read(context, type) {
    const { id } = await make(context, type);
    await expectResource(context, `${type}/${id}`, id);
  },
  async vread(context, type) {
    const { id, version } = await make(context, type);
    await expectResource(context, `${type}/${id}/_history/${version}`, id);
  },
  async update(context, type) {
    const { id } = await make(context, type);
    const body = { ...(await context.data(type)), id, language: 'de' };
    await expect(context.probe.ask('PUT', `${type}/${id}`, { body }), 200);
    await expectLanguage(context, `${type}/${id}`);
  },
  async patch(context, type) {
    const { id } = await make(context, type);
    const body = [{ op: 'add', path: '/language', value: 'de' }];
    const headers = { 'content-type': 'application/json-patch+json' };
    await expect(context.probe.ask('PATCH', `${type}/${id}`, { body, headers }), 200);
    await expectLanguage(context, `${type}/${id}`);
  },
  async delete(context, type) {
    const { id } = await make(context, type);
    await expect(context.probe.ask('DELETE', `${type}/${id}`), 200, 202, 204);
    await expect(context.probe.ask('GET', `${type}/${id}`), 404, 410);
  },
  async 'history-instance'(context, type) {
    const { id } = await make(context, type);
    expectBundle(await expect(context.probe.ask('GET', `${type}/${id}/_history`), 200), 'history', id);
  },
  async 'history-type'(context, type) {
    const { id } = await make(context, type);
    expectBundle(await expect(context.probe.ask('GET', `${type}/_history?_count=100`), 200), 'history', id);
  },
  async 'search-type'(context, type) {
    const { id, body } = await make(context, type);
    expectBundle(
      await expect(context.probe.ask('GET', `${type}?${context.narrowing(body)}_id=${id}`), 200),
      'searchset',
      id,
    );
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const posted = context.probe.ask('POST', `${type}/_search?${context.narrowing(body)}_id=${id}`, { headers });
    expectBundle(await expect(posted, 200), 'searchset', id);
  },
};

/** Checks of interactions with the whole server; the type is one of which it takes resources. */
export const SYSTEM_INTERACTIONS: Readonly<Record<string, Check>> = {
  async transaction(context, type) {
    const resource = await context.data(type);
    const entry = { resource, request: { method: 'POST', url: type } };
    const answer = await expect(bundle(context, 'transaction', [entry]), 200);
    const [id] = keepEntries(context, answer);
    if (id === undefined) throw new Unmet('the answer names nothing that was created');
    await expect(context.probe.ask('GET', `${type}/${id}`), 200);
    // All or nothing: what cannot be read takes the create beside it along.
    const word = context.probe.word();
    const put = { resource: { ...resource, id: word }, request: { method: 'PUT', url: `${type}/${word}` } };
    const refused = await bundle(context, 'transaction', [
      put,
      { request: { method: 'GET', url: `${type}/${word}x` } },
    ]);
    if (refused.status < 400) throw new Unmet(`a transaction with an entry that fails is answered ${refused.summary}`);
    await expect(context.probe.ask('GET', `${type}/${word}`), 404, 410);
  },
  async batch(context, type) {
    const entry = { resource: await context.data(type), request: { method: 'POST', url: type } };
    const failing = { request: { method: 'GET', url: `${type}/${context.probe.word()}` } };
    const answer = await expect(bundle(context, 'batch', [entry, failing]), 200);
    if (keepEntries(context, answer).length !== 1) throw new Unmet('an entry that fails hinders the other');
  },
  async 'search-system'(context, type) {
    const { id } = await make(context, type);
    expectBundle(await expect(context.probe.ask('GET', `?_type=${type}&_id=${id}`), 200), 'searchset', id);
  },
  async 'history-system'(context, type) {
    const { id } = await make(context, type);
    expectBundle(await expect(context.probe.ask('GET', '_history?_count=100'), 200), 'history', id);
  },
};

/** Checks of how a type is versioned, and of what is done by criteria. https://hl7.org/fhir/R5/capabilitystatement.html */
export const CONDITIONS: Readonly<Record<string, Check>> = {
  'versioning versioned': expectVersion,
  async 'versioning versioned-update'(context, type) {
    await expectVersion(context, type);
    const { id } = await make(context, type);
    const body = { ...(await context.data(type)), id };
    const headers = { 'if-match': 'W/"no-such-version"' };
    await expect(context.probe.ask('PUT', `${type}/${id}`, { body, headers }), 400, 409, 412);
  },
  async readHistory(context, type) {
    const { id, version } = await make(context, type);
    await expect(context.probe.ask('DELETE', `${type}/${id}`), 200, 202, 204);
    await expectResource(context, `${type}/${id}/_history/${version}`, id);
  },
  async updateCreate(context, type) {
    const id = context.probe.word();
    const body = { ...(await context.data(type)), id };
    await expect(context.probe.ask('PUT', `${type}/${id}`, { body }), 201);
    context.probe.keep(type, id);
  },
  async conditionalCreate(context, type) {
    const { id } = await make(context, type);
    const headers = { 'if-none-exist': `_id=${id}` };
    await expect(context.probe.ask('POST', type, { headers, body: await context.data(type) }), 200);
  },
  async conditionalUpdate(context, type) {
    const { id } = await make(context, type);
    const body = { ...(await context.data(type)), id, language: 'de' };
    await expect(context.probe.ask('PUT', `${type}?_id=${id}`, { body }), 200);
    await expectLanguage(context, `${type}/${id}`);
  },
  async conditionalPatch(context, type) {
    const { id } = await make(context, type);
    const body = [{ op: 'add', path: '/language', value: 'de' }];
    const headers = { 'content-type': 'application/json-patch+json' };
    await expect(context.probe.ask('PATCH', `${type}?_id=${id}`, { body, headers }), 200);
  },
  'conditionalDelete single': deletesOne,
  async 'conditionalDelete multiple'(context, type) {
    const made = [await make(context, type), await make(context, type)];
    const ids = made.map(({ id }) => id).join(',');
    await expect(context.probe.ask('DELETE', `${type}?_id=${ids}`), 200, 202, 204);
    for (const { id } of made) await expect(context.probe.ask('GET', `${type}/${id}`), 404, 410);
  },
  'conditionalRead modified-since': readsIfModified,
  'conditionalRead not-match': readsIfChanged,
  async 'conditionalRead full-support'(context, type) {
    await readsIfModified(context, type);
    await readsIfChanged(context, type);
  },
};

async function deletesOne(context: CheckContext, type: string): Promise<void> {
  const { id } = await make(context, type);
  await expect(context.probe.ask('DELETE', `${type}?_id=${id}`), 200, 202, 204);
  await expect(context.probe.ask('GET', `${type}/${id}`), 404, 410);
}

async function expectVersion(context: CheckContext, type: string): Promise<void> {
  const { id } = await make(context, type);
  const { body, headers } = await expect(context.probe.ask('GET', `${type}/${id}`), 200);
  const version = (body?.['meta'] as MutableJson | undefined)?.['versionId'];
  if (version === undefined) throw new Unmet('meta.versionId is absent');
  if (headers.get('etag') !== `W/"${String(version)}"`) throw new Unmet('the ETag is not the version');
}

async function readsIfModified(context: CheckContext, type: string): Promise<void> {
  const { id } = await make(context, type);
  const modified = (await expect(context.probe.ask('GET', `${type}/${id}`), 200)).headers.get('last-modified');
  if (modified === null) throw new Unmet('Last-Modified is absent');
  await expect(context.probe.ask('GET', `${type}/${id}`, { headers: { 'if-modified-since': modified } }), 304);
}

async function readsIfChanged(context: CheckContext, type: string): Promise<void> {
  const { id } = await make(context, type);
  const etag = (await expect(context.probe.ask('GET', `${type}/${id}`), 200)).headers.get('etag');
  if (etag === null) throw new Unmet('the ETag is absent');
  await expect(context.probe.ask('GET', `${type}/${id}`, { headers: { 'if-none-match': etag } }), 304);
}

async function make(context: CheckContext, type: string) {
  return context.probe.create(await context.data(type));
}

/** Returns an answer that has one of some statuses. @throws Unmet where it has another */
export async function expect(asked: Promise<Answer>, ...statuses: readonly number[]): Promise<Answer> {
  const answer = await asked;
  if (statuses.includes(answer.status)) return answer;
  throw new Unmet(`the answer is ${answer.summary}, and should be ${statuses.join(' or ')}`);
}

/** Expects a Bundle of a kind that has a resource in it. @throws Unmet */
export function expectBundle({ body }: Answer, type: string, id: string): void {
  if (body?.['type'] !== type) throw new Unmet(`the answer is no Bundle of type ${type}`);
  if (!idsOf(body).includes(id)) throw new Unmet('the answer lacks the resource that was created');
}

/** Returns the ids of the resources in a Bundle. */
export function idsOf(bundle: MutableJson | undefined): readonly string[] {
  return entriesOf(bundle).flatMap(({ resource }) => {
    const id = (resource as MutableJson | undefined)?.['id'];
    return typeof id === 'string' ? [id] : [];
  });
}

function entriesOf(bundle: MutableJson | undefined): readonly MutableJson[] {
  return Array.isArray(bundle?.['entry']) ? (bundle['entry'] as MutableJson[]) : [];
}

async function expectResource({ probe }: CheckContext, path: string, id: string): Promise<void> {
  const { body } = await expect(probe.ask('GET', path), 200);
  if (body?.['id'] !== id) throw new Unmet('the answer is another resource');
}

async function expectLanguage({ probe }: CheckContext, path: string): Promise<void> {
  const { body } = await expect(probe.ask('GET', path), 200);
  if (body?.['language'] !== 'de') throw new Unmet('the change is not there afterwards');
}

function bundle({ probe }: CheckContext, type: string, entry: readonly object[]): Promise<Answer> {
  return probe.ask('POST', '', { body: { resourceType: 'Bundle', type, entry } });
}

/** Has what a Bundle created removed at the end. @returns the ids */
function keepEntries({ probe }: CheckContext, { body }: Answer): readonly string[] {
  return entriesOf(body).flatMap(({ response }) => {
    const location = String((response as MutableJson | undefined)?.['location'] ?? '');
    const [, type, id] = /(?:^|\/)([A-Z]\w+)\/([A-Za-z0-9.-]{1,64})(?:\/_history\/.*)?$/.exec(location) ?? [];
    if (type === undefined || id === undefined) return [];
    probe.keep(type, id);
    return [id];
  });
}
