import { describe, expect, it } from 'vitest';

import type { Store } from '../../../runtime/store/store.js';
import { scopedServer } from '../auth/scoped.js';
import { batch, responsesOf, transaction, word } from '../bundles/bundle-server.js';
import type { Answer } from '../server.js';
import { expectRefusal } from '../write-server.js';
import { replacementParameters } from './replacement-support.js';

const XML = 'application/fhir+xml';
const REPLACE = '/$svc.fhir.replace-references';
const UNDO = '/$svc.fhir.undo-replace-references';

interface Body {
  readonly resourceType: string;
  readonly id: string;
  readonly [name: string]: unknown;
}

/** `$svc.fhir.replace-references` and its undo */
export function replaceReferences(store: Store): void {
  const server = scopedServer(store);
  const put = async (body: Body): Promise<void> => {
    const answer = await server.all.send('PUT', `/${body.resourceType}/${body.id}`, body);
    expect(answer.status, answer.text).toBeLessThan(202);
  };
  const read = async (path: string) => (await server.all.send('GET', `/${path}`)).json();
  const call = (
    operation: string,
    source: string,
    target: string,
    more = {},
    who: Pick<typeof server, 'send'> = server.all,
  ) =>
    // prettier-ignore
    who.send('POST', operation, replacementParameters(source, target, more));
  const replace = (source: string, target: string, more = {}, who?: Pick<typeof server, 'send'>) =>
    call(REPLACE, source, target, more, who);
  const undo = (source: string, target: string, who?: Pick<typeof server, 'send'>) =>
    call(UNDO, source, target, {}, who);
  const changedBy = (answer: Answer): string[] => {
    expect(answer.status, answer.text).toBe(200);
    const [{ name, resource }] = answer.json().parameter;
    expect([name, resource.type]).toEqual(['outcome', 'transaction-response']);
    return (resource.entry ?? []).map(({ response }: { response: { location: string } }) => response.location);
  };
  /** Two patients, with names that are not used again. */
  const twoPatients = async (): Promise<[string, string]> => {
    const [a, b] = [word(), word()];
    for (const id of [a, b]) await put({ resourceType: 'Patient', id });
    return [`Patient/${a}`, `Patient/${b}`];
  };
  const observation = (id: string, reference: string, more = {}): Body => ({
    ...{ resourceType: 'Observation', id, status: 'final', code: { text: 'x' }, subject: { reference } },
    ...more,
  });
  const provenancesOf = async (target: string) =>
    ((await read(`Provenance?target=${target}`)).entry ?? []).map(({ resource }: { resource: unknown }) => resource);

  describe(REPLACE, () => {
    it('changes what refers, and records it in a Provenance', async () => {
      const [a, b] = await twoPatients();
      const id = word();
      await put(observation(id, a, { performer: [{ reference: a }, { reference: 'Practitioner/x' }, { reference: `${a}/_history/1` }] })); // prettier-ignore
      expect(changedBy(await replace(a, b))).toEqual([`Observation/${id}/_history/2`]);
      expect(await read(`Observation/${id}`)).toMatchObject({
        meta: { versionId: '2' },
        subject: { reference: b },
        performer: [{ reference: b }, { reference: 'Practitioner/x' }, { reference: `${a}/_history/1` }],
      });
      expect((await read(`Observation?subject=${a}`)).total).toBe(0);
      expect((await read(a)).meta.versionId).toBe('1');
      const [record, ...others] = await provenancesOf(b);
      expect(others).toEqual([]);
      expect(record).toMatchObject({
        target: [`${b}/_history/1`, `${a}/_history/1`, `Observation/${id}/_history/2`].map((reference) => ({ reference })), // prettier-ignore
        occurredPeriod: { start: expect.any(String), end: expect.any(String) },
        authorization: [{ concept: { coding: [{ code: 'PATADMIN' }] } }],
        activity: { coding: [{ code: 'link' }] },
        agent: [{ who: { identifier: { value: 'client' } } }],
      });
    });

    it('finds references anywhere: extensions, contained resources, elements without a search parameter', async () => {
      const [a, b] = await twoPatients();
      const id = word();
      const reference = { reference: a };
      const extension = [{ url: 'http://x.example/e', extension: [{ url: 'in', valueReference: reference }] }];
      const bodies: Body[] = [
        { resourceType: 'Basic', id: `${id}-extension`, code: { text: 'x' }, extension },
        { resourceType: 'Basic', id: `${id}-primitive`, code: { text: 'x', _text: { extension } } },
        { resourceType: 'Basic', id: `${id}-assigner`, code: { text: 'x' }, identifier: [{ value: '1', assigner: { reference: a } }] }, // prettier-ignore
        {
          ...{ resourceType: 'Basic', id: `${id}-contained`, code: { text: 'x' }, author: { reference: '#o' } },
          contained: [{ ...observation('o', a), id: 'o' }],
        },
        { resourceType: 'Basic', id: `${id}-absolute`, code: { text: 'x' }, subject: { reference: `${server.url}/fhir/${a}` } }, // prettier-ignore
      ];
      const untouched: Body[] = [
        { resourceType: 'Basic', id: `${id}-logical`, code: { text: 'x' }, subject: { identifier: { value: a } } },
        { resourceType: 'Basic', id: `${id}-elsewhere`, code: { text: 'x' }, subject: { reference: `http://other.example/fhir/${a}` } }, // prettier-ignore
        { resourceType: 'Basic', id: `${id}-version`, code: { text: 'x' }, subject: { reference: `${a}/_history/1` } },
        {
          ...{ resourceType: 'Bundle', id: `${id}-bundle`, type: 'collection' },
          entry: [{ fullUrl: `http://other.example/fhir/Observation/o`, resource: observation('o', a) }],
        },
      ];
      for (const body of [...bodies, ...untouched]) await put(body);
      const changed = changedBy(await replace(a, b));
      expect(changed.sort()).toEqual(bodies.map((body) => `Basic/${body.id}/_history/2`).sort());
      for (const body of bodies) {
        const { meta: _meta, ...now } = await read(`Basic/${body.id}`);
        expect(now).toEqual(JSON.parse(JSON.stringify(body).replaceAll(a, b)));
      }
      for (const { resourceType, id } of untouched) {
        expect((await read(`${resourceType}/${id}`)).meta.versionId).toBe('1');
      }
      expect(changedBy(await replace(a, b))).toEqual([]);
    });

    it('keeps tags, labels and digits, and works for any type', async () => {
      const [a, b] = [word(), word()];
      for (const id of [a, b]) await put({ resourceType: 'Device', id });
      const id = word();
      const meta = { tag: [{ code: 't' }], security: [{ code: 's' }], profile: ['http://x.example/p'] };
      const more = { meta, device: { reference: `Device/${a}` }, valueQuantity: { value: 1 } };
      const text = JSON.stringify(observation(id, 'Patient/x', more)).replace('"value":1', '"value":1.50');
      expect((await server.all.send('PUT', `/Observation/${id}`, text)).status).toBe(201);
      expect(changedBy(await replace(`Device/${a}`, `Device/${b}`))).toEqual([`Observation/${id}/_history/2`]);
      expect((await read(`Observation/${id}`)).meta).toMatchObject(meta);
      expect((await server.all.send('GET', `/Observation/${id}`)).text).toContain('1.50');
    });

    it('without anything that refers changes nothing, and records nothing', async () => {
      const [a, b] = await twoPatients();
      const answer = await replace(a, b);
      expect(changedBy(answer)).toEqual([]);
      expect(await provenancesOf(b)).toEqual([]);
      expectRefusal(await undo(a, b), 404, 'not-found', a, b);
    });

    it('refuses more than resource-limit, and changes nothing then', async () => {
      const [a, b] = await twoPatients();
      const id = word();
      for (const n of [1, 2, 3]) await put(observation(`${id}-${n}`, a));
      expectRefusal(await replace(a, b, { 'resource-limit': 2 }), 412, 'precondition-failed', '2 resources');
      expectRefusal(await replace(a, b, { 'resource-limit': 0 }), 412, 'precondition-failed');
      expect((await read(`Observation?subject=${a}`)).total).toBe(3);
      expect(changedBy(await replace(a, b, { 'resource-limit': 3 }))).toHaveLength(3);
    });

    it('takes resource-limit as an integer: only one without a sign was taken', async () => {
      const [a, b] = await twoPatients();
      const id = word();
      for (const n of [1, 2]) await put(observation(`${id}-${n}`, a));
      const limited = (value: object) => {
        const { parameter } = replacementParameters(a, b) as { parameter: object[] };
        const parameters = [...parameter, { name: 'resource-limit', ...value }];
        return server.all.send('POST', REPLACE, { resourceType: 'Parameters', parameter: parameters });
      };
      expectRefusal(await limited({ valueInteger: 1 }), 412, 'precondition-failed', '1 resource');
      expectRefusal(await limited({ valueInteger: -1 }), 400, 'parameter-invalid', 'resource-limit');
      expectRefusal(await limited({ valueString: '1' }), 400, 'parameter-invalid', 'resource-limit');
      expect(changedBy(await limited({ valueInteger: 2 }))).toHaveLength(2);
    });

    it('refuses what is wrong', async () => {
      const [a, b] = await twoPatients();
      expectRefusal(await replace('   ', b), 400, 'bad-primitive', 'white space alone');
      for (const bad of [a.slice(8), 'Patient/', 'Nothing/1', `${a}/_history/1`, `${a}?x=1`]) {
        expectRefusal(await replace(bad, b), 400, 'parameter-invalid', 'source-reference-id');
        expectRefusal(await replace(a, bad), 400, 'parameter-invalid', 'target-reference-id');
      }
      expectRefusal(await replace(a, 'Device/1'), 400, 'parameter-invalid', 'Patient', 'Device');
      expectRefusal(await replace(a, a), 400, 'parameter-invalid', 'same');
      expectRefusal(await replace(a, 'Patient/none'), 404, 'not-found', 'Patient/none');
      expectRefusal(await replace('Patient/none', a), 404, 'not-found', 'Patient/none');
      expectRefusal(await replace(a, b, { 'resource-limit': -1 }), 400, 'bad-primitive');
      expectRefusal(await replace(a, b, { other: 1 }), 400, 'parameter-unknown', 'other', 'resource-limit');
      for (const operation of [REPLACE, UNDO]) {
        const missing = { resourceType: 'Parameters', parameter: [{ name: 'source-reference-id', valueString: a }] };
        expectRefusal(await server.all.send('POST', operation, missing), 400, 'parameter-invalid', 'target-reference-id'); // prettier-ignore
        expect((await server.all.send('GET', operation)).status).toBe(405);
      }
      const waitless = await server.all.send('POST', REPLACE, replacementParameters(a, b), { prefer: 'respond-async' });
      // This server has no jobs.
      expectRefusal(waitless, 501, 'operation-unsupported');
      await server.all.send('DELETE', `/${b}`);
      expectRefusal(await replace(a, b), 410, 'deleted', b);
    });

    it('in XML, and as an entry of a batch', async () => {
      const [a, b] = await twoPatients();
      const id = word();
      await put(observation(id, a));
      const part = (name: string, value: string) => `<parameter><name value="${name}"/><valueString value="${value}"/></parameter>`; // prettier-ignore
      const body = `<Parameters xmlns="http://hl7.org/fhir">${part('source-reference-id', a)}${part('target-reference-id', b)}</Parameters>`;
      const xml = await server.all.send('POST', REPLACE, body, { 'content-type': XML, accept: XML });
      expect([xml.status, xml.headers['content-type']]).toEqual([200, expect.stringContaining(XML)]);
      expect(xml.text).toContain(`<location value="Observation/${id}/_history/2"/>`);
      const entry = (url: string) => ({ request: { method: 'POST', url: url.slice(1) }, resource: replacementParameters(a, b) }); // prettier-ignore
      const undone = await server.all.send('POST', '/', batch(entry(UNDO)));
      expect(responsesOf(undone)[0].status).toBe('200 OK');
      expect(undone.text).toContain('1 resource was restored');
      expect(responsesOf(await server.all.send('POST', '/', batch(entry(REPLACE))))[0].status).toBe('200 OK');
      expect((await server.all.send('POST', '/', transaction(entry(REPLACE)))).status).toBe(400);
    });

    it('needs its own scope, and to update what refers', async () => {
      const [a, b] = await twoPatients();
      const id = word();
      await put(observation(id, a));
      await put({ resourceType: 'Basic', id, code: { text: 'x' }, subject: { reference: a } });
      const admin = '__admin.replace-references';
      for (const [scopes, status, ...needed] of [
        ['system/*.cruds', 403, admin],
        [admin, 403, 'Patient.r'],
        [`${admin} system/Patient.r`, 403, 'system/Basic.u', 'system/Observation.u'],
        [`${admin} system/Patient.r system/Basic.u`, 403, 'system/Observation.u'],
        [`${admin} system/Patient.r system/*.u?_tag=none`, 403],
        [`${admin} system/Patient.r?_tag=none system/*.u`, 200],
      ] as const) {
        const answer = await replace(a, b, {}, server.as(scopes));
        expect(answer.status, `${scopes} ${answer.text}`).toBe(status);
        for (const scope of needed) expect(answer.headers['www-authenticate']).toContain(scope);
        if (status === 403) expect(answer.text, scopes).not.toContain(id);
      }
      expect((await read(`Observation/${id}`)).meta.versionId).toBe('2');
    });

    it('treats a source that the token does not show like one that never was', async () => {
      const [a, b] = await twoPatients();
      const narrow = server.as(`__admin system/Patient.rus?_id=${b.slice(8)} system/Observation.u`);
      const hidden = await replace(a, b, {}, narrow);
      expectRefusal(hidden, 404, 'not-found');
      const never = await replace('Patient/none', b, {}, narrow);
      expect(hidden.text.replaceAll(a, 'Patient/none')).toBe(never.text);
    });

    it('leaves records of what happened as they are', async () => {
      const [a, b] = await twoPatients();
      const id = word();
      await put({
        ...{ resourceType: 'AuditEvent', id, code: { coding: [{ code: 'rest' }] }, recorded: '2020-01-01T00:00:00Z' },
        ...{ agent: [{ who: { display: 'x' } }], source: { observer: { display: 'x' } }, patient: { reference: a } },
      });
      expect(changedBy(await replace(a, b))).toEqual([]);
      expect((await read(`AuditEvent/${id}`)).patient.reference).toBe(a);
    });
  });

  describe(UNDO, () => {
    it('restores exactly what was replaced, once', async () => {
      const [a, b] = await twoPatients();
      const id = word();
      const before = observation(id, a, { performer: [{ reference: b }], meta: { tag: [{ code: 't' }] } });
      await put(before);
      await replace(a, b);
      // What happens to the two resources themselves does not matter.
      await put({ resourceType: 'Patient', id: a.slice(8), active: true });
      await put({ resourceType: 'Patient', id: b.slice(8), active: false });
      const answer = await undo(a, b);
      expect(answer.status, answer.text).toBe(200);
      const [{ name, resource }] = answer.json().parameter;
      expect([name, resource.issue[0].severity]).toEqual(['outcome', 'information']);
      const [record] = await provenancesOf(b);
      expect(resource.issue[0].details.text).toBe(`1 resource was restored, as recorded in Provenance/${(record as Body).id}`); // prettier-ignore
      const { meta, ...now } = await read(`Observation/${id}`);
      expect({ ...now, meta: { tag: meta.tag } }).toEqual(before);
      expect(meta.versionId).toBe('3');
      expectRefusal(await undo(a, b), 409, 'version-conflict', `Observation/${id}`);
      expectRefusal(await undo(b, a), 404, 'not-found');
    });

    it('is refused whole where one resource was changed or deleted since', async () => {
      for (const [change, status] of [
        ['PUT', 409],
        ['DELETE', 410],
      ] as const) {
        // prettier-ignore
        const [a, b] = await twoPatients();
        const id = word();
        for (const n of [1, 2]) await put(observation(`${id}-${n}`, a));
        await replace(a, b);
        await server.all.send(change, `/Observation/${id}-2`, observation(`${id}-2`, b, { status: 'amended' }));
        expectRefusal(await undo(a, b), status, status === 409 ? 'version-conflict' : 'deleted', `${id}-2`);
        expect((await read(`Observation/${id}-1`)).meta.versionId).toBe('2');
      }
    });

    it('takes the last of several replacements', async () => {
      const [a, b] = await twoPatients();
      const id = word();
      await put(observation(id, a));
      await replace(a, b);
      await undo(a, b);
      await replace(a, b);
      expect((await undo(a, b)).status).toBe(200);
      expect(await read(`Observation/${id}`)).toMatchObject({ meta: { versionId: '5' }, subject: { reference: a } });
    });

    it('trusts only what the server recorded itself', async () => {
      const [a, b] = await twoPatients();
      const id = word();
      await put(observation(id, a));
      await put(observation(id, b, { status: 'amended' }));
      const reference = (text: string) => ({ reference: text });
      await put({
        ...{ resourceType: 'Provenance', id: word(), agent: [{ who: { display: 'x' } }] },
        target: [`${b}/_history/1`, `${a}/_history/1`, `Observation/${id}/_history/2`].map(reference),
        activity: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/iso-21089-lifecycle', code: 'link' }] },
      });
      expectRefusal(await undo(a, b), 404, 'not-found');
      expect((await read(`Observation/${id}`)).status).toBe('amended');
    });

    it('needs to update what it restores', async () => {
      const [a, b] = await twoPatients();
      const id = word();
      await put(observation(id, a));
      await replace(a, b);
      const admin = '__admin.replace-references';
      for (const [scopes, status] of [
        ['system/*.cruds', 403],
        [`${admin} system/Patient.r`, 403],
        [`${admin} system/Patient.r system/Observation.u?_tag=none`, 403],
        [`${admin} system/Patient.r?_tag=none system/Observation.u`, 404],
        [`${admin} system/Patient.r system/Observation.u`, 200],
      ] as const) {
        const answer = await undo(a, b, server.as(scopes));
        expect(answer.status, `${scopes} ${answer.text}`).toBe(status);
        if (status !== 200) expect(answer.text).not.toContain(id);
      }
    });
  });

  it('leaves no defects', () => expect(server.defects).toEqual([]));
}
