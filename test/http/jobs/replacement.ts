import { describe, expect, it } from 'vitest';

import type { Store } from '../../../runtime/store/store.js';
import { word } from '../bundles/bundle-server.js';
import { mergeParameters, replacementParameters, undoMergeParameters } from '../operations/replacement-support.js';
import type { Answer } from '../server.js';
import { expectRefusal } from '../write-server.js';
import { ASYNC, jobsServer } from './jobs-server.js';

const REPLACE = '/$svc.fhir.replace-references';
const UNDO = '/$svc.fhir.undo-replace-references';
const ADMIN = '__admin.replace-references';
/** More than one step changes. */
const MANY = 450;

/** Replacement of references, and merges, as jobs */
export function replacements(store: Store): void {
  const server = jobsServer(store);
  const { all } = server;
  type Who = Pick<typeof server, 'send'>;
  const read = async (path: string) => (await all.send('GET', `/${path}`)).json();
  const put = async (body: { resourceType: string; id: string; [name: string]: unknown }): Promise<void> => {
    const answer = await all.send('PUT', `/${body.resourceType}/${body.id}`, body);
    expect(answer.status, answer.text).toBeLessThan(202);
  };
  /** Two patients, and Observations of the first one. */
  const arrange = async (referrers: number): Promise<{ a: string; b: string; code: string }> => {
    const [a, b, code] = [word(), word(), word()];
    const observation = (n: number) => ({
      ...{ resourceType: 'Observation', id: `${code}-${n}`, status: 'final' },
      ...{ code: { coding: [{ code }] }, subject: { reference: `Patient/${a}` } },
    });
    const patients = [a, b].map((id) => ({ resourceType: 'Patient', id }));
    const all_ = [...patients, ...Array.from({ length: referrers }, (_, n) => observation(n))];
    const entry = all_.map((resource) => ({
      resource,
      request: { method: 'PUT', url: `${resource.resourceType}/${resource.id}` },
    }));
    const answer = await all.send('POST', '/', { resourceType: 'Bundle', type: 'transaction', entry });
    expect(answer.status, answer.text).toBe(200);
    return { a: `Patient/${a}`, b: `Patient/${b}`, code };
  };
  const replace = (source: string, target: string, who: Who = all) =>
    who.send('POST', REPLACE, replacementParameters(source, target), ASYNC);
  const merge = (source: string, target: string, more: readonly object[] = [], who: Who = all) =>
    who.send('POST', '/Patient/$merge', mergeParameters(source, target, more), ASYNC);
  const undo = (source: string, target: string) => all.send('POST', UNDO, replacementParameters(source, target));
  const undoMerge = (source: string, target: string) =>
    all.send('POST', '/Patient/$svc.fhir.undo-merge', undoMergeParameters(source, target));
  const taskOf = (answer: Answer): string => {
    expect(answer.status, answer.text).toBe(202);
    const { parameter } = answer.json() as { parameter: { name: string; resource: { id: string } }[] };
    const id = `Task/${parameter.find(({ name }) => name === 'task')!.resource.id}`;
    expect(answer.headers['content-location']).toContain(id);
    return id;
  };
  const countOf = async (patient: string, code: string): Promise<number> =>
    (await read(`Observation?code=${code}&subject=${patient}&_summary=count`)).total;
  const outputsOf = (task: { output?: { type: { coding: [{ code: string }] } }[] }): string[] =>
    (task.output ?? []).map(({ type }) => type.coding[0].code);

  describe(`${REPLACE} with Prefer: respond-async`, () => {
    it('answers with a Task, which is completed when all is done', async () => {
      const { a, b, code } = await arrange(MANY);
      const answer = await replace(a, b);
      const path = taskOf(answer);
      const task = await read(path);
      expect(task).toMatchObject({
        ...{ status: 'in-progress', intent: 'order', requester: { identifier: { value: 'client' } } },
        identifier: [{ system: 'urn:kiln:job', value: expect.any(String) }],
      });
      expect(await countOf(a, code)).toBe(MANY);
      await server.finish();
      expect([await countOf(a, code), await countOf(b, code)]).toEqual([0, MANY]);
      const done = await read(path);
      expect(done.status).toBe('completed');
      expect(outputsOf(done)).toEqual(['Bundle', 'Provenance', 'Bundle', 'Provenance', 'Bundle', 'Provenance']);
      const entries = done.contained.flatMap(({ entry }: { entry: { response: { location: string } }[] }) => entry);
      expect(new Set(entries.map((each: { response: { location: string } }) => each.response.location)).size).toBe(MANY); // prettier-ignore
      expect([(await read(a)).meta.versionId, (await read(b)).meta.versionId]).toEqual(['1', '1']);
    });

    it('can be undone: all of it, or nothing', async () => {
      const { a, b, code } = await arrange(MANY);
      taskOf(await replace(a, b));
      await server.finish();
      await all.send('PATCH', `/Observation/${code}-7`, [{ op: 'replace', path: '/status', value: 'amended' }], { 'content-type': 'application/json-patch+json' }); // prettier-ignore
      expectRefusal(await undo(a, b), 409, 'version-conflict', `${code}-7`);
      expect(await countOf(b, code)).toBe(MANY);
      await all.send('PATCH', `/Observation/${code}-7`, [{ op: 'replace', path: '/subject/reference', value: a }], { 'content-type': 'application/json-patch+json' }); // prettier-ignore
      taskOf(await replace(b, a));
      await server.finish();
      const undone = await undo(b, a);
      expect(undone.status, undone.text).toBe(200);
      expect(undone.text).toContain(`${MANY - 1} resources were restored`);
      expect(await countOf(b, code)).toBe(MANY - 1);
    });

    it('is not undone before its job has ended, nor when a record of it is gone', async () => {
      const { a, b, code } = await arrange(MANY);
      const path = taskOf(await replace(a, b));
      await server.finish();
      const task = await read(path);
      await put({ ...task, status: 'in-progress' });
      expectRefusal(await undo(a, b), 409, 'version-conflict', path);
      await put({ ...task, status: 'completed' });
      const record = task.output.at(1).valueReference.reference as string;
      await all.send('DELETE', `/${record}`);
      expectRefusal(await undo(a, b), 409, 'version-conflict', record);
      expect(await countOf(b, code)).toBe(MANY);
    });

    it('is undone whole, whatever clients write into its Task and its records', async () => {
      const { a, b, code } = await arrange(MANY);
      const path = taskOf(await replace(a, b));
      expect((await read(path)).status).toBe('in-progress');
      await put({ ...(await read(path)), status: 'completed' });
      expect((await undo(a, b)).status).toBe(404);
      await server.finish();
      const id = path.slice('Task/'.length);
      const { output: _output, contained: _contained, ...task } = await read(path);
      const record = await read(`Provenance/${id}-1`);
      await put(task);
      await put({ ...record, target: record.target.slice(0, 3) });
      await put({ ...record, id: `${id}-3`, target: record.target.slice(0, 3) });
      const undone = await undo(a, b);
      expect(undone.status, undone.text).toBe(200);
      expect(undone.text).toContain(`${MANY} resources were restored`);
      expect(await countOf(a, code)).toBe(MANY);
    });

    it('is not undone while a process is at work on it, whatever its Task says', async () => {
      const { a, b, code } = await arrange(1);
      const path = taskOf(await replace(a, b));
      await server.finish();
      const rows = [...(await store.maps.entries('job'))];
      const [id, ended] = rows.find(([, text]) => text.includes(path.slice('Task/'.length)))!;
      const lease = { holder: 'another process', until: Number.MAX_SAFE_INTEGER };
      const atWork = JSON.stringify({ ...JSON.parse(ended), state: 'cancelled', lease });
      await store.maps.swap('job', id, ended, atWork);
      expectRefusal(await undo(a, b), 409, 'version-conflict', 'has not ended');
      await store.maps.swap('job', id, atWork, ended);
      expect((await undo(a, b)).status).toBe(200);
      expect(await countOf(a, code)).toBe(1);
    });

    it('fails where a client has written the record of a step before', async () => {
      const { a, b, code } = await arrange(1);
      const path = taskOf(await replace(a, b));
      const id = `${path.slice('Task/'.length)}-0`;
      const target = [b, a, `Observation/${code}-0`].map((name) => ({ reference: `${name}/_history/1` }));
      const activity = { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/iso-21089-lifecycle', code: 'link' }] }; // prettier-ignore
      await put({ resourceType: 'Provenance', id, target, activity, agent: [{ who: { display: 'x' } }] });
      await expect(server.finish()).rejects.toThrow('was written by a client');
      expect([(await read(path)).status, await countOf(a, code)]).toEqual(['failed', 1]);
      expectRefusal(await undo(a, b), 404, 'not-found');
    });

    it('without anything that refers completes, and records nothing', async () => {
      const { a, b } = await arrange(0);
      const path = taskOf(await replace(a, b));
      await server.finish();
      const task = await read(path);
      expect([task.status, task.output]).toEqual(['completed', undefined]);
      expectRefusal(await undo(a, b), 404, 'not-found');
    });

    it('changes what came to refer before it began', async () => {
      const { a, b, code } = await arrange(1);
      taskOf(await replace(a, b));
      await put({ resourceType: 'Observation', id: `${code}-late`, status: 'final', code: { coding: [{ code }] }, subject: { reference: a } }); // prettier-ignore
      await server.finish();
      expect(await countOf(b, code)).toBe(2);
    });

    it('refuses at once what it would refuse without a job', async () => {
      const { a, b } = await arrange(1);
      expectRefusal(await replace(a, a), 400, 'parameter-invalid', 'same');
      expectRefusal(await replace(a, 'Patient/none'), 404, 'not-found', 'Patient/none');
      const blind = await replace(a, b, server.as(`${ADMIN} system/Patient.r`));
      expect(blind.status).toBe(403);
      expect(blind.headers['www-authenticate']).toContain('system/Observation.u');
      expect((await read('Task?status=in-progress&_summary=count')).total).toBe(0);
    });

    it('changes nothing where the token may not change all that refers', async () => {
      const { a, b, code } = await arrange(3);
      await put({ resourceType: 'Basic', id: code, code: { text: 'x' }, subject: { reference: a } });
      const narrow = server.as(`${ADMIN} system/Patient.r system/Basic.u system/Observation.u?_id=${code}-0`);
      const path = taskOf(await replace(a, b, narrow));
      await expect(server.finish()).rejects.toThrow('outside of what the token may change');
      const task = await read(path);
      expect(task.status).toBe('failed');
      expect(JSON.stringify(task)).not.toContain(code);
      expect([await countOf(a, code), (await read(`Basic/${code}`)).meta.versionId]).toEqual([3, '1']);
    });
  });

  describe('/Patient/$merge with Prefer: respond-async', () => {
    it('merges both, then what refers; undone together', async () => {
      const { a, b, code } = await arrange(MANY);
      const path = taskOf(await merge(a, b));
      await server.finish();
      const task = await read(path);
      expect(task.status).toBe('completed');
      expect(task.contained[0].entry).toHaveLength(2);
      expect(await read(a)).toMatchObject({ active: false, link: [{ type: 'replaced-by' }] });
      expect(await read(b)).toMatchObject({ link: [{ type: 'replaces' }] });
      expect(await countOf(b, code)).toBe(MANY);
      const undone = await undoMerge(a, b);
      expect(undone.status, undone.text).toBe(200);
      expect(undone.text).toContain(`${MANY + 2} resources were restored`);
      expect(await countOf(a, code)).toBe(MANY);
      for (const patient of [a, b]) expect(await read(patient)).not.toHaveProperty('link');
    });

    it('stores result-patient, digits as they were sent', async () => {
      const { a, b } = await arrange(1);
      const extension = [{ url: 'http://x.example/e', valueDecimal: 1.5 }];
      const result = { resourceType: 'Patient', id: b.slice(8), extension, link: [{ other: { reference: a }, type: 'replaces' }] }; // prettier-ignore
      const body = mergeParameters(a, b, [{ name: 'result-patient', resource: result }]);
      const text = JSON.stringify(body).replace('"valueDecimal":1.5', '"valueDecimal":1.50');
      taskOf(await all.send('POST', '/Patient/$merge', text, ASYNC));
      await server.finish();
      expect((await all.send('GET', `/${b}`)).text).toContain('"valueDecimal":1.50');
    });

    it('fails where the two cannot be merged any more, and changes nothing', async () => {
      const { a, b, code } = await arrange(1);
      const path = taskOf(await merge(a, b));
      await put({ resourceType: 'Patient', id: b.slice(8), active: false });
      await expect(server.finish()).rejects.toThrow('not active');
      expect(await read(path)).toMatchObject({ status: 'failed', statusReason: { concept: { text: expect.stringContaining('not active') } } }); // prettier-ignore
      expect(await countOf(a, code)).toBe(1);
    });

    it('refuses at once what it would refuse without a job', async () => {
      const { a, b } = await arrange(1);
      expectRefusal(await merge(a, a), 422, 'merge-refused', 'same');
      expectRefusal(await merge(a, 'Patient/none'), 404, 'not-found');
      const blind = await merge(a, b, [], server.as(`${ADMIN} system/Patient.ru`));
      expect(blind.headers['www-authenticate']).toContain('system/Observation.u');
    });
  });
}
