import { beforeAll, describe, expect, it } from 'vitest';

import { neededOn } from '../../../runtime/auth/access/needed-scopes.js';
import { Principal } from '../../../runtime/auth/scopes/principal.js';
import type { Store } from '../../../runtime/store/store.js';
import { codeOf, type Answer } from '../server.js';
import { putAll, type Sendable } from '../search-server.js';
import { LAB } from '../auth/support.js';
import { neededBy } from '../auth/scoped.js';
import { accessOf } from '../../unit/auth/scopes-setup.js';
import { expectRefusal } from '../write-server.js';
import { ASYNC, jobsServer, linesOf } from './jobs-server.js';

const SCOPES = 'system/*.rs';

/** Who began the jobs that tests put into the store. */
const EXPORTER = Principal.ofClient({ clientId: 'exporter', scope: SCOPES, access: accessOf(SCOPES) });

interface Item {
  readonly type: string;
  readonly url: string;
  readonly count: number;
}

interface Manifest {
  readonly transactionTime: string;
  readonly request: string;
  readonly requiresAccessToken: boolean;
  readonly output: readonly Item[];
  readonly deleted: readonly Item[];
  readonly error: readonly unknown[];
  readonly msg?: string;
  readonly link?: readonly { readonly relation: string; readonly url: string }[];
}

