import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import type { AuditEvent, RestRecord } from '../../../runtime/audit/audit.js';
import { createPatientFinder } from '../../../runtime/audit/patients.js';
import { createRestEvents } from '../../../runtime/audit/rest-event.js';
import { appendWhole } from '../../../runtime/audit/sinks/append-whole.js';
import { compressFile } from '../../../runtime/audit/sinks/compress-file.js';
import { openFileTarget } from '../../../runtime/audit/sinks/file.js';
import { createLineSink, type LineTarget } from '../../../runtime/audit/sinks/lines.js';
import { tokenEvent } from '../../../runtime/audit/token-event.js';
import { createValidator } from '../../../runtime/validate/create-validator.js';

const BASE = 'https://kiln.example/fhir';
const TIME = Date.UTC(2026, 4, 1);
const validate = createValidator(tables);
const written = createRestEvents(() => BASE);
const restEvent = (told: RestRecord): AuditEvent => JSON.parse(written(told)) as AuditEvent;

const record: RestRecord = {
  client: { clientId: 'lab', tokenId: 'jti-1', address: '192.0.2.7' },
  time: TIME,
  requestId: 'r-1',
  interaction: 'read',
  type: 'Observation',
  id: 'o1',
  versionId: '3',
  status: 200,
  patients: ['ada'],
};

describe('audit events of FHIR requests (BALP, R5)', () => {
  it.each([
    ['read', 'R', '110152'],
    ['vread', 'R', '110152'],
    ['history-system', 'R', '110152'],
    ['search-type', 'E', '110153'],
    ['create', 'C', '110153'],
    ['update', 'U', '110153'],
    ['conditional-patch', 'U', '110153'],
    ['delete', 'D', '110150'],
    ['bundle', 'E', '110153'],
  ])('%s: action %s, the client is %s', (interaction, action, part) => {
    const event = restEvent({ ...record, interaction });
    expect(validate(event)).toEqual([]);
    expect(event).toMatchObject({
      action,
      recorded: '2026-05-01T00:00:00.000Z',
      patient: { reference: 'Patient/ada' },
      outcome: { code: { code: '0' } },
      agent: [
        {
          type: { coding: [{ code: part }] },
          who: { identifier: { value: 'lab' } },
          requestor: true,
          policy: ['urn:ietf:params:oauth:jti:jti-1'],
          networkString: '192.0.2.7',
        },
        { who: { identifier: { value: BASE } }, requestor: false },
      ],
      entity: [
        { what: { reference: 'Observation/o1/_history/3' }, role: { coding: [{ code: '4' }] } },
        { what: { reference: 'Patient/ada' }, role: { coding: [{ code: '1' }] } },
        { what: { identifier: { value: 'r-1' } } },
      ],
    });
  });

  it('a search tells its whole query', () => {
    const { id: _id, versionId: _version, ...search } = record;
    const event = restEvent({ ...search, interaction: 'search-type', query: 'GET Observation?code=ä' });
    expect(validate(event)).toEqual([]);
    const [, query] = event['entity'] as { query?: string }[];
    expect(Buffer.from(query?.query ?? '', 'base64').toString()).toBe('GET Observation?code=ä');
  });

  it('what is denied is a security alert, also where nobody knows what it was', () => {
    const client = { address: '::1' };
    const refused = { client, time: TIME, requestId: 'r', status: 401, failure: 'token-invalid', patients: [] };
    const denied = restEvent(refused);
    expect(validate(denied)).toEqual([]);
    expect(denied).toMatchObject({
      category: [{ coding: [{ code: '110113' }] }, {}],
      outcome: { code: { code: '4' }, detail: [{ text: 'token-invalid' }] },
      agent: [{ who: { display: 'unknown' } }, {}],
    });
  });
});

describe('an audit event as text', () => {
  it('is one line of JSON, whatever clients send', () => {
    const odd = 'a"b\\c\n\u2028ü';
    const told = restEvent({
      ...record,
      client: { clientId: odd, tokenId: odd, address: odd },
      requestId: odd,
      id: odd,
    });
    expect(written({ ...record, requestId: odd, id: odd })).not.toContain('\n');
    expect(told).toMatchObject({
      agent: [{ who: { identifier: { value: odd } }, networkString: odd }, {}],
      entity: [{ what: { reference: `Observation/${odd}/_history/3` } }, {}, { what: { identifier: { value: odd } } }],
    });
  });

  it('each has an id and a time of its own, and what others of its kind had is not in it', () => {
    const failed = { ...record, status: 404, failure: 'not-found', time: TIME + 1, patients: [] };
    const [first, second] = [restEvent(record), restEvent(failed)];
    expect(second['id']).not.toBe(first['id']);
    expect(second).toMatchObject({
      recorded: '2026-05-01T00:00:00.001Z',
      outcome: { detail: [{ text: 'not-found' }] },
    });
    expect(second['entity']).toHaveLength(2);
    expect(restEvent({ ...record, status: 403, failure: 'scope-missing' })['category']).toHaveLength(2);
    expect(restEvent(record)['category']).toHaveLength(1);
  });
});

