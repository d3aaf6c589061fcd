import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import { readConfig } from '../../../runtime/config/read-config.js';
import { span } from '../../../runtime/observe/trace/spans.js';
import { SILENT } from '../../../runtime/observe/log.js';
import { startServer, type RunningServer } from '../../../runtime/start-server.js';
import { EVENTUALLY } from '../../eventually.js';
import { command, freePort, makeClientFolder } from '../auth.js';
import { subscription, topic, TOPIC_URL } from '../subscriptions/server.js';
import { startReceiver, type Receiver } from '../subscriptions/receiver.js';
import { registerRecorder, type RecordedSpan } from './recorder.js';

/** In each id, name, value, token and body of a request; the routes have no such letters. */
const CANARY = 'qzxcanary';

/** Requests of the random part. */
const REQUESTS = 2000;

/** All attributes that there may be. */
const ATTRIBUTES = [
  ...['http.request.method', 'http.route', 'kiln.status', 'kiln.type', 'kiln.interaction'],
  ...['db.operation.name', 'kiln.job', 'kiln.notification'],
];

const JSON_TYPE = 'application/fhir+json';

/** A generator of numbers that gives the same ones each time. */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Traces are made of what the server does, and of nothing that a client sends. */
export function spans(newStore: () => string | Promise<string>, isMongo: boolean): void {
  let recorder: ReturnType<typeof registerRecorder>;
  let server: RunningServer;
  let receiver: Receiver;
  let token: string;
  let made: readonly RecordedSpan[];

  beforeAll(async () => {
    recorder = registerRecorder();
    receiver = await startReceiver();
    const port = String(await freePort());
    const store = await newStore();
    const { key, jwks } = await makeClientFolder();
    const client = ['--id', 'lab', '--scope', 'system/*.cruds', '--jwks', jwks];
    expect(await command('client', 'add', ...client, '--store', store)).toMatchObject({ code: 0 });
    const common = { port, store, auth: 'smart', 'audit-sink': 'off' };
    const settings = { ...common, 'metrics-port': '0', 'subscriptions-allow': '127.0.0.1' };
    server = await startServer(readConfig(settings, {}).config, SILENT);
    const asked = await command('token', '--client', 'lab', '--key', key, '--port', port, '--store', store);
    expect(asked).toMatchObject({ code: 0 });
    token = asked.out;
  }, 120_000);
  afterAll(async () => {
    await server.close();
    await receiver.close();
    recorder.unregister();
  });

  const send = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${server.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': JSON_TYPE, ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return { status: answer.status, text: await answer.text() };
  };
  const since = async (run: () => Promise<unknown>): Promise<readonly RecordedSpan[]> => {
    const before = recorder.spans.length;
    await run();
    await vi.waitFor(() => expect(recorder.spans.slice(before).every(({ isEnded }) => isEnded)).toBe(true), EVENTUALLY);
    return recorder.spans.slice(before);
  };
  const patient = (id: string) => ({
    resourceType: 'Patient',
    id,
    name: [{ family: `${CANARY}-family` }],
    identifier: [{ system: `http://${CANARY}.example`, value: `${CANARY}-${id}` }],
  });

  it('has a span for a request, and children for authorization, validation, index and store', async () => {
    const found = await since(() => send('PUT', '/Patient/first', patient('first')));
    const request = found.find(({ kind }) => kind === 1)!;
    expect(request).toMatchObject({
      name: 'PUT [type]/[id]',
      parent: undefined,
      attributes: {
        'http.request.method': 'PUT',
        'http.route': '[type]/[id]',
        'kiln.interaction': 'update',
        'kiln.type': 'Patient',
        'kiln.status': '2xx',
      },
    });
    const within = found.filter(({ traceId }) => traceId === request.traceId);
    const names = within.map(({ name }) => name);
    for (const name of ['authorize', 'validate', 'index', 'store read', 'store write']) expect(names).toContain(name);
    expect(names.some((name) => name.startsWith('mongodb '))).toBe(isMongo);
    // Each has its parent in the trace.
    const ids = new Set(within.map(({ spanId }) => spanId));
    for (const { parent, name } of within) if (name !== request.name) expect(ids, name).toContain(parent);
  });

  it('goes on with the trace of the caller, where the propagator reads it', async () => {
    const [trace, parent] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'];
    const found = await since(() => send('GET', '/Patient/first', undefined, { traceparent: `00-${trace}-${parent}-01` })); // prettier-ignore
    expect(found.find(({ name }) => name === 'GET [type]/[id]')).toMatchObject({ traceId: trace, parent });
    const wrong = await since(() => send('GET', '/Patient/first', undefined, { traceparent: `00-${CANARY}` }));
    expect(wrong.find(({ name }) => name === 'GET [type]/[id]')).toMatchObject({ parent: undefined });
  });

  it('says that a request failed, and not why', async () => {
    const refused = await since(() => send('PUT', '/Patient/first', patient('other')));
    const request = refused.find(({ kind }) => kind === 1);
    expect(request).toMatchObject({ attributes: { 'kiln.status': '4xx' }, status: undefined });
    expect(JSON.stringify(refused)).not.toContain('first');
  });

  it('leaves out a type that the server has no definition of', async () => {
    const found = await since(() =>
      Promise.resolve(span('delivery', { notification: 'events', type: `${CANARY}Type` }, () => {})),
    );
    expect(found.map(({ attributes }) => attributes)).toEqual([{ 'kiln.notification': 'events' }]);
  });

  it('has spans for jobs and for notifications', async () => {
    made = await since(async () => {
      await send('PUT', '/SubscriptionTopic/patients', topic('patients', TOPIC_URL, { resource: 'Patient' }));
      const id = `${CANARY}-subscription`;
      const header = [{ name: `x-${CANARY}`, value: `${CANARY}-header` }];
      const endpoint = `${receiver.url}/${CANARY}`;
      const { status, text } = await send('PUT', `/Subscription/${id}`, subscription(id, endpoint, { parameter: header })); // prettier-ignore
      expect([status, text]).toEqual([201, expect.any(String)]);
      await vi.waitFor(() => expect(receiver.received.length).toBeGreaterThan(0), EVENTUALLY);
      await send('PUT', `/Patient/${CANARY}-told`, patient(`${CANARY}-told`));
      await vi.waitFor(() => expect(receiver.numbers(id).length).toBeGreaterThan(0), EVENTUALLY);
      const late = { prefer: 'respond-async' };
      expect((await send('GET', `/Patient?name=${CANARY}`, undefined, late)).status).toBe(202);
      const jobs = () => recorder.spans.filter(({ name }) => name.startsWith('job '));
      await vi.waitFor(() => expect(jobs().length).toBeGreaterThan(0), EVENTUALLY);
    });
    const kinds = new Map(made.map(({ name, attributes }) => [name, attributes]));
    expect(kinds.get('delivery handshake')).toEqual({ 'kiln.notification': 'handshake' });
    expect(kinds.get('delivery events')).toEqual({ 'kiln.notification': 'events' });
    expect([...kinds.keys()].filter((name) => name.startsWith('job '))).toEqual(['job request']);
  });

  describe(`after ${REQUESTS} random requests`, () => {
    const statuses = new Map<number, number>();
    beforeAll(async () => {
      const next = numbersFrom(Number(process.env['KILN_TEST_SEED'] ?? Date.now()));
      const pick = <T>(of: readonly T[]): T => of[Math.floor(next() * of.length)]!;
      const id = (): string => `${CANARY}-${Math.floor(next() * 200)}`;
      const type = (): string => pick(['Patient', 'Observation', 'Basic', `${CANARY}Type`]);
      const value = (): string => `${CANARY}${pick(['', '-x', '%20y', '%F0%9F%94%A5', '"', '|z'])}`;
      const resource = (): object => {
        const wanted = type();
        if (wanted === 'Patient') return patient(id());
        return { resourceType: wanted, id: id(), status: 'final', code: { text: value() }, [CANARY]: next() < 0.2 ? 1 : undefined }; // prettier-ignore
      };
      const bundle = (): object => ({
        resourceType: 'Bundle',
        type: pick(['batch', 'transaction']),
        entry: Array.from({ length: 3 }, () => {
          const given = patient(id());
          return { fullUrl: `urn:${CANARY}`, resource: given, request: { method: 'PUT', url: `Patient/${given.id}` } };
        }),
      });
      const requests: (() => ReturnType<typeof send>)[] = [
        () => send('PUT', `/${type()}/${id()}`, resource()),
        () => {
          const one = patient(id());
          return send('PUT', `/Patient/${one.id}`, one);
        },
        () => send('POST', `/${type()}`, resource()),
        () => send('POST', '/Patient', patient(id()), { 'if-none-exist': `identifier=${value()}` }),
        () => send('GET', `/${type()}/${id()}`),
        () => send('GET', `/${type()}/${id()}/_history/${pick(['1', CANARY])}`),
        () => send('GET', `/${type()}?${pick(['name', 'identifier', CANARY, '_id', '_sort', '_include'])}=${value()}`),
        () => send('POST', '/Patient/_search', `name=${value()}`, { 'content-type': 'application/x-www-form-urlencoded' }), // prettier-ignore
        () => send('GET', `/Patient/${id()}/$${pick(['everything', CANARY, 'meta'])}?_format=${value()}`),
        () => send('PATCH', `/Patient/${id()}`, [{ op: 'add', path: `/${CANARY}`, value: value() }], { 'content-type': 'application/json-patch+json' }), // prettier-ignore
        () => send('DELETE', `/Patient/${id()}?reason=${value()}`),
        () => send('POST', '', bundle()),
        () => send('POST', '/Patient/$validate', resource()),
        () => send('POST', '/$graphql', { query: `{PatientList(name:"${CANARY}"){id ${CANARY}:birthDate}}` }, { 'content-type': 'application/json' }), // prettier-ignore
        () => send('PUT', `/Patient/${id()}`, `{"${CANARY}`, { 'x-request-id': CANARY }),
        () => send('GET', `/Patient/${id()}`, undefined, { authorization: `Bearer ${CANARY}.${CANARY}.${CANARY}` }),
        () => send(pick(['PROPFIND', 'SEARCH', 'LOCK']), `/Patient/${id()}`),
        () => send('GET', `/ValueSet/$expand?url=${value()}&filter=${CANARY}`),
        () => send('GET', `/${CANARY}/${CANARY}/${CANARY}/${CANARY}`, undefined, { traceparent: CANARY, baggage: `${CANARY}=1` }), // prettier-ignore
      ];
      made = await since(async () => {
        for (let i = 0; i < REQUESTS; i += 4) {
          for (const { status } of await Promise.all(Array.from({ length: 4 }, () => pick(requests)())))
            statuses.set(status, (statuses.get(status) ?? 0) + 1);
        }
      });
    }, 300_000);

    it('no span has what a client sent', () => {
      expect(made.filter(({ kind }) => kind === 1).length).toBeGreaterThanOrEqual(REQUESTS);
      // Successes and refusals of many kinds were among them, and no failure.
      for (const status of [200, 201, 400, 401, 404]) expect([...statuses.keys()]).toContain(status);
      expect([...statuses.keys()].filter((status) => status >= 500 && status !== 501)).toEqual([]);
      const all = JSON.stringify(recorder.spans);
      expect(all).not.toContain(CANARY);
      for (const part of token.split('.')) expect(all).not.toContain(part);
    });

    it('attributes are a closed list, with few values', () => {
      const values = new Map<string, Set<unknown>>();
      for (const { attributes, others, status } of recorder.spans) {
        expect(others).toEqual([{}]);
        expect(status?.message).toBeUndefined();
        for (const [key, value] of Object.entries(attributes)) {
          if (!values.has(key)) values.set(key, new Set());
          values.get(key)!.add(value);
        }
      }
      expect(ATTRIBUTES).toEqual(expect.arrayContaining([...values.keys()]));
      for (const [key, found] of values) expect(found.size, key).toBeLessThan(25);
      expect(new Set(recorder.spans.map(({ name }) => name)).size).toBeLessThan(80);
    });

    it('metrics have a bounded number of series, and nothing that a client sent', async () => {
      const text = await (await fetch(server.metricsUrl!)).text();
      expect(text).not.toContain(CANARY);
      const series = text.split('\n').filter((line) => /^kiln_\w+_count\{/.test(line));
      expect(series.length).toBeGreaterThan(20);
      expect(series.length).toBeLessThan(150);
      expect(text.includes('kiln_mongodb_command_duration_seconds_count{command="find",outcome="ok"}')).toBe(isMongo);
    });
  });
}