/** `$export`, on any store: what it takes, what the files hold, who gets them, how it ends */
export function exports(store: Store): void {
  const server = jobsServer(store);
  const { all } = server;
  const client = (scopes = SCOPES, id = 'exporter') => server.as(scopes, id);
  const below = (url: string): string => url.replace(/^.*?\/fhir/, '');

  /** Kicks an export off and returns the path of its status. */
  async function start(path: string, who = client(), body?: object): Promise<string> {
    const answer = await who.send(body === undefined ? 'GET' : 'POST', path, body, ASYNC);
    expect(answer.status, answer.text).toBe(202);
    expect(answer.text).toBe('');
    return below(String(answer.headers['content-location']));
  }

  async function manifestOf(status: string, who = client()): Promise<Manifest> {
    const answer = await who.send('GET', status);
    expect(answer.status, answer.text).toBe(200);
    return answer.json() as Manifest;
  }

  async function contentOf(items: readonly Item[], who = client()): Promise<string[]> {
    const found: string[] = [];
    for (const { url, count, type } of items) {
      const answer = await who.send('GET', below(url));
      expect(answer.status, answer.text).toBe(200);
      expect(answer.headers['content-type']).toBe('application/fhir+ndjson');
      const lines = linesOf(answer.text);
      expect(lines).toHaveLength(count);
      for (const { resourceType, id, meta } of lines as {
        resourceType: string;
        id: string;
        meta: { versionId: string };
      }[]) {
        expect(resourceType).toBe(type);
        found.push(`${resourceType}/${id}/${meta.versionId}`);
      }
    }
    return found.sort();
  }

  const subject = (reference: string) => ({ subject: { reference } });
  const observation = (id: string, more: object): Sendable => ({
    ...{ resourceType: 'Observation', id, status: 'final', code: { text: 'what' } },
    ...more,
  });
  const lab = { category: [{ coding: [{ system: LAB.slice(9).split('|')[0], code: 'laboratory' }] }] };

  /** Ids of the exports that the tests look at: they are done together, because a store may need a while to settle. */
  const status: Record<string, string> = {};
  let since = '';

  beforeAll(async () => {
    await putAll(all, [
      {
        resourceType: 'Patient',
        id: 'p1',
        birthDate: '1970-01-01',
        name: [{ family: 'Éx\nport "1"' }],
      },
      { resourceType: 'Patient', id: 'p2', link: [{ other: { reference: 'Patient/p1' }, type: 'seealso' }] },
      { resourceType: 'Patient', id: 'p3' },
      observation('o1', subject('Patient/p1')),
      observation('o2', { ...subject('Patient/p2'), ...lab, performer: [{ reference: 'Patient/p1' }] }),
      observation('o3', { ...subject('Patient/p3'), status: 'preliminary' }),
      observation('o4', subject('Group/g')),
      { resourceType: 'Organization', id: 'r1', name: 'one' },
      {
        resourceType: 'Group',
        id: 'g',
        type: 'person',
        membership: 'enumerated',
        member: [
          { entity: { reference: 'Patient/p1' } },
          { entity: { reference: 'Patient/p2' } },
          { entity: { reference: 'Patient/p3' }, inactive: true },
        ],
      },
      { resourceType: 'Basic', id: 'gone', code: { text: 'x' } },
      { resourceType: 'Basic', id: 'back', code: { text: 'x' } },
      { resourceType: 'Binary', id: 'b1', contentType: 'text/plain', data: 'eA==' },
    ] as Sendable[]);
    since = (await all.send('GET', '/Binary/b1', undefined, { accept: 'application/fhir+json' })).json().meta
      .lastUpdated;
    await putAll(all, [
      { resourceType: 'Organization', id: 'r1', name: 'two' },
      { resourceType: 'Organization', id: 'r2', name: 'new' },
    ] as Sendable[]);
    for (const id of ['gone', 'back']) await all.send('DELETE', `/Basic/${id}`);
    await putAll(all, [{ resourceType: 'Basic', id: 'back', code: { text: 'y' } }]);
    const query = encodeURIComponent;
    const typeFilter = `_typeFilter=${query('Observation?status=preliminary')}&_typeFilter=${query('Observation?category=laboratory,Patient?birthdate=1970')}`;
    const wanted: Record<string, string> = {
      system: '/$export',
      types: '/$export?_type=Patient,Group&_type=Organization',
      since: `/$export?_since=${query(since)}`,
      until: `/$export?_type=Organization,Patient&_until=${query(since)}`,
      filtered: `/$export?_type=Patient,Observation&${typeFilter}`,
      chained: `/$export?_type=Observation&_typeFilter=${query('Observation?subject:Patient.birthdate=1970')}`,
      post: `/$export?_type=Observation&_typePostFetchFilterUrl=${query('Observation?status=preliminary')}`,
      history: '/$export?_type=Organization,Basic&_includeHistory=true',
      elements: '/$export?_type=Patient,Organization&_elements=birthDate,Patient.gender',
      partial: '/$export?allowPartialManifests=true',
      patients: '/Patient/$export',
      patient: '/Patient/p1/$export',
      group: '/Group/g/$export',
      byPatient: `/$export?organizeOutputBy=Patient&_since=2000-01-01T00:00:00Z`,
      byPatientOfGroup: '/Group/g/$export?organizeOutputBy=Patient&_type=Observation&_elements=status',
      byNothing: '/$export?organizeOutputBy=Patient&_type=Coverage',
      nothing: '/$export?_type=Slot&_exportId=mine&_outputFormat=ndjson&_mdm=true',
    };
    for (const [name, path] of Object.entries(wanted)) status[name] = await start(path);
    status['some'] = await start('/Patient/$export', client(), {
      resourceType: 'Parameters',
      parameter: [
        { name: '_type', valueString: 'Patient,Observation' },
        { name: 'patient', valueReference: { reference: 'Patient/p2' } },
        { name: 'patient', valueReference: { reference: `${server.url}/fhir/Patient/p3` } },
      ],
    });
    status['narrow'] = await start(
      '/$export',
      client('system/Patient.rs system/Observation.r system/Group.rs?type=person'),
    );
    // What happens after the kick-off is not in the files.
    await putAll(all, [
      { resourceType: 'Organization', id: 'r2', name: 'newer' },
      { resourceType: 'Organization', id: 'r3', name: 'too late' },
      { resourceType: 'Patient', id: 'p3', gender: 'other' },
    ] as Sendable[]);
    await all.send('DELETE', '/Observation/o3');
    await server.finish();
  }, 60_000);

  const outputOf = async (name: string) => contentOf((await manifestOf(status[name] ?? '')).output);

  describe('the files', () => {
    it('of the system hold each resource once, as it was at the transaction time', async () => {
      const manifest = await manifestOf(status['system'] ?? '');
      expect(manifest).toMatchObject({ requiresAccessToken: true, error: [], deleted: [] });
      expect(below(manifest.request)).toBe('/$export');
      expect(Date.parse(manifest.transactionTime)).toBeLessThanOrEqual(Date.now());
      expect(await contentOf(manifest.output)).toEqual([
        'Basic/back/3',
        'Group/g/1',
        'Observation/o1/1',
        'Observation/o2/1',
        'Observation/o3/1',
        'Observation/o4/1',
        'Organization/r1/2',
        'Organization/r2/1',
        'Patient/p1/1',
        'Patient/p2/1',
        'Patient/p3/1',
      ]);
    });

    it('hold the types that are asked for', async () => {
      expect(await outputOf('types')).toEqual([
        'Group/g/1',
        'Organization/r1/2',
        'Organization/r2/1',
        'Patient/p1/1',
        'Patient/p2/1',
        'Patient/p3/1',
      ]);
    });

    it('hold what changed after an instant, and list what was deleted', async () => {
      const { output, deleted } = await manifestOf(status['since'] ?? '');
      expect(await contentOf(output)).toEqual(['Basic/back/3', 'Organization/r1/2', 'Organization/r2/1']);
      expect(deleted.map(({ type, count }) => ({ type, count }))).toEqual([{ type: 'Bundle', count: 1 }]);
      const answer = await client().send('GET', below(deleted[0]!.url));
      expect(linesOf(answer.text)).toMatchObject([
        { resourceType: 'Bundle', type: 'transaction', entry: [{ request: { method: 'DELETE', url: 'Basic/gone' } }] },
      ]);
    });

    it('hold what did not change since an instant', async () => {
      expect(await outputOf('until')).toEqual(['Patient/p1/1', 'Patient/p2/1', 'Patient/p3/1']);
    });

    it('hold what a filter of its type finds, repeated and in a list', async () => {
      expect(await outputOf('filtered')).toEqual(['Observation/o2/1', 'Observation/o3/1', 'Patient/p1/1']);
      expect(await outputOf('chained')).toEqual(['Observation/o1/1']);
      expect(await outputOf('post')).toEqual(['Observation/o3/1']);
    });

    it('hold all versions where they are asked for', async () => {
      expect(await outputOf('history')).toEqual([
        'Basic/back/1',
        'Basic/back/3',
        'Organization/r1/1',
        'Organization/r1/2',
        'Organization/r2/1',
      ]);
    });

    it('hold the elements that are asked for, tagged as a part', async () => {
      const { output } = await manifestOf(status['elements'] ?? '');
      const answer = await client().send('GET', below(output.find(({ type }) => type === 'Patient')!.url));
      const first = linesOf(answer.text)[0];
      expect(Object.keys(first!).sort()).toEqual(['birthDate', 'id', 'meta', 'resourceType']);
      expect(first).toMatchObject({ meta: { tag: [{ code: 'SUBSETTED' }] } });
    });

    it('of patients hold what belongs to some patient', async () => {
      expect(await outputOf('patients')).toEqual([
        'Group/g/1',
        'Observation/o1/1',
        'Observation/o2/1',
        'Observation/o3/1',
        'Patient/p1/1',
        'Patient/p2/1',
        'Patient/p3/1',
      ]);
    });

    it('of one patient, of some, and of a group hold what belongs to these, each once', async () => {
      expect(await outputOf('patient')).toEqual([
        'Group/g/1',
        'Observation/o1/1',
        'Observation/o2/1',
        'Patient/p1/1',
        'Patient/p2/1',
      ]);
      expect(await outputOf('some')).toEqual(['Observation/o2/1', 'Observation/o3/1', 'Patient/p2/1', 'Patient/p3/1']);
      expect(await outputOf('group')).toEqual([
        'Group/g/1',
        'Observation/o1/1',
        'Observation/o2/1',
        'Patient/p1/1',
        'Patient/p2/1',
      ]);
    });

    it('hold a block for each patient where that is asked for', async () => {
      const blocksOf = async (name: string) => {
        const manifest = await manifestOf(status[name] ?? '');
        expect(manifest).toMatchObject({ outputOrganizedBy: 'Patient' });
        const blocks: Record<string, string[]> = {};
        for (const { url, type, count } of manifest.output) {
          expect(type).toBeUndefined();
          const lines = linesOf((await client().send('GET', below(url))).text) as unknown as {
            readonly resourceType: string;
            readonly id: string;
            readonly parameter?: readonly { readonly name: string; readonly valueReference: { reference: string } }[];
          }[];
          expect(lines).toHaveLength(count);
          let block: string[] = [];
          for (const { resourceType, id, parameter } of lines) {
            if (resourceType !== 'Parameters') block.push(`${resourceType}/${id}`);
            else blocks[parameter?.find(({ name }) => name === 'header')?.valueReference.reference ?? ''] = block = [];
          }
        }
        return { blocks, manifest };
      };
      const { blocks, manifest } = await blocksOf('byPatient');
      expect(Object.keys(blocks).sort()).toEqual(['Patient/p1', 'Patient/p2', 'Patient/p3']);
      // A header, the patient, then what is in its compartment, which is what an export of this patient holds.
      for (const [patient, [first, ...others]] of Object.entries(blocks)) {
        expect(first).toBe(patient);
        expect(new Set(others).size).toBe(others.length);
      }
      const ofP1 = (await outputOf('patient')).map((each) => each.replace(/\/\d+$/, ''));
      expect(blocks['Patient/p1']?.toSorted()).toEqual(ofP1);
      expect(blocks['Patient/p3']?.toSorted()).toEqual(['Group/g', 'Observation/o3', 'Patient/p3']);
      expect(manifest.deleted).toEqual([]);

      const ofGroup = await blocksOf('byPatientOfGroup');
      for (const block of Object.values(ofGroup.blocks)) block.sort();
      expect(ofGroup.blocks).toEqual({
        'Patient/p1': ['Observation/o1', 'Observation/o2'],
        'Patient/p2': ['Observation/o2'],
      });
      const answer = await client().send('GET', below(ofGroup.manifest.output[0]!.url));
      expect(answer.text).not.toContain('"subject"');
      expect(await blocksOf('byNothing')).toMatchObject({ blocks: {}, manifest: { output: [] } });
    });

    it('are organized by patients only, and whole', async () => {
      for (const [query, word] of [
        ['organizeOutputBy=Practitioner', '"Practitioner"'],
        ['organizeOutputBy=Patient&allowPartialManifests=true', 'allowPartialManifests'],
        ['organizeOutputBy=Patient&_type=Organization', 'Organization is not in the compartment'],
        ['organizeOutputBy=Patient&organizeOutputBy=Patient', 'organizeOutputBy'],
      ] as const) {
        expectRefusal(
          await client().send('GET', `/$export?${query}`, undefined, ASYNC),
          400,
          'parameter-invalid',
          word,
        );
      }
      const lenient = { prefer: 'respond-async, handling=lenient' };
      const ignored = await client().send(
        'GET',
        '/$export?_type=Slot&organizeOutputBy=Practitioner',
        undefined,
        lenient,
      );
      expect(ignored.status, ignored.text).toBe(202);
    });

    it('are refused for a patient that does not exist', async () => {
      const parameter = ['p1', 'nobody'].map((id) => ({
        name: 'patient',
        valueReference: { reference: `Patient/${id}` },
      }));
      const body = { resourceType: 'Parameters', parameter };
      for (const path of ['/Patient/$export', '/$export']) {
        const answer = await client().send('POST', path, body, ASYNC);
        expectRefusal(answer, 400, 'parameter-invalid', 'Patient/nobody does not exist');
        expect(answer.text).not.toContain('Patient/p1');
      }
      const lenient = { prefer: 'respond-async, handling=lenient' };
      expect((await client().send('POST', '/Patient/$export', body, lenient)).status).toBe(202);
    });

    it('say nothing of patients that the token does not show', async () => {
      const ask = (scopes: string, type: string, id: string) => {
        const patient = { name: 'patient', valueReference: { reference: `Patient/${id}` } };
        const parameter = [{ name: '_type', valueString: type }, patient];
        return client(scopes).send('POST', '/$export', { resourceType: 'Parameters', parameter }, ASYNC);
      };
      for (const id of ['p1', 'nobody']) {
        const hidden = await ask('system/Observation.rs', 'Nope', id);
        expect([hidden.status, hidden.text.includes('does not exist')]).toEqual([400, false]);
        const outside = await ask('system/Observation.rs system/Patient.rs?_id=p2', 'Observation', id);
        expectRefusal(outside, 400, 'parameter-invalid', `Patient/${id} does not exist`);
      }
    });

    it('are none where there is nothing', async () => {
      const manifest = await manifestOf(status['nothing'] ?? '');
      expect(manifest).toMatchObject({
        output: [],
        msg: 'There was nothing to export',
        extension: { exportId: 'mine' },
      });
    });

    it('hold the types that the token covers whole', async () => {
      const scopes = 'system/Patient.rs';
      const { output } = await manifestOf(status['narrow'] ?? '', client(scopes));
      expect(await contentOf(output, client(scopes))).toEqual(['Patient/p1/1', 'Patient/p2/1', 'Patient/p3/1']);
    });
  });

  describe('a file', () => {
    const fileOf = async (name: string, type: string): Promise<string> => {
      const { output } = await manifestOf(status[name] ?? '');
      return below(output.find((each) => each.type === type)!.url);
    };

    it('is the same text that a read gives, in ranges and compressed too', async () => {
      const path = await fileOf('types', 'Patient');
      const whole = await client().send('GET', path);
      const first = whole.text.split('\n')[0]!;
      expect(JSON.parse(first)).toEqual((await all.send('GET', '/Patient/p1')).json());
      const part = await client().send('GET', path, undefined, { range: 'bytes=3-9' });
      expect(part.status).toBe(206);
      expect(part.text).toBe(whole.text.slice(3, 10));
      const head = await client().send('HEAD', path);
      expect(head.headers['content-length']).toBe(String(whole.bytes.length));
      const json = await client().send('GET', path, undefined, { accept: 'application/fhir+json' });
      expect(json.headers['content-type']).toBe('application/fhir+ndjson');
    });

    it('is for the client that started the export, while its token gives all that the export is of', async () => {
      const path = await fileOf('types', 'Patient');
      const exported = 'system/Group.rs system/Organization.rs system/Patient.rs';
      for (const scopes of [exported, 'system/*.cruds __admin'])
        expect((await client(scopes).send('GET', path)).status).toBe(200);
      expectRefusal(await client(SCOPES, 'another').send('GET', path), 404, 'not-found');
      for (const scopes of ['system/Observation.rs', 'system/Patient.rs', 'system/*.r', 'system/*.rs?_tag=x'])
        expect(neededBy(await client(scopes).send('GET', path)), scopes).toBe(exported);
      expect(neededBy(await client('system/Observation.rs', 'another').send('GET', path))).toBe('system/Binary.r');
      const missing = path.replace(/\.\d+$/, '.99');
      expectRefusal(await client().send('GET', missing), 404, 'not-found');
    });

    it('are listed by several manifests as soon as they are whole, where that is allowed', async () => {
      const input = {
        parts: [{ type: 'Patient' }],
        types: ['Patient'],
        transactionTime: 0,
        asked: 'some',
        isPartial: true,
      };
      const { id } = await server.jobs.start('export', input, EXPORTER, neededOn('Patient', 'rs'));
      const become = async (more: object): Promise<void> => {
        const text = (await store.maps.get('job', id))!;
        await store.maps.swap('job', id, text, JSON.stringify({ ...JSON.parse(text), ...more }));
      };
      const page = async (number: number, who = client()) =>
        who.send('GET', `/$export-poll-status?_jobId=${id}${number === 0 ? '' : `&_page=${number}`}`);
      const files = (count: number) =>
        Array.from({ length: count }, (_, i) => ({ name: `1-${i}`, type: 'Patient', count: 1 }));
      const at = (count: number) => ({ phase: 'walk', part: 0, block: 0, files: files(count), walked: 0, done: count });
      const lease = { holder: 'another', until: Date.now() + 600_000 };
      const listed = ({ text }: Answer) =>
        (JSON.parse(text) as Manifest).output.map(({ url }) => Number(/[0-9]+$/.exec(url)![0]));
      const nextOf = ({ text }: Answer) => (JSON.parse(text) as Manifest).link?.map(({ url }) => below(url));

      await become({ state: 'in-progress', checkpoint: at(0), lease });
      expect(await page(0)).toMatchObject({ status: 202, text: '' });
      await become({ checkpoint: at(2) });
      const first = await page(0);
      expect([first.status, first.headers['content-type'], listed(first)]).toEqual([202, 'application/json', [0]]);
      expect(nextOf(first)).toBeUndefined();
      expect(await page(1)).toMatchObject({ status: 202, text: '' });
      expectRefusal(await page(0, client(SCOPES, 'another')), 404, 'job-unknown');
      await become({ checkpoint: at(5) });
      expect([listed(await page(0)), nextOf(await page(0))]).toEqual([
        [0],
        [`/$export-poll-status?_jobId=${id}&_page=1`],
      ]);
      expect([listed(await page(1)), nextOf(await page(1))]).toEqual([[1, 2], undefined]);
      await become({ state: 'completed', ended: Date.now(), result: { files: files(5) } });
      const answers = [await page(0), await page(1), await page(2)];
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
      expect(answers.map(listed)).toEqual([[0], [1, 2], [3, 4]]);
      expect(nextOf(answers[2]!)).toBeUndefined();
      expectRefusal(await page(3), 400, 'parameter-invalid');
      expect((await client().send('DELETE', `/$export-poll-status?_jobId=${id}`)).status).toBe(202);
    });

    it('are the same by several manifests as by one', async () => {
      const found: Item[] = [];
      for (let path: string | undefined = status['partial'] ?? ''; path !== undefined;) {
        const manifest = await manifestOf(path);
        found.push(...manifest.output);
        path = manifest.link?.map(({ url }) => below(url))[0];
      }
      expect(await contentOf(found)).toEqual(await outputOf('system'));
      expectRefusal(await client().send('GET', `${status['system']}&_page=1`), 400, 'parameter-invalid');
    });

    it('can be read as soon as it is whole, before the export ends; not once it was cancelled', async () => {
      const input = { parts: [{ type: 'Patient' }], types: ['Patient'], transactionTime: 0, asked: 'a part' };
      const { id } = await server.jobs.start('export', input, EXPORTER, neededOn('Patient', 'rs'));
      await store.blobs.put(`export/${id}/1-0`, bytesOf('{"resourceType":"Patient"}\n'), Infinity);
      const become = async (more: object): Promise<void> => {
        const text = (await store.maps.get('job', id))!;
        await store.maps.swap('job', id, text, JSON.stringify({ ...JSON.parse(text), ...more }));
      };
      expectRefusal(await client().send('GET', `/Binary/${id}.0`), 404, 'not-found');
      const files = [{ name: '1-0', type: 'Patient', count: 1 }];
      const checkpoint = { phase: 'walk', part: 0, block: 0, files, walked: 0, done: 1 };
      const lease = { holder: 'another', until: Date.now() + 600_000 };
      await become({ state: 'in-progress', checkpoint, lease });
      expect((await client().send('GET', `/Binary/${id}.0`)).text).toBe('{"resourceType":"Patient"}\n');
      expectRefusal(await client().send('GET', `/Binary/${id}.1`), 404, 'not-found');
      expectRefusal(await client(SCOPES, 'another').send('GET', `/Binary/${id}.0`), 404, 'not-found');
      expect((await client().send('DELETE', `/$export-poll-status?_jobId=${id}`)).status).toBe(202);
      expectRefusal(await client().send('GET', `/Binary/${id}.0`), 404, 'not-found');
      expect(await store.blobs.list(`export/${id}`)).toEqual([]);
    });

    it('is seen by no search and no history', async () => {
      expect((await all.send('GET', '/Binary?_summary=count')).json().total).toBe(1);
      expect((await all.send('GET', '/Binary/_history')).json().total).toBe(1);
    });
  });

  describe('the kick-off', () => {
    it('is refused without the wish for an answer later, and with all faults in one answer', async () => {
      expectRefusal(await client().send('GET', '/$export'), 400, 'async-only', 'Prefer: respond-async');
      const path =
        '/$export?_type=Patent,Binary&_outputFormat=csv&_since=yesterday&_typeFilter=x&_typePostFetchFilterUrl=Patient%3Fnope=1&_elements=wings&_exportId=a%20b&foo=1&includeAssociatedData=LatestProvenanceResources&patient=Patient/1';
      const answer = await client().send('GET', path, undefined, ASYNC);
      expect(answer.status).toBe(400);
      const texts: string[] = answer.json().issue.map((issue: { details: { text: string } }) => issue.details.text);
      for (const word of [
        '"Patent"',
        'Binary cannot',
        '"csv"',
        '"_since"',
        '"x"',
        'nope',
        '"wings"',
        '_exportId',
        '"foo"',
        'includeAssociatedData',
        '"patient"',
      ]) {
        expect(
          texts.some((text) => text.includes(word)),
          `${word} in ${texts.join('\n')}`,
        ).toBe(true);
      }
    });

    it('is refused for types outside the compartment, and for filters of what is not exported', async () => {
      const send = (path: string) => client().send('GET', path, undefined, ASYNC);
      expectRefusal(
        await send('/Patient/$export?_type=Organization'),
        400,
        'parameter-invalid',
        'compartment of patients',
      );
      expectRefusal(
        await send('/$export?_type=Patient&_typeFilter=Observation%3Fstatus=final'),
        400,
        'parameter-invalid',
        'not exported',
      );
      expectRefusal(
        await send('/$export?_type=Patient&_typeFilter=Patient%3F_sort=birthdate'),
        400,
        'parameter-invalid',
        '_sort',
      );
      expectRefusal(
        await send('/$export?_type=Observation&_typePostFetchFilterUrl=Observation%3Fsubject:Patient.name=x'),
        400,
        'parameter-invalid',
        '_typeFilter',
      );
    });

    it('is refused to a client that takes no JSON, at each level, before a job begins', async () => {
      const xml = { accept: 'application/fhir+xml' };
      for (const path of ['/$export', '/Patient/$export', '/Patient/p1/$export', '/Group/g/$export', '/$import']) {
        for (const headers of [xml, { ...xml, ...ASYNC, accept: xml.accept }]) {
          const answer = await client('system/*.cruds').send(path === '/$import' ? 'POST' : 'GET', path, path === '/$import' ? { resourceType: 'Parameters' } : undefined, headers); // prettier-ignore
          expect([answer.status, answer.headers['content-location']], path).toEqual([406, undefined]);
          expect(answer.text).toContain('not-acceptable');
        }
      }
      expect((await client().send('GET', '/$export?_format=xml', undefined, ASYNC)).status).toBe(406);
      const both = { accept: 'application/fhir+xml, application/fhir+json;q=0.5' };
      expect((await client().send('GET', '/$export?_type=Slot', undefined, { ...ASYNC, ...both })).status).toBe(202);
    });

    it('of what is not there is 404, of what is deleted 410', async () => {
      await putAll(all, [{ resourceType: 'Patient', id: 'dead' }]);
      await all.send('DELETE', '/Patient/dead');
      expectRefusal(await client().send('GET', '/Patient/none/$export', undefined, ASYNC), 404, 'not-found');
      expectRefusal(await client().send('GET', '/Patient/dead/$export', undefined, ASYNC), 410, 'deleted');
      expectRefusal(await client().send('GET', '/Group/none/$export', undefined, ASYNC), 404, 'not-found');
    });

    it('needs each type whole', async () => {
      const send = (scopes: string, path: string) => client(scopes).send('GET', path, undefined, ASYNC);
      expect(neededBy(await send('system/Patient.rs', '/$export?_type=Patient,Observation'))).toBe(
        'system/Observation.rs system/Patient.rs',
      );
      expect(neededBy(await send('system/Observation.rs?status=final', '/$export?_type=Observation'))).toBe(
        'system/Observation.rs',
      );
      expect(neededBy(await send('system/Observation.r', '/$export'))).toBe('system/*.rs');
      expect(neededBy(await send('system/Observation.rs', '/Patient/$export'))).toContain('system/Patient.rs');
      const chain = '/$export?_type=Observation&_typeFilter=Observation%3Fsubject:Patient.name=x';
      expect(neededBy(await send('system/Observation.rs', chain))).toContain('system/Patient.s');
    });

    it('joins an equal one that is under way, but for a client that wants a fresh one', async () => {
      const [one, same] = [await start('/$export?_type=Group'), await start('/$export?_type=Group')];
      expect(same).toBe(one);
      expect(await start('/$export?_type=Group', client(SCOPES, 'another'))).not.toBe(one);
      const fresh = await client().send('GET', '/$export?_type=Group', undefined, {
        ...ASYNC,
        'cache-control': 'no-cache',
      });
      expect(below(String(fresh.headers['content-location']))).not.toBe(one);
    });
  });

  describe('the status', () => {
    const del = (path: string): Promise<Answer> => client().send('DELETE', path);

    it('says how far a running export is, and when to ask again', async () => {
      const path = await start('/$export?_type=Patient&_elements=id');
      const answer = await client().send('GET', path);
      expect([answer.status, answer.text]).toEqual([202, '']);
      expect(String(answer.headers['x-progress']).length).toBeLessThanOrEqual(100);
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
      const body = { resourceType: 'Parameters', parameter: [{ name: '_jobId', valueString: path.split('=')[1] }] };
      expect((await client().send('POST', '/$export-poll-status', body)).status).toBe(202);
    });

    it('of a complete one says until when the files are there, as JSON alone', async () => {
      const path = status['types'] ?? '';
      const answer = await client().send('GET', path);
      expect(answer.headers['content-type']).toBe('application/json');
      expect(Date.parse(String(answer.headers['expires']))).toBeGreaterThan(Date.now() + 23 * 3600_000);
      const body = { resourceType: 'Parameters', parameter: [{ name: '_jobId', valueString: path.split('=')[1] }] };
      expect((await client().send('POST', '/$export-poll-status', body)).json()).toEqual(answer.json());
    });

    it('is unknown to others, and without an id no question', async () => {
      expectRefusal(await client(SCOPES, 'another').send('GET', status['types'] ?? ''), 404, 'job-unknown');
      expectRefusal(await client().send('GET', '/$export-poll-status?_jobId=none'), 404, 'job-unknown');
      expectRefusal(await client().send('GET', '/$export-poll-status'), 400, 'parameter-invalid', '_jobId');
      const put = await client().send('PUT', '/$export-poll-status');
      expect([put.status, put.headers['allow']]).toEqual([405, 'GET, HEAD, POST, DELETE']);
      const xml = await client().send('GET', status['types'] ?? '', undefined, { accept: 'application/fhir+xml' });
      expect([xml.status, xml.text.includes('not-acceptable')]).toEqual([406, true]);
    });

    it('ends with DELETE, before it began and after it was complete, with its files', async () => {
      const waiting = await start('/$export?_type=Patient&_elements=name');
      const answer = await del(waiting);
      expect([answer.status, answer.json().resourceType]).toEqual([202, 'OperationOutcome']);
      expectRefusal(await client().send('GET', waiting), 404, 'job-unknown');
      expectRefusal(await del(waiting), 404, 'job-unknown');
      const done = status['until'] ?? '';
      const { output } = await manifestOf(done);
      expectRefusal(await client(SCOPES, 'another').send('DELETE', done), 404, 'job-unknown');
      expect((await del(done)).status).toBe(202);
      expectRefusal(await client().send('GET', done), 404, 'job-unknown');
      expectRefusal(await client().send('GET', below(output[0]!.url)), 404, 'not-found');
      expect(await store.blobs.list(`export/${done.split('=')[1]}`)).toEqual([]);
    });
  });

  it('beside another one is whole, and stays when the other one ends', async () => {
    const one = client('system/Flag.rs', 'one');
    const other = client('system/Flag.rs', 'other');
    const flag = (n: number, status: string): Sendable => ({
      ...{ resourceType: 'Flag', id: `f${n}`, status, code: { text: 'x' } },
      subject: { reference: 'Patient/p1' },
    });
    const many = Array.from({ length: 300 }, (_, n) => n);
    const putFlags = (numbers: readonly number[], status: string) =>
      Promise.all(numbers.map((n) => all.send('PUT', `/Flag/f${n}`, flag(n, status))));
    await putFlags(many, 'active');
    const first = await start('/$export?_type=Flag', one);
    await putFlags(many.slice(0, 100), 'inactive');
    const second = await start('/$export?_type=Flag', other);
    await putFlags(many.slice(50, 150), 'entered-in-error');
    await server.finish();
    const expected = (changed: number) => many.map((n) => `Flag/f${n}/${n < changed ? 2 : 1}`).sort();
    const [ofFirst, ofSecond] = [await manifestOf(first, one), await manifestOf(second, other)];
    expect(await contentOf(ofFirst.output, one)).toEqual(expected(0));
    expect((await one.send('DELETE', first)).status).toBe(202);
    expect(await contentOf(ofSecond.output, other)).toEqual(expected(100));
  });

  it('says of a failed export why', async () => {
    const job = await server.jobs.start(
      'export',
      { parts: [{ type: 'Patient' }], types: ['Patient'], transactionTime: 0, asked: '' },
      EXPORTER,
      neededOn('Patient', 'rs'),
    );
    const text = (await store.maps.get('job', job.id))!;
    const failed = { ...JSON.parse(text), state: 'failed', ended: Date.now(), failure: 'The store is full' };
    await store.maps.swap('job', job.id, text, JSON.stringify(failed));
    const answer = await client().send('GET', `/$export-poll-status?_jobId=${job.id}`);
    expect([answer.status, codeOf(answer)]).toEqual([500, 'job-failed']);
    expect(answer.text).toContain('The store is full');
  });
}

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  await Promise.resolve();
  yield Buffer.from(text);
}
