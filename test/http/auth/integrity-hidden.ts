import { beforeAll, describe, expect, it } from 'vitest';

import { OWN } from '../../toy/own.js';
import { tables } from '../../../generated/tables.js';
import { createIntegrity } from '../../../runtime/core/references/integrity.js';
import type { Store } from '../../../runtime/store/store.js';
import { entry, transaction } from '../bundles/bundle-server.js';
import type { Answer } from '../server.js';
import { expectRefusal, word } from '../write-server.js';
import { EVERYTHING, observed, serveWith } from './support.js';

/** What references have to lead to tells nothing of what the token does not see. */
export function hiddenReferences(store: Store): void {
  const integrity = createIntegrity({ mode: 'enforced', paths: {} }, { tables, own: OWN, isShipped: () => false });
  const server = serveWith(store, { integrity });
  const all = server.as(EVERYTHING);
  const ids = { seen: word(), hidden: word(), none: word() };
  const of = (id: string): object => observed('laboratory', { subject: { reference: `Patient/${id}` } });
  const without = (answer: Answer, id: string): string => answer.text.replaceAll(id, 'ID');

  beforeAll(async () => {
    for (const [id, gender] of [
      [ids.seen, 'male'],
      [ids.hidden, 'female'],
    ]) {
      const answer = await all.send('PUT', `/Patient/${id}`, { resourceType: 'Patient', id, gender });
      expect(answer.status, answer.text).toBe(201);
    }
  });

  describe.each([
    ['what a constraint leaves out', 'system/Observation.cud system/Patient.r?gender=male'],
    ['what a constraint on searches leaves out', 'system/Observation.cud system/Patient.s?gender=male'],
  ])('%s', (_, scopes) => {
    const client = server.as(scopes);

    it('is missing, with the same answer as what never was', async () => {
      expect((await client.send('POST', '/Observation', of(ids.seen))).status).toBe(201);
      const [hidden, none] = [ids.hidden, ids.none];
      for (const write of [
        (id: string) => client.send('POST', '/Observation', of(id)),
        (id: string) => client.send('PUT', '/Observation/new', { ...of(id), id: 'new' }),
        (id: string) => client.send('POST', '', transaction(entry('POST', 'Observation', of(id)))),
      ]) {
        const answer = await write(hidden);
        expectRefusal(answer, 409, 'reference-dangling', hidden);
        expect(without(answer, hidden)).toBe(without(await write(none), none));
      }
    });
  });

  it('of many references those are named that lead to what is hidden, or nowhere', async () => {
    const prefix = word();
    const isMale = (n: number): boolean => n % 7 !== 0 && n !== 19 && n !== 20;
    const put = (n: number, gender: string) =>
      entry('PUT', `Patient/${prefix}${n}`, { resourceType: 'Patient', id: `${prefix}${n}`, gender });
    const numbers = Array.from({ length: 45 }, (_, n) => n);
    const first = numbers.slice(0, 44).map((n) => put(n, isMale(n) ? 'male' : 'female'));
    expect((await all.send('POST', '', transaction(...first))).status).toBe(200);
    // Their first versions are as they were.
    expect((await all.send('POST', '', transaction(put(7, 'male'), put(8, 'female')))).status).toBe(200);
    const client = server.as('system/Group.c system/Patient.r?gender=male');
    const members = (suffix: (n: number) => string): object => ({
      ...{ resourceType: 'Group', type: 'person', membership: 'enumerated' },
      member: numbers.map((n) => ({ entity: { reference: `Patient/${prefix}${n}${suffix(n)}` } })),
    });
    const missed = async (suffix: (n: number) => string): Promise<readonly string[]> => {
      const answer = await client.send('POST', '/Group', members(suffix));
      expect(answer.status, answer.text).toBe(409);
      return answer.json().issue.map((each: { expression: readonly string[] }) => each.expression[0]);
    };
    const named = (isMissed: (n: number) => boolean): readonly string[] =>
      numbers.filter(isMissed).map((n) => `Group.member[${n}].entity`);
    const isNowMale = (n: number): boolean => n < 44 && (n === 7 || (n !== 8 && isMale(n)));
    expect(await missed(() => '')).toEqual(named((n) => !isNowMale(n)));
    const wasMale = (n: number): boolean => n < 44 && isMale(n);
    expect(await missed((n) => (n % 2 === 0 ? '' : '/_history/1'))).toEqual(
      named((n) => !(n % 2 === 0 ? isNowMale(n) : wasMale(n))),
    );
  });

  it('a type of which the token shows nothing is missing as a whole', async () => {
    const client = server.as('system/Observation.c system/Patient.c');
    for (const id of Object.values(ids))
      expectRefusal(await client.send('POST', '/Observation', of(id)), 409, 'reference-dangling', id);
    // Who may update all learns by that what is there.
    const writer = server.as('system/*.cu');
    for (const [name, status] of [
      ['seen', 201],
      ['hidden', 201],
      ['none', 409],
    ] as const)
      expect((await writer.send('POST', '/Observation', of(ids[name]))).status).toBe(status);
  });

  it('who may not read a resource learns nothing of its references by sending them', async () => {
    const id = word();
    const body = (subject: string, status = 'final'): object => ({ ...of(subject), id, status });
    expect((await all.send('PUT', `/Observation/${id}`, body(ids.hidden))).status).toBe(201);
    const patch = (subject: string) => [{ op: 'replace', path: '/subject/reference', value: `Patient/${subject}` }];
    const status = [{ op: 'replace', path: '/status', value: 'amended' }];
    const json = { 'content-type': 'application/json-patch+json' };
    const blind = server.as('system/Observation.u');
    const answers: string[] = [];
    for (const subject of [ids.hidden, ids.none]) {
      const put = await blind.send('PUT', `/Observation/${id}`, body(subject, 'corrected'));
      const patched = await blind.send('PATCH', `/Observation/${id}`, [...patch(subject), ...status], json);
      expectRefusal(put, 409, 'reference-dangling', subject);
      expectRefusal(patched, 409, 'reference-dangling', subject);
      answers.push(without(put, subject) + without(patched, subject));
    }
    expect(answers[0]).toBe(answers[1]);
    expect((await blind.send('PATCH', `/Observation/${id}`, status, json)).status).toBe(200);
    const reader = server.as('system/Observation.ru');
    expect((await reader.send('PUT', `/Observation/${id}`, body(ids.hidden, 'corrected'))).status).toBe(200);
    expectRefusal(await reader.send('PUT', `/Observation/${id}`, body(ids.none)), 409, 'reference-dangling', ids.none);
  });

  it('who may not read a resource learns nothing of its references by sending them as they are', async () => {
    const id = word();
    const body = (subject: string): object => ({ ...of(subject), id });
    expect((await all.send('PUT', `/Observation/${id}`, body(ids.hidden))).status).toBe(201);
    const operation = (subject: string) => ({ op: 'replace', path: '/subject/reference', value: `Patient/${subject}` });
    const xml = (text: string, more = '') =>
      '<diff xmlns:f="http://hl7.org/fhir">' +
      `<replace sel="f:Observation/f:subject/f:reference/@value">${text}</replace>${more}</diff>`;
    const amended = '<replace sel="f:Observation/f:status/@value">amended</replace>';
    const blind = server.as('system/Observation.u');
    const send = (type: string, patch: unknown) =>
      blind.send('PATCH', `/Observation/${id}`, patch, { 'content-type': `application/${type}-patch+json`.replace('xml-patch+json', 'xml-patch+xml') }); // prettier-ignore
    const ways: readonly ((subject: string) => Promise<Answer>)[] = [
      (subject) => blind.send('PUT', `/Observation/${id}`, body(subject)),
      (subject) => blind.send('POST', '', transaction(entry('PUT', `Observation/${id}`, body(subject)))),
      (subject) => send('json', [operation(subject)]),
      (subject) => send('xml', xml(`Patient/${subject}`)),
      (subject) => send('xml', xml(`Patient&#47;${subject}`, amended)),
      (subject) => send('xml', xml(`Patient<![CDATA[/]]>${subject}`, amended)),
    ];
    for (const way of ways) {
      const [right, wrong] = [await way(ids.hidden), await way(ids.none)];
      expectRefusal(right, 409, 'reference-dangling', ids.hidden);
      expect(without(right, ids.hidden)).toBe(without(wrong, ids.none));
    }
    // What leads somewhere, and who may read, go on as ever.
    expect((await all.send('PUT', `/Observation/${id}`, body(ids.seen))).status).toBe(200);
    const writer = server.as('system/Observation.u system/Patient.r');
    const same = await writer.send('PUT', `/Observation/${id}`, body(ids.seen));
    expect([same.status, same.headers['etag']]).toEqual([200, 'W/"2"']);
  });

  it('a publication finds its patient without scope on the type, as it does without integrity', async () => {
    const client = server.as('system/DocumentReference.c');
    const published = (subject: string): object => ({
      resourceType: 'DocumentReference',
      status: 'current',
      subject: { reference: subject },
      content: [{ attachment: { contentType: 'text/plain', data: 'eA==' } }],
    });
    const answer = await client.send('POST', '/DocumentReference', published(`Patient/${ids.seen}`));
    expect(answer.status, answer.text).toBe(201);
    const none = await client.send('POST', '/DocumentReference', published(`Patient/${ids.none}`));
    expectRefusal(none, 422, 'patient-unknown');
    const author = { ...published(`Patient/${ids.seen}`), author: [{ reference: `Patient/${ids.hidden}` }] };
    expectRefusal(await client.send('POST', '/DocumentReference', author), 409, 'reference-dangling', ids.hidden);
  });

  it('what a transaction writes itself is there', async () => {
    const client = server.as('system/*.c');
    const fullUrl = 'urn:uuid:8f6b4f5e-31fa-4a8a-9d0c-4c1d0b7c9b11';
    const both = transaction(
      { ...entry('POST', 'Patient', { resourceType: 'Patient' }), fullUrl },
      entry('POST', 'Observation', observed('laboratory', { subject: { reference: fullUrl } })),
    );
    expect((await client.send('POST', '', both)).status).toBe(200);
  });

  it('a refused deletion names whom the token shows, and counts no others', async () => {
    const id = word();
    await all.send('PUT', `/Patient/${id}`, { resourceType: 'Patient', id });
    const put = async (category: 'laboratory' | 'vital-signs'): Promise<string> => {
      const body = { ...observed(category, { subject: { reference: `Patient/${id}` } }), id: word() };
      const answer = await all.send('PUT', `/Observation/${body.id}`, body);
      expect(answer.status, answer.text).toBe(201);
      return `Observation/${body.id}`;
    };
    const [seen] = [await put('laboratory'), await put('vital-signs')];
    const lab = 'system/Observation.r?category=laboratory';
    const shown = await server.as(`system/Patient.d ${lab}`).send('DELETE', `/Patient/${id}`);
    expectRefusal(shown, 409, 'still-referred', `Patient/${id} is referred to by ${seen}; delete`);
    const blind = await server.as('system/Patient.d').send('DELETE', `/Patient/${id}`);
    expectRefusal(blind, 409, 'still-referred', `Patient/${id} is referred to by other resources; delete`);
  });
}