describe('audit events of the token endpoint (BALP IHE.IUA.71)', () => {
  const event = {
    endpoint: 'token',
    outcome: 'success',
    time: TIME,
    address: '192.0.2.7',
    clientId: 'lab',
    isVerified: true,
    status: 200,
    request: 'grant_type=client_credentials',
    jti: 'jti-1',
  } as const;

  it('a token is told by its jti', () => {
    const told = tokenEvent(event, BASE);
    expect(validate(told!)).toEqual([]);
    expect(told).toMatchObject({
      code: { coding: [{ system: 'urn:ihe:event-type-code', code: 'ITI-71' }] },
      entity: [{ role: { coding: [{ code: '24' }] } }, { what: { identifier: { value: 'jti-1' } } }],
    });
  });

  it('a refusal is told with its reason', () => {
    const told = tokenEvent({ ...event, outcome: 'refused', status: 401, refusal: 'signature' } as never, BASE);
    expect(told).toMatchObject({ outcome: { code: { code: '4' }, detail: [{ text: 'signature' }] } });
  });

  it('of who is not known no more is told than a little, whatever is claimed', () => {
    const long = 'x'.repeat(4000);
    const claimed = { ...event, status: 401, refusal: 'unknown', isVerified: false, clientId: long, request: long };
    const told = JSON.stringify(tokenEvent({ ...claimed, outcome: 'refused' } as never, BASE));
    expect(told).not.toContain('x'.repeat(201));
    expect(told.length).toBeLessThan(2000);
    const known = tokenEvent({ ...claimed, isVerified: true } as never, BASE);
    expect(JSON.stringify(known).length).toBeGreaterThan(8000);
  });

  it('introspection, and what was turned away for too many failures, are not', () => {
    expect(tokenEvent({ ...event, endpoint: 'introspection' }, BASE)).toBeUndefined();
    expect(tokenEvent({ ...event, refusal: 'rate' }, BASE)).toBeUndefined();
  });
});

describe('the patients of a request', () => {
  const patients = createPatientFinder(tables);

  it('of an answer: each once, a hundred of them, and whether there are more', () => {
    const list = patients.begin();
    list.text('{"entry":[{"resource":{"resourceType":"Patient","id":"ada"}},{"resource":{"subject":{"reference":"Patient/bo"}}}]}'); // prettier-ignore
    list.tree({ parameter: [{ valueString: 'Patient/cy/_history/2' }, { resource: { resourceType: 'Patient', id: 'di' } }] }); // prettier-ignore
    list.about('Observation', 'o', '{"subject":{"reference":"Patient/bo"}}');
    for (const value of ['Patient/ada', 'Patient/', 'Group/g', 'a Patient/x', `Patient/${'y'.repeat(65)}`]) list.value(value); // prettier-ignore
    expect([list.ids, list.isCut]).toEqual([['ada', 'bo', 'di', 'cy'], false]);
    for (let n = 0; n < 96; n++) list.value(`Patient/${n}`);
    expect([list.ids.length, list.isCut]).toEqual([100, false]);
    list.about('Patient', 'one-more', undefined);
    expect([list.ids.length, list.isCut]).toEqual([100, true]);
    const event = restEvent({ ...record, patients: list.ids, hasMorePatients: list.isCut });
    expect(validate(event)).toEqual([]);
    expect(JSON.stringify(event)).toContain('more patients than are named');
  });

  it('of a text that ends within a long reference without going over it again and again', () => {
    const list = patients.begin();
    list.text(`"reference":"Patient/ada","reference":"${'Patient/a/_history/'.repeat(60_000)}"`);
    expect([list.ids, list.isCut]).toEqual([['ada'], true]);
  });

  it('of a large answer as many as are found in a part of it', () => {
    const list = patients.begin();
    list.text(`{"text":"${'x'.repeat(3_000_000)}","reference":"Patient/ada"}`);
    expect([list.ids, list.isCut]).toEqual([[], true]);
    const tree = patients.begin();
    tree.tree(Array.from({ length: 50_000 }, () => 'Patient/ada'));
    expect([tree.ids, tree.isCut]).toEqual([['ada'], true]);
  });

  it.each([
    ['Observation', 'o', '{"subject":{"display":"A","reference":"Patient/ada"}}', ['ada']],
    ['Observation', 'o', '{"subject":{"reference":"Group/g"},"performer":[{"reference":"Patient/bo"}]}', ['bo']],
    ['Observation', 'o', '{"subject":{"reference":"http://x/fhir/Patient/ada/_history/2"}}', ['ada']],
    ['Observation', 'o', '{"valueString":"\\"reference\\":\\"Patient/x\\"","note":[{"text":"Patient/y"}]}', []],
    ['Patient', 'ada', '{}', ['ada']],
    ['Organization', 'org', '{"contact":[]}', []],
    ['Observation', 'o', undefined, []],
  ] as const)('of %s/%s %s: %j', (type, id, json, found) => {
    expect(patients.ofResource(type, id, json)).toEqual(found);
  });

  it.each([
    ['Observation', 'patient=ada&code=x', ['ada']],
    ['Observation', 'subject=Patient/ada,Patient/bo', ['ada', 'bo']],
    ['Observation', 'subject:Patient=ada', ['ada']],
    ['Patient', '_id=ada', ['ada']],
    // An id within another resource.
    ['Patient', '_id=ada&_contained=true', []],
    ['Patient', '_id=ada&_contained=both', ['ada']],
    ['Observation', 'code=ada', []],
    ['Organization', 'name=ada', []],
  ] as const)('of a search of %s?%s: %j', (type, query, found) => {
    expect(patients.ofSearch(type, new URLSearchParams(query))).toEqual(found);
  });
});

