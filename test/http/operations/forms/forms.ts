import { beforeAll, describe, expect, it } from 'vitest';

import { tables } from '../../../../generated/tables.js';
import { createFetchFile } from '../../../../runtime/assembly/fetch-file.js';
import type { OperationRow } from '../../../../runtime/contract/index.js';
import { WIRED_OPERATIONS } from '../../../../runtime/contract/wired.js';
import { readXml } from '../../../../runtime/format/xml/read-xml.js';
import { writeXml } from '../../../../runtime/format/xml/write-xml.js';
import { writeJson } from '../../../../runtime/format/write-json.js';
import type { JsonObject, Resource } from '../../../../runtime/fhir/resource.js';
import { readJson } from '../../../../runtime/format/read-json.js';
import { XML as XML_CODEC } from '../../../../runtime/server.js';
import type { Store } from '../../../../runtime/store/store.js';
import { ASYNC, jobsServer } from '../../jobs/jobs-server.js';
import { batch, entry } from '../../bundles/bundle-server.js';
import { codeOf, type Answer } from '../../server.js';
import { FORM_CALLS, JOBS, type FormCall } from './form-calls.js';
import { FORM_WORLD } from './form-world.js';

const XML = { accept: 'application/fhir+xml' };
const FROM_XML = { ...XML, 'content-type': 'application/fhir+xml' };

/** A value that no primitive of these types has. */
const WRONG: Readonly<Record<string, string>> = Object.fromEntries(
  ['boolean', 'integer', 'positiveInt', 'unsignedInt', 'decimal', 'instant', 'date', 'dateTime'].map((type) => [type, 'wrong!']), // prettier-ignore
);

/**
 * Every operation in every form: GET and POST, JSON and XML, alone and as an entry of a batch give the same; parameters that are unknown,
 * repeated or of another type are refused by name.
 */
