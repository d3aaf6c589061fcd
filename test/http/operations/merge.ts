import { describe, expect, it } from 'vitest';

import type { Store } from '../../../runtime/store/store.js';
import { scopedServer } from '../auth/scoped.js';
import { batch, responsesOf, transaction, word } from '../bundles/bundle-server.js';
import type { Answer } from '../server.js';
import { expectRefusal } from '../write-server.js';
import { mergeParameters, undoMergeParameters } from './replacement-support.js';

const XML = 'application/fhir+xml';
const MERGE = '/Patient/$merge';
const UNDO = '/Patient/$svc.fhir.undo-merge';
const MRN = 'http://hospital.example/mrn';
const ADMIN = '__admin.replace-references';

interface Body {
  readonly resourceType: string;
  readonly id: string;
  readonly [name: string]: unknown;
}

/** `Patient/$merge` and its undo. https://hl7.org/fhir/R5/patient-operation-merge.html */
export function merge(store: Store): void {
  const server = scopedServer(store);
  const put = async (body: Body): Promise<void> => {
    const answer = await server.all.send('PUT', `/${body.resourceType}/${body.id}`, body);
    expect(answer.status, answer.text).toBeLessThan(202);
  };
  const read = async (path: string) => (await server.all.send('GET', `/${path}`)).json();
  const post = (body: object, who: Pick<typeof server, 'send'> = server.all) => who.send('POST', MERGE, body);
  const mergeOf = (source: string, target: string, more: readonly object[] = [], who?: Pick<typeof server, 'send'>) =>
    post(mergeParameters(source, target, more), who);
  const undo = (source: string, target: string, who: Pick<typeof server, 'send'> = server.all) =>
    who.send('POST', UNDO, undoMergeParameters(source, target));
  const identifier = (value: string) => ({ system: MRN, value });
  /** Two patients, each with an identifier that is its id. */
  const twoPatients = async (more: object = {}): Promise<[string, string]> => {
    const [a, b] = [word(), word()];
    for (const id of [a, b]) await put({ resourceType: 'Patient', id, identifier: [identifier(id)], ...more });
    return [`Patient/${a}`, `Patient/${b}`];
  };
  const idOf = (name: string): string => name.slice('Patient/'.length);
  const observation = async (reference: string): Promise<string> => {
    const id = word();
    await put({ resourceType: 'Observation', id, status: 'final', code: { text: 'x' }, subject: { reference } });
    return `Observation/${id}`;
  };
  const partsOf = (answer: Answer) => {
    expect(answer.status, answer.text).toBe(200);
    const { parameter } = answer.json() as { parameter: { name: string; resource: Body }[] };
    return Object.fromEntries(parameter.map(({ name, resource }) => [name, resource])) as Record<
      'input' | 'outcome' | 'result',
      Body
    >;
  };
  const byIdentifier = (side: 'source' | 'target', value: object) => ({
    name: `${side}-patient-identifier`,
    valueIdentifier: value,
  });
  const named = (side: 'source' | 'target', reference: string) => ({
    name: `${side}-patient`,
    valueReference: { reference },
  });
  const parameters = (...parameter: readonly object[]) => ({ resourceType: 'Parameters', parameter });
  const versionOf = async (path: string): Promise<string> => (await read(path)).meta.versionId;

  describe(MERGE, () => {
    it('links both, ends the source, copies its identifiers as old ones, and replaces references', async () => {
      const [a, b] = await twoPatients({ meta: { tag: [{ code: 't' }] } });
      const refers = await observation(a);
      const sent = mergeParameters(a, b);
      const { input, outcome, result } = partsOf(await post(sent));
      expect(input).toEqual(sent);
      expect(outcome).toMatchObject({ resourceType: 'OperationOutcome', issue: [{ severity: 'information' }] });
      expect(result).toEqual(await read(b));
      expect(result).toMatchObject({
        meta: { versionId: '2', tag: [{ code: 't' }] },
        identifier: [identifier(idOf(b)), { ...identifier(idOf(a)), use: 'old' }],
        link: [{ other: { reference: a }, type: 'replaces' }],
      });
      expect(result).not.toHaveProperty('active');
      expect(await read(a)).toMatchObject({
        meta: { versionId: '2' },
        active: false,
        identifier: [identifier(idOf(a))],
        link: [{ other: { reference: b }, type: 'replaced-by' }],
      });
      expect((await read(refers)).subject.reference).toBe(b);
      const [record] = (await read(`Provenance?target=${b}`)).entry.map(({ resource }: { resource: Body }) => resource);
      expect(record).toMatchObject({
        target: [b, a, refers].map((each) => ({ reference: `${each}/_history/2` })),
        activity: { coding: [{ code: 'merge' }] },
        agent: [{ who: { identifier: { value: 'client' } } }],
      });
    });

    it('does not copy an identifier that the target has', async () => {
      const both = { identifier: [identifier(word())] };
      const [a, b] = await twoPatients(both);
      expect(partsOf(await mergeOf(a, b)).result['identifier']).toEqual(both.identifier);
    });

    it('finds both by identifiers', async () => {
      const [a, b] = await twoPatients();
      const refers = await observation(a);
      const answer = await post(
        parameters(byIdentifier('source', identifier(idOf(a))), {
          name: 'target-patient',
          valueReference: { identifier: identifier(idOf(b)) },
        }),
      );
      expect(partsOf(answer).result.id).toBe(idOf(b));
      expect((await read(refers)).subject.reference).toBe(b);
    });

    it('takes a reference that has an identifier, where both name the same resource', async () => {
      const [a, b] = await twoPatients();
      const both = (side: 'source' | 'target', reference: string, value: object) => ({
        name: `${side}-patient`,
        valueReference: { reference, identifier: value },
      });
      const wrong = await post(parameters(both('source', a, identifier(idOf(b))), named('target', b)));
      expectRefusal(wrong, 400, 'parameter-invalid', 'source-patient-identifier');
      const right = await post(parameters(both('source', a, { value: idOf(a) }), both('target', b, identifier(idOf(b))))); // prettier-ignore
      expect(partsOf(right).result.id).toBe(idOf(b));
    });

    it('refuses a patient that is named twice, by a reference and by identifiers', async () => {
      const [a, b] = await twoPatients();
      for (const [side, of] of [
        ['source', a],
        ['target', b],
      ] as const) {
        const answer = await mergeOf(a, b, [byIdentifier(side, identifier(idOf(of)))]);
        expectRefusal(answer, 400, 'parameter-invalid', `"${side}-patient"`, `"${side}-patient-identifier"`);
      }
      const logical = { name: 'source-patient', valueReference: { identifier: identifier(idOf(a)) } };
      const twice = parameters(logical, byIdentifier('source', identifier(idOf(a))), named('target', b));
      expectRefusal(await post(twice), 400, 'parameter-invalid', '"source-patient-identifier"');
      expect([await versionOf(a), await versionOf(b)]).toEqual(['1', '1']);
    });

    it('stores result-patient as the target', async () => {
      const [a, b] = await twoPatients({ meta: { tag: [{ code: 't' }] } });
      const link = [{ other: { reference: a }, type: 'replaces' }];
      const patient = { resourceType: 'Patient', id: idOf(b), gender: 'other', identifier: [identifier(idOf(b))], link }; // prettier-ignore
      const result = (resource: object) => [{ name: 'result-patient', resource }];
      const bad: [object, number, string, string][] = [
        [{ ...patient, id: idOf(a) }, 400, 'parameter-invalid', 'id'],
        [{ ...patient, link: [] }, 400, 'structure', 'link'],
        [{ ...patient, link: [{ ...link[0], type: 'refer' }] }, 400, 'parameter-invalid', 'replaces'],
        [{ ...patient, link: [...link, ...link] }, 400, 'parameter-invalid', 'replaces'],
        [{ ...patient, link: [...link, { ...link[0], type: 'replaced-by' }] }, 400, 'parameter-invalid', 'replaced-by'],
        [{ ...patient, identifier: [identifier(idOf(a))] }, 400, 'parameter-invalid', 'target-patient-identifier'],
        [{ ...patient, nonsense: 1 }, 400, 'unknown-element', 'nonsense'],
      ];
      for (const [resource, status, code, text] of bad) {
        const target = { reference: b, identifier: identifier(idOf(b)) };
        const sent = parameters(
          named('source', a),
          { name: 'target-patient', valueReference: target },
          ...result(resource),
        );
        const answer = await post(sent);
        expect(answer.status, answer.text).toBe(status);
        if (code !== 'structure' && code !== 'unknown-element') expectRefusal(answer, status, code, text);
      }
      expect([await versionOf(a), await versionOf(b)]).toEqual(['1', '1']);
      const { result: stored } = partsOf(await mergeOf(a, b, result(patient)));
      expect(stored).toEqual(await read(b));
      expect(stored).toMatchObject({ ...patient, meta: { versionId: '2', tag: [{ code: 't' }] } });
    });

    it('preview changes nothing, and shows what would be', async () => {
      const [a, b] = await twoPatients();
      const refers = await observation(a);
      const { outcome, result } = partsOf(await mergeOf(a, b, [{ name: 'preview', valueBoolean: true }]));
      expect(JSON.stringify(outcome)).toMatch(/Preview only.*1 resource that/);
      expect(result).toMatchObject({ id: idOf(b), link: [{ other: { reference: a }, type: 'replaces' }] });
      for (const path of [a, b, refers]) expect(await versionOf(path)).toBe('1');
      expect((await read(`Provenance?target=${b}`)).total).toBe(0);
    });

    it('refuses what cannot be merged', async () => {
      const [a, b] = await twoPatients();
      expectRefusal(await mergeOf(a, a), 422, 'merge-refused', 'same');
      const inactive = `Patient/${word()}`;
      await put({ resourceType: 'Patient', id: idOf(inactive), active: false });
      expectRefusal(await mergeOf(a, inactive), 422, 'merge-refused', 'not active');
      const twice = identifier(word());
      for (const id of [word(), word()]) await put({ resourceType: 'Patient', id, identifier: [twice] });
      expectRefusal(await post(parameters(byIdentifier('source', twice), named('target', b))), 422, 'merge-refused', 'source-patient'); // prettier-ignore
      partsOf(await mergeOf(a, b));
      expectRefusal(await mergeOf(a, b), 422, 'merge-refused', 'source');
      expectRefusal(await mergeOf(b, a), 422, 'merge-refused', 'target');
      expect([await versionOf(a), await versionOf(b)]).toEqual(['2', '2']);
    });

    it('refuses what is wrong', async () => {
      const [a, b] = await twoPatients();
      expectRefusal(await post(parameters(named('target', b))), 400, 'parameter-invalid', 'source-patient');
      expectRefusal(await post(parameters(named('source', a))), 400, 'parameter-invalid', 'target-patient');
      for (const bad of [`${a}/_history/1`, 'Device/1', '#p', 'Patient/']) {
        expectRefusal(await mergeOf(bad, b), 400, 'parameter-invalid', 'source-patient');
        expectRefusal(await mergeOf(a, bad), 400, 'parameter-invalid', 'target-patient');
        expect((await undo(bad, b)).status).toBe(400);
      }
      const empty = parameters(byIdentifier('source', { system: MRN }), named('target', b));
      expectRefusal(await post(empty), 400, 'parameter-invalid', 'source-patient-identifier');
      expectRefusal(await mergeOf(a, b, [{ name: 'other', valueString: 'x' }]), 400, 'parameter-unknown', 'preview');
      expectRefusal(await mergeOf(a, b, [named('source', a)]), 400, 'parameter-invalid', 'source-patient');
      expectRefusal(await mergeOf(a, 'Patient/none'), 404, 'not-found', 'Patient/none');
      expectRefusal(await mergeOf('Patient/none', b), 404, 'not-found', 'Patient/none');
      const unknown = parameters(byIdentifier('source', identifier('none')), named('target', b));
      expectRefusal(await post(unknown), 404, 'not-found', 'source-patient');
      expect((await server.all.send('GET', MERGE)).status).toBe(405);
      expectRefusal(await undo(a, a), 400, 'parameter-invalid', 'same');
      expectRefusal(await undo(a, b), 404, 'not-found', a, b);
      await server.all.send('DELETE', `/${b}`);
      expectRefusal(await mergeOf(a, b), 410, 'deleted', b);
    });

    it('in XML, and as an entry of a batch', async () => {
      const [a, b] = await twoPatients();
      const part = (side: string, reference: string) => `<parameter><name value="${side}-patient"/><valueReference><reference value="${reference}"/></valueReference></parameter>`; // prettier-ignore
      const body = `<Parameters xmlns="http://hl7.org/fhir">${part('source', a)}${part('target', b)}</Parameters>`;
      const xml = await server.all.send('POST', MERGE, body, { 'content-type': XML, accept: XML });
      expect([xml.status, xml.headers['content-type']]).toEqual([200, expect.stringContaining(XML)]);
      expect(xml.text).toContain('<type value="replaces"/>');
      const entry = (url: string, resource: object) => ({ request: { method: 'POST', url: url.slice(1) }, resource });
      const undone = await server.all.send('POST', '/', batch(entry(UNDO, undoMergeParameters(a, b))));
      expect(undone.text).toContain('2 resources were restored');
      const again = entry(MERGE, mergeParameters(a, b));
      expect((await server.all.send('POST', '/', transaction(again))).status).toBe(400);
      expect(responsesOf(await server.all.send('POST', '/', batch(again)))[0].status).toBe('200 OK');
    });

    it('needs its own scope, both patients, and to update what refers', async () => {
      const [a, b] = await twoPatients();
      const refers = await observation(a);
      for (const [scopes, status, ...needed] of [
        ['system/*.cruds', 403, ADMIN],
        [ADMIN, 403, 'system/Patient.ru'],
        [`${ADMIN} system/Patient.r`, 403, 'system/Patient.ru'],
        [`${ADMIN} system/Patient.ru`, 403, 'system/Observation.u'],
        [`${ADMIN} system/Patient.ru system/Observation.u?_tag=none`, 403],
        [`${ADMIN} system/Patient.r system/Patient.u?_id=${idOf(a)} system/Observation.u`, 403],
        [`${ADMIN} system/Patient.ru?_id=${idOf(a)} system/Observation.u`, 404],
        [`${ADMIN} system/Patient.ru?_id=${idOf(a)},${idOf(b)} system/Observation.u`, 200],
      ] as const) {
        const answer = await mergeOf(a, b, [], server.as(scopes));
        expect(answer.status, `${scopes} ${answer.text}`).toBe(status);
        for (const scope of needed) expect(answer.headers['www-authenticate'], scopes).toContain(scope);
        if (status === 403) expect(answer.text, scopes).not.toContain(refers);
      }
    });

    it('searches by identifier only what the token may search', async () => {
      const [a, b] = await twoPatients();
      const body = parameters(byIdentifier('source', identifier(idOf(a))), named('target', b));
      const blind = await post(body, server.as(`${ADMIN} system/Patient.ru`));
      expect(blind.status).toBe(403);
      expect(blind.headers['www-authenticate']).toContain('system/Patient.s');
      const narrow = `${ADMIN} system/Patient.ru system/Patient.s?_id=${idOf(b)}`;
      expectRefusal(await post(body, server.as(narrow)), 404, 'not-found');
      expect((await post(body, server.as(`${ADMIN} system/Patient.rus`))).status).toBe(200);
    });

    it('treats a resource that the token does not show like one that never was', async () => {
      const [a, b] = await twoPatients();
      const narrow = server.as(`${ADMIN} system/Patient.rus?_id=${idOf(b)}`);
      const hidden = await mergeOf(a, b, [], narrow);
      expectRefusal(hidden, 404, 'not-found');
      expect(hidden.text.replaceAll(a, 'Patient/none')).toBe((await mergeOf('Patient/none', b, [], narrow)).text);
    });
  });

  describe(UNDO, () => {
    it('restores both, and what referred, once', async () => {
      const [a, b] = await twoPatients({ gender: 'male', meta: { tag: [{ code: 't' }] } });
      const refers = await observation(a);
      const paths = [a, b, refers];
      const contents = async () =>
        Promise.all(
          paths.map(async (path) => {
            const { meta, ...rest } = await read(path);
            return { ...rest, tag: meta.tag };
          }),
        );
      const before = await contents();
      partsOf(await mergeOf(a, b));
      const answer = await undo(a, b);
      expect(answer.status, answer.text).toBe(200);
      expect(answer.text).toContain('3 resources were restored');
      expect(await contents()).toEqual(before);
      for (const path of paths) expect(await versionOf(path)).toBe('3');
      expectRefusal(await undo(a, b), 409, 'version-conflict');
      expectRefusal(await undo(b, a), 404, 'not-found');
      // They can be merged again, and that be undone.
      partsOf(await mergeOf(a, b));
      expect((await undo(a, b)).status).toBe(200);
    });

    it('is refused whole where a patient or what referred was changed or deleted since', async () => {
      for (const [which, method, status] of [
        [0, 'PUT', 409],
        [1, 'PUT', 409],
        [2, 'PUT', 409],
        [0, 'DELETE', 410],
      ] as const) {
        const [a, b] = await twoPatients();
        const paths = [a, b, await observation(a)];
        partsOf(await mergeOf(a, b));
        const changed = await read(paths[which]!);
        expect((await server.all.send(method, `/${paths[which]}`, method === 'PUT' ? { ...changed, language: 'en' } : undefined)).status).toBe(200); // prettier-ignore
        expectRefusal(await undo(a, b), status, status === 409 ? 'version-conflict' : 'deleted', paths[which]!);
        for (const path of paths.filter((_, i) => i !== which)) expect(await versionOf(path)).toBe('2');
      }
    });

    it('trusts only what the server recorded itself', async () => {
      const [a, b] = await twoPatients();
      const forged = (of: Body, target: number, source: number) => ({
        ...of,
        target: [`${b}/_history/${target}`, `${a}/_history/${source}`].map((reference) => ({ reference })),
      });
      const lifecycle = 'http://terminology.hl7.org/CodeSystem/iso-21089-lifecycle';
      const agent = [{ who: { display: 'x' } }];
      const own = { resourceType: 'Provenance', id: word(), agent, activity: { coding: [{ system: lifecycle, code: 'merge' }] } }; // prettier-ignore
      await put(forged(own, 1, 1));
      expectRefusal(await undo(a, b), 404, 'not-found');

      partsOf(await mergeOf(a, b));
      const find = `Provenance?target=${b}&activity=merge&signature-type=1.2.840.10065.1.12.1.14`;
      const [{ resource: record }] = (await read(find)).entry;
      // What a merge makes of a target is not known exactly: this version could be it.
      await put({ ...(await read(b)), language: 'en' });
      await put(forged(own, 3, 2));
      expectRefusal(await undo(a, b), 409, 'version-conflict', 'version 2 that the undo is about');
      await put(forged({ ...record, id: own.id }, 3, 2));
      expectRefusal(await undo(a, b), 409, 'version-conflict', 'version 2 that the undo is about');
      await put(forged(record, 3, 2));
      expectRefusal(await undo(a, b), 409, 'version-conflict', 'version 2 that the undo is about');
      expect(await read(b)).toMatchObject({ language: 'en', meta: { versionId: '3' } });
    });

    it('takes the last merge, whichever record was updated last', async () => {
      const [a, b] = await twoPatients();
      partsOf(await mergeOf(a, b));
      const [{ resource: first }] = (await read(`Provenance?target=${b}`)).entry;
      expect((await undo(a, b)).status).toBe(200);
      partsOf(await mergeOf(a, b));
      await put({ ...first, language: 'en' });
      const answer = await undo(a, b);
      expect(answer.status, answer.text).toBe(200);
      expect(answer.text).not.toContain(first.id);
    });

    it('needs to update what it restores', async () => {
      const [a, b] = await twoPatients();
      const refers = await observation(a);
      partsOf(await mergeOf(a, b));
      for (const [scopes, status] of [
        ['system/*.cruds', 403],
        [`${ADMIN} system/Patient.r system/Observation.u`, 403],
        [`${ADMIN} system/Patient.ru`, 403],
        [`${ADMIN} system/Patient.ru system/Observation.u?_tag=none`, 403],
        [`${ADMIN} system/Patient.ru?_tag=none system/Observation.u`, 404],
        [`${ADMIN} system/Patient.ru system/Observation.u`, 200],
      ] as const) {
        const answer = await undo(a, b, server.as(scopes));
        expect(answer.status, `${scopes} ${answer.text}`).toBe(status);
        if (status !== 200) expect(answer.text).not.toContain(refers);
      }
    });
  });

  it('leaves no defects', () => expect(server.defects).toEqual([]));
}