describe('sinks', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'kiln-audit-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const event = (n: number): string => JSON.stringify({ resourceType: 'AuditEvent', id: String(n) });
  const idsIn = (file: string): string[] =>
    readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { id: string }).id);
  const never = {
    began: (error: unknown): void => {
      throw new Error('failed', { cause: error });
    },
    ended: (): void => {},
  };

  it('a file has one event a line, in their order, and is its owner’s alone', async () => {
    const file = join(folder, 'deep', 'audit.ndjson');
    const sink = createLineSink(await openFileTarget(file), never);
    for (let n = 0; n < 500; n++) {
      sink.take(event(n));
      if (n % 50 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await sink.close();
    expect(idsIn(file)).toEqual(Array.from({ length: 500 }, (_, n) => String(n)));
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('files are rotated, so many are kept, and two processes lose nothing', async () => {
    const file = join(folder, 'audit.ndjson');
    const rotation = { size: 500, kept: 500, days: 0 };
    const sinks = [
      createLineSink(await openFileTarget(file, rotation), never),
      createLineSink(await openFileTarget(file, rotation), never),
    ];
    for (let n = 0; n < 400; n++) {
      sinks[n % 2]!.take(event(n));
      if (n % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 12));
    }
    for (const sink of sinks) await sink.close();
    const files = readdirSync(folder);
    expect(files.length).toBeGreaterThan(3);
    const ids = files.flatMap((name) => idsIn(join(folder, name)));
    expect(ids.map(Number).sort((a, b) => a - b)).toEqual(Array.from({ length: 400 }, (_, n) => n));
  });

  it('files are compressed once nobody writes to them, readable by their owner alone, and lose nothing', async () => {
    const file = join(folder, 'audit.ndjson');
    const target = await openFileTarget(file, { size: 10, kept: 20, days: 0, idle: -1 });
    for (let n = 0; n < 6; n++) {
      await target.append(Buffer.from(`${event(n)}\n`));
      if (n > 0) await expect.poll(() => readdirSync(folder).filter((name) => name.endsWith('.gz'))).toHaveLength(n);
    }
    await target.close();
    const old = readdirSync(folder).filter((name) => name !== 'audit.ndjson').sort(); // prettier-ignore
    const texts = old.map((name) => gunzipSync(readFileSync(join(folder, name))).toString());
    expect(texts.join('')).toBe([0, 1, 2, 3, 4].map((n) => `${event(n)}\n`).join(''));
    for (const name of old) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  });

  it('a file that another process may still write to is not compressed', async () => {
    const file = join(folder, 'audit.ndjson');
    const target = await openFileTarget(file, { size: 10, kept: 20, days: 0 });
    for (let n = 0; n < 4; n++) await target.append(Buffer.from(`${event(n)}\n`));
    await target.close();
    expect(readdirSync(folder).filter((name) => name.endsWith('.gz'))).toEqual([]);
    expect(readdirSync(folder)).toHaveLength(4);
  });

  it('a file stays as it was where its compression is ended', async () => {
    const file = join(folder, 'audit.ndjson.old');
    writeFileSync(file, event(1));
    await expect(compressFile(file, AbortSignal.abort())).rejects.toThrow();
    expect(readdirSync(folder)).toEqual(['audit.ndjson.old']);
    expect(readFileSync(file, 'utf8')).toBe(event(1));
  });

  it('no more files than are to be kept', async () => {
    const file = join(folder, 'audit.ndjson');
    const target = await openFileTarget(file, { size: 10, kept: 2, days: 0 });
    for (let n = 0; n < 10; n++) await target.append(Buffer.from(`${event(n)}\n`));
    await target.close();
    expect(readdirSync(folder)).toHaveLength(3);
    expect(idsIn(file)).toEqual(['9']);
  });

  it('none that is younger than it is to be, however many there are and whoever rotates', async () => {
    const file = join(folder, 'audit.ndjson');
    const rotation = { size: 10, kept: 2, days: 30 };
    for (let n = 0; n < 5; n++) {
      // As after a restart.
      const target = await openFileTarget(file, rotation);
      for (let m = 0; m < 2; m++) await target.append(Buffer.from(`${event(2 * n + m)}\n`));
      await target.close();
    }
    const files = readdirSync(folder).sort();
    expect(files).toHaveLength(10);
    const [first, second] = files.filter((name) => name !== 'audit.ndjson').map((name) => join(folder, name));
    const [old, young] = [31, 29].map((days) => new Date(Date.now() - days * 24 * 3_600_000));
    utimesSync(first!, old!, old!);
    utimesSync(second!, young!, young!);
    const target = await openFileTarget(file, rotation);
    for (const n of [10, 11]) await target.append(Buffer.from(`${event(n)}\n`));
    await target.close();
    expect(readdirSync(folder)).not.toContain(basename(first!));
    expect(readdirSync(folder)).toHaveLength(11);
  });

  it('a failure is told once, and what could not be written is written later', async () => {
    const written: string[] = [];
    let attempts = 0;
    const target: LineTarget = {
      async append(lines) {
        if ((attempts += 1) < 3) throw new Error('no space');
        written.push(lines.toString());
      },
      close: () => Promise.resolve(),
    };
    const told: string[] = [];
    const sink = createLineSink(target, {
      began: (error) => told.push(String(error)),
      ended: (lost) => told.push(`${lost} lost`),
    });
    sink.take(event(1));
    await expect.poll(() => told).toEqual(['Error: no space']);
    sink.take(event(2));
    await expect.poll(() => told).toEqual(['Error: no space', '0 lost']);
    await sink.close();
    expect(written.join('')).toBe(`${event(1)}\n${event(2)}\n`);
  });

  it.each([
    ['is taken back', '', 'before\n', 'Error: no space'],
    ['stays where another has written after it', 'other\n', 'before\nli_other\n', 'CutLine: no space'],
  ])('what a full disk took of a line %s', async (_what, other, left, told) => {
    const file = join(folder, 'audit.ndjson');
    writeFileSync(file, 'before\n');
    const handle = await open(file, 'a+');
    let writes = 0;
    const write = async (bytes: Buffer): Promise<{ bytesWritten: number }> => {
      if ((writes += 1) === 1) return handle.write(bytes.subarray(0, 2));
      await handle.write(other.replace('other', '_other'));
      throw new Error('no space');
    };
    const full = Object.assign(Object.create(handle) as typeof handle, { write });
    const failure = await appendWhole(full, Buffer.from('line\n')).catch((error: unknown) => error);
    await handle.close();
    expect(`${(failure as Error).constructor.name}: ${(failure as Error).message}`).toBe(told);
    expect(readFileSync(file, 'utf8')).toBe(left);
  });

  it('lines of any length and of any characters are written whole', async () => {
    const lines = ['ü'.repeat(30_000), 'a', '\u{1F600}'.repeat(9000), '€'.repeat(100_000)];
    const file = join(folder, 'audit.ndjson');
    const sink = createLineSink(await openFileTarget(file), never);
    for (const line of lines) sink.take(line);
    await sink.close();
    expect(readFileSync(file, 'utf8')).toBe(`${lines.join('\n')}\n`);
  });

  it('what cannot be written waits as far as there is room, and what is lost is told', async () => {
    const written: string[] = [];
    const target: LineTarget = {
      append: (lines) => {
        if (written.length > 0) return Promise.reject(new Error('no space'));
        written.push(lines.toString());
        return Promise.resolve();
      },
      close: () => Promise.resolve(),
    };
    const told: unknown[] = [];
    const sink = createLineSink(target, { began: (error) => told.push(error), ended: (lost) => told.push(lost) });
    sink.take(event(0));
    await expect.poll(() => written).toEqual([`${event(0)}\n`]);
    for (let n = 1; n <= 10_001; n++) sink.take(event(n));
    expect(told).toEqual([undefined]);
    await sink.close();
    expect(told).toEqual([undefined, 10_001]);
  });
});