export function forms(store: Store): void {
  const server = jobsServer(store, {
    allowsExpunge: true,
    publish: { types: ['Patient'], every: 3_600_000 },
    hasWebsocket: true,
    fetchFile: createFetchFile(['files.example']),
    codecs: { xml: XML_CODEC },
  });
  const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    server.all.send(method, path, body, headers);
  const isJob = ({ operation }: FormCall): boolean => JOBS.has(operation);
  const headersOf = (call: FormCall): Record<string, string> => (isJob(call) ? ASYNC : {});

  beforeAll(async () => {
    const other = { resourceType: 'Patient', id: 'other', active: false };
    for (const content of [...FORM_WORLD, other]) {
      const answer = await send('PUT', `/${content.resourceType}/${content.id}`, content);
      expect(answer.status, answer.text).toBe(201);
    }
    await send('PUT', '/Patient/good', { ...FORM_WORLD[0], gender: 'male' });
  });

  it('all operations are here, at each of their levels', () => {
    const missing = WIRED_OPERATIONS.filter((id) => !FORM_CALLS.some(({ operation }) => operation === id));
    expect(missing).toEqual([]);
  });

  // Those that are only asked by GET have a suite of their own.
  const posted = FORM_CALLS.filter((call) => rowOf(call).methods.includes('POST'));
  describe.each(posted.map((call) => [`$${call.operation} at ${call.at || '/'}`, call] as const))('%s', (_, call) => {
    const done = call.done ?? 200;
    // A pass waits for the jobs that index.
    if (call.operation === 'perform-reindexing-pass') beforeAll(() => server.finish());

    it('POST and GET, JSON and XML give the same', async () => {
      const path = postPath(call);
      const posted = await send('POST', path, parametersOf(call), headersOf(call));
      expect(posted.status, posted.text).toBe(done);
      if (done !== 200) return;
      const wanted = plain(posted);
      const query = queryOf(call);
      const asked = [
        ...(call.isPlain === true ? [] : [await send('POST', path, parametersOf(call), XML), await send('POST', path, writeXml(parametersOf(call), tables), FROM_XML)]), // prettier-ignore
        ...(query === undefined ? [] : [await send('GET', `${pathOf(call)}${query}`)]),
        ...(query === undefined || call.isPlain === true ? [] : [await send('GET', `${pathOf(call)}${query}`, undefined, XML)]), // prettier-ignore
      ];
      for (const answer of asked) {
        expect(answer.status, answer.text).toBe(200);
        expect(plain(answer)).toEqual(wanted);
      }
    });

    it('as an entry of a batch', async () => {
      const path = postPath(call).slice(1);
      const query = queryOf(call);
      const entries = [
        entry('POST', path, parametersOf(call)),
        ...(query === undefined ? [] : [entry('GET', `${pathOf(call)}${query}`.slice(1))]),
      ];
      for (const headers of [{}, XML]) {
        const answer = await send('POST', '/', batch(...entries), headers);
        expect(answer.status, answer.text).toBe(200);
        const bundle = read(answer) as {
          entry: { resource?: JsonObject; response: { status: string; outcome?: JsonObject } }[];
        };
        expect(bundle.entry).toHaveLength(entries.length);
        const alone =
          done === 200 && call.isPlain !== true
            ? plain(await send('POST', postPath(call), parametersOf(call)))
            : undefined;
        for (const { resource, response } of bundle.entry) {
          if (isJob(call)) {
            // Some begin in a batch, others only alone.
            const status = Number.parseInt(response.status, 10);
            expect(status, JSON.stringify(response)).toBeLessThan(500);
            if (status >= 400) expect(response.outcome?.['resourceType']).toBe('OperationOutcome');
          } else {
            expect(Number.parseInt(response.status, 10), JSON.stringify(response)).toBe(done);
            if (alone !== undefined) expect(normal(writeJson(resource ?? null))).toEqual(alone);
          }
        }
      }
    });

    it('refuses parameters that are unknown, given too often, or of another type, by name', async () => {
      const row = rowOf(call);
      const { parameter } = parametersOf(call) as { parameter?: JsonObject[] };
      if (call.takesSearch !== true && call.body === undefined) {
        const unknown = { resourceType: 'Parameters', parameter: [...(parameter ?? []), { name: 'zzz', valueString: 'x' }] }; // prettier-ignore
        for (const answer of [
          await send('POST', postPath(call), unknown, headersOf(call)),
          await send(
            'POST',
            `${postPath(call)}${call.query === undefined ? '?' : '&'}zzz=x`,
            parametersOf(call),
            headersOf(call),
          ),
        ]) {
          expect(answer.status, answer.text).toBe(400);
          expect(answer.text).toContain('"code":"parameter-unknown"');
          expect(answer.text).toContain('zzz');
        }
      }
      for (const each of call.body === undefined ? (parameter ?? []) : []) {
        const own = row.parameters.find(({ name, use }) => name === each['name'] && use === 'in');
        if (own?.max !== 1) continue;
        const twice = { resourceType: 'Parameters', parameter: [...(parameter ?? []), each] };
        const answer = await send('POST', postPath(call), twice, headersOf(call));
        expect(answer.status, answer.text).toBe(400);
        expect(answer.text).toContain('"code":"parameter-invalid"');
        expect(answer.text).toContain(own.name);
      }
      const level = call.at === '' ? 'system' : call.at.split('/').length === 2 ? 'type' : 'instance';
      for (const { name, use, type = '', scope, parts } of row.parameters) {
        const isHere = use === 'in' && parts === undefined && (scope === undefined || scope.includes(level));
        if (!isHere || WRONG[type] === undefined) continue;
        const others = (parameter ?? []).filter((each) => each['name'] !== name);
        const key = `value${type.charAt(0).toUpperCase()}${type.slice(1)}`;
        const tries = [
          { name, valueHumanName: { family: 'x' } },
          { name, [key]: WRONG[type] },
        ];
        for (const wrong of call.body === undefined ? tries : []) {
          const answer = await send('POST', postPath(call), { resourceType: 'Parameters', parameter: [...others, wrong] }, headersOf(call)); // prettier-ignore
          expect(answer.status, `${name}: ${answer.text}`).toBe(400);
          if ('valueHumanName' in wrong) expect(answer.text).toContain(name);
        }
        if (!row.methods.includes('GET')) continue;
        const query = new URLSearchParams([[name, WRONG[type]!]]);
        const answer = await send('GET', `${pathOf(call)}?${query}`, undefined, headersOf(call));
        expect(answer.status, `${name}: ${answer.text}`).toBe(400);
        expect(answer.text).toContain(name);
      }
    });

    it('takes no other method', async () => {
      const { methods } = rowOf(call);
      const others = ['GET', 'PUT', 'DELETE', 'PATCH'].filter((each) => !(methods as readonly string[]).includes(each));
      for (const method of others) {
        const answer = await send(method, pathOf(call));
        // An export of tables by GET lacks the header as well: 400, as its guide has it.
        const code =
          method === 'GET' && call.operation === 'sql-export' ? [400, 'async-only'] : [405, 'method-not-allowed'];
        expect([answer.status, codeOf(answer)], `${method} ${answer.text}`).toEqual(code);
        expect(answer.headers.allow).toContain('POST');
      }
    });
  });

  it('leaves no defects', () => expect(server.defects).toEqual([]));
}

