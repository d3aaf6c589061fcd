import { describe, expect, it } from 'vitest';

import type { Store } from '../../../runtime/store/store.js';
import { batch, responsesOf, transaction, word } from '../bundles/bundle-server.js';
import { codeOf } from '../server.js';
import { neededBy } from './scoped.js';
import { EVERYTHING, LAB, observed, serveWith } from './support.js';

const JSON_PATCH = 'application/json-patch+json';
const XML_PATCH = 'application/xml-patch+xml';
const FHIR_JSON = 'application/fhir+json';

const byPath = (path: string, value = 'amended') => ({
  resourceType: 'Parameters',
  parameter: [
    {
      name: 'operation',
      part: [
        { name: 'type', valueCode: 'replace' },
        { name: 'path', valueString: path },
        { name: 'value', valueCode: value },
      ],
    },
  ],
});
const bySelector = (selector: string) =>
  `<diff xmlns:f="http://hl7.org/fhir"><replace sel="${selector}">amended</replace></diff>`;

/** Patches whose success answers a question about values. */
const ASKING: readonly (readonly [what: string, type: string, body: unknown])[] = [
  ['test', JSON_PATCH, [{ op: 'test', path: '/status', value: 'final' }]],
  ['copy', JSON_PATCH, [{ op: 'copy', from: '/status', path: '/language' }]],
  ['move', JSON_PATCH, [{ op: 'move', from: '/code/text', path: '/language' }]],
  ['where', FHIR_JSON, byPath("Observation.where(status = 'final').status")],
  ['iif', FHIR_JSON, byPath("iif(Observation.status = 'final', Observation.status, Observation.code)")],
  ['a condition', XML_PATCH, bySelector("/f:Observation/*[@value='final']/@value")],
  ['a condition of an attribute', XML_PATCH, bySelector("/f:Observation/f:status[@value='final']/@value")],
  [
    'a condition in other characters',
    XML_PATCH,
    bySelector('/f:Observation/f:status[@value&#61;&#39;final&#39;]/@value'),
  ],
];

/** Patches that name places alone. */
const PLAIN: readonly (readonly [what: string, type: string, body: unknown])[] = [
  ['replace', JSON_PATCH, [{ op: 'replace', path: '/status', value: 'amended' }]],
  ['add and remove', JSON_PATCH, [{ op: 'add', path: '/language', value: 'en' }, { op: 'remove', path: '/language' }]], // prettier-ignore
  ['a path', FHIR_JSON, byPath('Observation.status')],
  ['a position', FHIR_JSON, byPath('Observation.category[0].coding[0].code')],
  ['a selector', XML_PATCH, bySelector('/f:Observation/f:status[1]/@value')],
];

/** Patches are no way for who may only change a resource to find out what it holds. */
export function patchQuestions(store: Store): void {
  const server = serveWith(store);
  const admin = server.as(EVERYTHING);
  const seed = async (category: Parameters<typeof observed>[0] = 'laboratory'): Promise<string> => {
    const id = word();
    expect((await admin.send('PUT', `/Observation/${id}`, observed(category, { id }))).status).toBe(201);
    return `/Observation/${id}`;
  };

  describe.each(ASKING)('a patch that asks, by %s,', (_, type, body) => {
    const headers = { 'content-type': type };

    it('needs r or s beside u, whatever is there', async () => {
      const blind = server.as('system/Observation.cud');
      for (const path of [await seed(), `/Observation/${word()}`]) {
        const answer = await blind.send('PATCH', path, body, headers);
        expect([answer.status, neededBy(answer)]).toEqual([403, 'system/Observation.ru']);
      }
      for (const scopes of ['system/Observation.ru', 'system/Observation.us', 'system/*.cruds']) {
        // Applied or not, it is not refused for want of scopes.
        expect((await server.as(scopes).send('PATCH', await seed(), body, headers)).status, scopes).not.toBe(403);
      }
    });

    it('needs the resource to be one that is shown', async () => {
      const half = server.as(`system/Observation.u system/Observation.rs?${LAB}`);
      expect((await half.send('PATCH', await seed(), body, headers)).status).not.toBe(403);
      const path = await seed('vital-signs');
      const answer = await half.send('PATCH', path, body, headers);
      expect([answer.status, neededBy(answer)]).toEqual([403, 'system/Observation.ru']);
      expect((await admin.send('GET', path)).json().meta.versionId).toBe('1');
    });
  });

  it.each(PLAIN)('a patch that names places, by %s, needs u alone', async (_, type, body) => {
    const answer = await server.as('system/Observation.u').send('PATCH', await seed(), body, { 'content-type': type });
    expect(answer.status, answer.text).toBe(200);
  });

  it('in Bundles it is the same', async () => {
    const blind = server.as('system/Observation.u');
    const path = await seed();
    for (const [, type, body] of ASKING.filter(([, type]) => type !== XML_PATCH)) {
      const data = Buffer.from(JSON.stringify(body)).toString('base64');
      const resource = type === FHIR_JSON ? body : { resourceType: 'Binary', contentType: type, data };
      const entry = { request: { method: 'PATCH', url: path.slice(1) }, resource: resource as object };
      const alone = await blind.send('POST', '', batch(entry));
      expect(responsesOf(alone)[0].status).toBe('403 Forbidden');
      const whole = await blind.send('POST', '', transaction(entry));
      expect([whole.status, neededBy(whole)]).toEqual([403, 'system/Observation.ru']);
    }
  });

  it('one that fails says no more than that to who may not read', async () => {
    const path = await seed();
    const failing = [
      [{ op: 'remove', path: '/note' }],
      [{ op: 'replace', path: '/status', value: 7 }],
      [{ op: 'replace', path: '/id', value: 'other' }],
      [{ op: 'remove', path: '/code' }],
    ];
    const headers = { 'content-type': JSON_PATCH };
    const answers = [];
    for (const body of failing) {
      answers.push(await server.as('system/Observation.u').send('PATCH', path, body, headers));
    }
    const [first] = answers;
    expect([first!.status, codeOf(first!)]).toEqual([400, 'patch-target']);
    for (const { status, text } of answers) expect([status, text]).toEqual([400, first!.text]);
  });
}
