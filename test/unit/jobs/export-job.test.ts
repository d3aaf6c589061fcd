import { beforeEach, describe, expect, it } from 'vitest';

import { SERVER } from '../../../runtime/auth/scopes/principal.js';
import { fileKey, filesOf } from '../../../runtime/core/job-files/read-job-file.js';
import type { Job } from '../../../runtime/core/jobs.js';
import type { Services } from '../../../runtime/core/services.js';
import type { JsonObject, Resource } from '../../../runtime/fhir/resource.js';
import { createServing } from '../../../runtime/http/create-services.js';
import type { ChunkContext } from '../../../runtime/jobs/engine/job-kind.js';
import { createStepSize } from '../../../runtime/jobs/engine/step-size.js';
import type { ExportInput, ExportPart } from '../../../runtime/jobs/export/export-input.js';
import { openChunk } from '../../../runtime/jobs/export/checkpoint.js';
import { organize } from '../../../runtime/jobs/export/organize.js';
import { discardExport, exportChunk } from '../../../runtime/jobs/export/export-job.js';
import { toyExtract } from '../../toy/extract.js';
import { createToyStore, type ToyStore } from '../../toy/store.js';
import { toyTables } from '../../toy/tables.js';

const TYPE = 'Patient';

describe('an export', () => {
  let time: number;
  let store: ToyStore;
  let services: Services;
  let job: Job;

  beforeEach(() => {
    time = Date.UTC(2026, 0, 1);
    store = createToyStore(() => time++);
    services = createServing({ tables: toyTables, store, extract: toyExtract })().services;
  });

  async function put(id: string, text: string): Promise<void> {
    const expected = (await store.read(TYPE, id))?.version ?? 0;
    const content: Resource = { resourceType: TYPE, id, name: [{ family: text }] };
    const body = { head: `{"resourceType":"${TYPE}","id":"${id}","meta":{`, tail: `},"name":[{"family":"${text}"}]}` };
    await store.write([{ type: TYPE, id, expected, body, content, entries: toyExtract(content) }]);
  }

  async function remove(id: string): Promise<void> {
    const { version = 0 } = (await store.read(TYPE, id)) ?? {};
    await store.write([{ type: TYPE, id, expected: version }]);
  }

  function begin(more: Partial<ExportInput> = {}, part: Partial<ExportPart> = {}): void {
    const input = {
      ...{ transactionTime: time++, request: '', base: '', asked: '', isHistory: false },
      ...{ types: [TYPE], parts: [{ type: TYPE, ...part }], ...more },
    };
    job = {
      ...{ id: 'job', type: 'export', owner: { clientId: '' }, input: input as unknown as JsonObject },
      ...{ state: 'in-progress', created: 0, progress: { done: 0, unit: '' }, failures: 0, run: 1 },
    };
  }

  function context(): ChunkContext {
    return {
      ...{
        job,
        principal: SERVER,
        services,
        signal: new AbortController().signal,
        breathe: () => undefined,
        isBusy: () => false,
        stepSize: createStepSize(() => false),
        now: () => time,
      },
      ...{ sleep: () => Promise.resolve(), report: () => {} },
    };
  }

  /** Does one chunk. @param isLost its process dies before the checkpoint is saved */
  async function step(isLost = false): Promise<string> {
    const { checkpoint, result } = await exportChunk(context());
    if (isLost) job = { ...job, run: job.run + 1 };
    else job = { ...job, ...(checkpoint && { checkpoint }), ...(result && { result, state: 'completed' }) };
    return String(job.checkpoint?.['phase'] ?? 'settle');
  }

  async function finish(): Promise<void> {
    while (job.state !== 'completed') await step();
  }

  /** `id/version family` of what is in the files. */
  async function exported(isOfDeleted?: true): Promise<string[]> {
    const found: string[] = [];
    for (const file of filesOf(job).filter((each) => each.isOfDeleted === isOfDeleted)) {
      const lines = store.contents.get(fileKey(job, file.name))!.toString().trimEnd().split('\n');
      expect(lines).toHaveLength(file.count);
      for (const line of lines) {
        const read = JSON.parse(line) as {
          id: string;
          meta: { versionId: string };
          name: { family: string }[];
          entry?: { request: { url: string } }[];
        };
        if (read.entry !== undefined) found.push(...read.entry.map(({ request }) => request.url));
        else found.push(`${read.id}/${read.meta.versionId} ${read.name[0]!.family}`);
      }
    }
    return found.sort();
  }

  it('is organized by patients in sets that fit into memory; what does not goes on in the next file', async () => {
    for (let n = 0; n < 20; n++) await put(`p${n}`, 'x'.repeat(200));
    for (let n = 0; n < 9; n++) await put('long', `${n}`.repeat(200));
    begin({ organizedBy: 'Patient', patients: 'all', isHistory: true });
    while ((await step()) !== 'organize');
    let at = openChunk(context()).at;
    // Some 300 characters a version.
    for (; at.phase === 'organize'; at = await organize({ ...openChunk(context()), at }, 800));
    const blocks = new Map<string, number>();
    const places = new Map<string, number[]>();
    for (const [place, { name }] of at.files.entries()) {
      let patient = '';
      for (const line of store.contents.get(fileKey(job, name))!.toString().trimEnd().split('\n')) {
        const { id, parameter } = JSON.parse(line) as {
          id?: string;
          parameter?: [{ valueReference: { reference: string } }];
        };
        if (parameter !== undefined) {
          patient = parameter[0].valueReference.reference;
          places.set(patient, [...(places.get(patient) ?? []), place]);
        } else {
          expect(`Patient/${id}`).toBe(patient);
          blocks.set(patient, (blocks.get(patient) ?? 0) + 1);
        }
      }
    }
    expect(blocks.size).toBe(21);
    for (const [patient, count] of blocks) expect(count, patient).toBe(patient === 'Patient/long' ? 9 : 1);
    expect(at.files.length).toBeGreaterThan(5);
    // A file whose patients are in the next one, too, says so.
    for (const own of places.values()) {
      for (const place of own.slice(0, -1)) expect(at.files[place]).toMatchObject({ goesOn: true });
      expect(own).toEqual(own.map((_, i) => own[0]! + i));
    }
    expect(places.get('Patient/long')!.length).toBeGreaterThan(1);
    expect(at.files.at(-1)).not.toHaveProperty('goesOn');
  });

  it('holds each resource once, as it was at the transaction time, whenever others write', async () => {
    for (const id of ['a', 'b', 'c', 'd', 'e']) await put(id, 'old');
    await put('a', 'older than the start');
    begin();
    // Before the walk.
    await put('b', 'new');
    await remove('c');
    await put('f', 'new');
    expect(await step()).toBe('walk');
    while ((await step()) === 'walk');
    // After the walk, and again.
    await put('d', 'new');
    await put('d', 'newer');
    await remove('e');
    await put('c', 'back');
    await put('g', 'new');
    await finish();
    expect(await exported()).toEqual(['a/2 older than the start', 'b/1 old', 'c/1 old', 'd/1 old', 'e/1 old']);
  });

  it('does a chunk again whose process died, without a trace of the first time', async () => {
    for (const id of ['a', 'b']) await put(id, 'old');
    begin();
    await step();
    await step(true);
    await put('a', 'new');
    await finish();
    expect(await exported()).toEqual(['a/1 old', 'b/1 old']);
    expect([...store.contents.keys()].sort()).toEqual(filesOf(job).map(({ name }) => fileKey(job, name)));
  });

  it('asks filters of what was replaced since, too', async () => {
    for (const [id, text] of [
      ['a', 'de'],
      ['b', 'en'],
      ['c', 'de'],
    ] as const)
      await put(id, text);
    const filter = { param: 'family', any: [{ is: 'string-equals' as const, text: 'de' }] };
    begin({}, { filter });
    await put('a', 'en');
    await put('b', 'de');
    await finish();
    expect(await exported()).toEqual(['a/1 de', 'c/1 de']);
  });

  it('with _since lists what was deleted then, and not what came back or went later', async () => {
    for (const id of ['a', 'b', 'c', 'd']) await put(id, 'old');
    await remove('d');
    const since = time - 1;
    await remove('a');
    await remove('b');
    await put('b', 'back');
    begin({ since });
    await remove('c');
    await put('a', 'back');
    await finish();
    expect(await exported()).toEqual(['b/3 back']);
    expect(await exported(true)).toEqual(['Patient/a']);
  });

  it('leaves nothing when it is discarded', async () => {
    await put('a', 'old');
    begin();
    await step();
    await step();
    expect(store.contents.size).toBe(1);
    await discardExport(job, services);
    expect(store.contents.size).toBe(0);
  });
});