function rowOf({ operation }: FormCall): OperationRow {
  return tables.operations.find(({ id }) => id === operation)!;
}

/** The query that says the same; undefined: it has what only a body can have. */
export function queryOf(call: FormCall): string | undefined {
  const pairs = call.parameter.map((each) => [each['name'], valueOf(each)] as const);
  if (call.body !== undefined || !rowOf(call).methods.includes('GET')) return undefined;
  if (pairs.some(([, value]) => value === undefined)) return undefined;
  const query = new URLSearchParams([...new URLSearchParams(call.query), ...(pairs as [string, string][])]);
  return query.size === 0 ? '' : `?${query}`;
}

/** Path of a call. */
export function pathOf(call: FormCall): string {
  return `${call.at}/$${rowOf(call).name}`;
}

/** Path and query of a call by POST. */
export function postPath(call: FormCall): string {
  return `${pathOf(call)}${call.query === undefined ? '' : `?${call.query}`}`;
}

/** The body of a call by POST. */
export function parametersOf({ parameter, body }: FormCall): Resource {
  return (body ?? { resourceType: 'Parameters', ...(parameter.length > 0 && { parameter }) }) as Resource;
}

function valueOf(parameter: JsonObject): string | undefined {
  const [, value] = Object.entries(parameter).find(([name]) => name.startsWith('value')) ?? [];
  return value === undefined || typeof value === 'object' ? undefined : String(value);
}

/** A resource as JSON; what is none as its text. */
function read(answer: Answer): unknown {
  const type = String(answer.headers['content-type']);
  if (type.includes('xml')) return JSON.parse(writeJson(readXml(answer.bytes, tables)));
  return type.includes('fhir+json') ? answer.json() : answer.text;
}

/** The answer as JSON, but for what differs from call to call. */
export function plain(answer: Answer): unknown {
  return normal(JSON.stringify(read(answer)));
}

function normal(json: string): unknown {
  const text = json
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)/g, 'TIME')
    .replace(/127\.0\.0\.1:\d+/g, 'HOST')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'UUID');
  // Links to pages are other ones each time.
  const isPages = (key: string, value: unknown): boolean =>
    key === 'link' && Array.isArray(value) && (value[0] as JsonObject | undefined)?.['relation'] !== undefined;
  return JSON.parse(writeJson(readJson(text)), (key, value: unknown) => (isPages(key, value) ? undefined : value));
}
