import { beforeAll, describe, expect, it } from 'vitest';

import type { Store } from '../../../runtime/store/store.js';
import { scopedServer } from '../auth/scoped.js';
import { batch, responsesOf } from '../bundles/bundle-server.js';
import type { Answer } from '../server.js';
import { expectRefusal } from '../write-server.js';

const CS = 'http://closure.example/cs';
const LOOSE = 'http://closure.example/loose';

interface Target {
  readonly code: string;
  readonly relationship: string;
}

/** `$closure` (conceptmap-operation-closure.html, terminology-service.html#closure) */
export function closureTables(store: Store): void {
  const server = scopedServer(store);
  const put = async (body: { resourceType: string; id: string; [name: string]: unknown }): Promise<void> => {
    const answer = await server.all.send('PUT', `/${body.resourceType}/${body.id}`, body);
    expect(answer.status, answer.text).toBeLessThan(300);
  };
  const parametersOf = (name: string, codes: readonly string[], version?: string, system = CS) => ({
    resourceType: 'Parameters',
    parameter: [
      { name: 'name', valueString: name },
      ...codes.map((code) => ({ name: 'concept', valueCoding: { system, code } })),
      ...(version === undefined ? [] : [{ name: 'version', valueString: version }]),
    ],
  });
  const closure = (name: string, codes: readonly string[] = [], version?: string, system?: string) =>
    server.all.send('POST', '/ConceptMap/$closure', parametersOf(name, codes, version, system));
  const system = (id: string, url: string, more: object = {}) => ({
    ...{ resourceType: 'CodeSystem', id, url, status: 'active', content: 'complete', caseSensitive: true },
    concept: [{ code: 'a', concept: [{ code: 'b', concept: [{ code: 'c' }] }, { code: 'd' }] }, { code: 'z' }],
    ...more,
  });
  /** `b<a` where a subsumes b, `x=y` where both mean the same. */
  const entriesOf = (answer: Answer): string[] => {
    expect(answer.status, answer.text).toBe(200);
    const groups = (answer.json().group ?? []) as { element: { code: string; target: Target[] }[] }[];
    const signs: Record<string, string> = { equivalent: '=', 'source-is-narrower-than-target': '<' };
    return groups
      .flatMap(({ element }) =>
        element.flatMap((one) => one.target.map((each) => `${one.code}${signs[each.relationship]}${each.code}`)),
      )
      .sort();
  };
  const versionOf = (answer: Answer): string => answer.json().version;

  beforeAll(async () => {
    await put(system('cs', CS));
    await put(system('loose', LOOSE, { caseSensitive: false }));
    await put(system('grouped', 'http://closure.example/grouped', { hierarchyMeaning: 'grouped-by' }));
  });

  it('a name alone begins a table: an empty ConceptMap of version 0', async () => {
    const answer = await closure('begin');
    expect(answer.status, answer.text).toBe(200);
    expect(answer.json()).toMatchObject({ resourceType: 'ConceptMap', version: '0', status: 'active', name: 'Closure Table begin Creation' }); // prettier-ignore
    expect(answer.json().group).toBeUndefined();
  });

  it('concepts bring what is new, and each answer has a version of its own', async () => {
    await closure('add');
    const first = await closure('add', ['c']);
    expect([entriesOf(first), versionOf(first)]).toEqual([[], '1']);
    const second = await closure('add', ['a', 'z']);
    expect([entriesOf(second), versionOf(second)]).toEqual([['c<a'], '2']);
    expect(second.json().group[0]).toMatchObject({ source: CS, target: CS });
    const third = await closure('add', ['b', 'd']);
    expect(entriesOf(third)).toEqual(['b<a', 'c<b', 'd<a']);
    const again = await closure('add', ['b']);
    expect([entriesOf(again), versionOf(again)]).toEqual([[], '4']);
  });

  it('a version asks for what came after it; 0 for all', async () => {
    await closure('replay');
    await closure('replay', ['a', 'c']);
    await closure('replay', ['b']);
    expect(entriesOf(await closure('replay', [], '0'))).toEqual(['b<a', 'c<a', 'c<b']);
    const after = await closure('replay', [], '1');
    expect([entriesOf(after), versionOf(after)]).toEqual([['b<a', 'c<b'], '2']);
    expect(entriesOf(await closure('replay', [], '2'))).toEqual([]);
    expectRefusal(await closure('replay', [], '3'), 400, 'parameter-invalid', 'version');
    expectRefusal(await closure('replay', [], 'x'), 400, 'parameter-invalid', 'version');
  });

  it('a name alone begins a table anew', async () => {
    await closure('anew');
    await closure('anew', ['a', 'b']);
    expect(versionOf(await closure('anew'))).toBe('0');
    expect(entriesOf(await closure('anew', [], '0'))).toEqual([]);
    expect(entriesOf(await closure('anew', ['b']))).toEqual([]);
  });

  it('codes with the same meaning are equivalent; hierarchies that group subsume nothing; rules have no hierarchy', async () => {
    await closure('same');
    expect(entriesOf(await closure('same', ['b', 'B', 'A'], undefined, LOOSE))).toEqual(['B<A', 'B=b', 'b<A']);
    expect(entriesOf(await closure('same', ['a', 'b'], undefined, 'http://closure.example/grouped'))).toEqual([]);
    expect(entriesOf(await closure('same', ['kg', 'g'], undefined, 'http://unitsofmeasure.org'))).toEqual([]);
  });

  it('what was not begun is 404, a changed code system 422, and a table that is begun anew works', async () => {
    expectRefusal(await closure('never', ['a']), 404, 'closure-unknown', 'never');
    expectRefusal(await closure('never', [], '0'), 404, 'closure-unknown', 'never');
    await put(system('changing', 'http://closure.example/changing'));
    const add = (code: string) => closure('changed', [code], undefined, 'http://closure.example/changing');
    await closure('changed');
    expect((await add('a')).status).toBe(200);
    await put(system('changing', 'http://closure.example/changing', { version: '2' }));
    await expect.poll(async () => (await add('b')).status).toBe(422);
    expectRefusal(await add('b'), 422, 'closure-outdated', 'must be reinitialized');
    expectRefusal(await closure('changed', [], '0'), 422, 'closure-outdated', 'must be reinitialized');
    await closure('changed');
    expect((await add('b')).status).toBe(200);
  });

  it('refuses what is wrong', async () => {
    expectRefusal(await closure('invalid-id!'), 400, 'parameter-invalid', 'invalid closure name');
    expectRefusal(await server.all.send('POST', '/$closure', { resourceType: 'Parameters' }), 400, 'parameter-invalid', 'name'); // prettier-ignore
    await closure('wrong');
    expectRefusal(await closure('wrong', ['nope']), 422, 'closure-concept', 'nope');
    expectRefusal(
      await closure('wrong', ['a'], undefined, 'http://unknown.example'),
      422,
      'closure-concept',
      'unknown',
    );
    expectRefusal(await closure('wrong', ['nope'], undefined, 'http://unitsofmeasure.org'), 422, 'closure-concept');
    expectRefusal(await closure('wrong', ['a'], '0'), 400, 'parameter-invalid', 'not both');
    const plain = { resourceType: 'Parameters', parameter: [{ name: 'name', valueString: 'wrong' }, { name: 'concept', valueCoding: { code: 'a' } }] }; // prettier-ignore
    expectRefusal(await server.all.send('POST', '/$closure', plain), 400, 'parameter-invalid', 'system');
    expect((await server.all.send('GET', '/ConceptMap/$closure?name=x')).status).toBe(405);
  });

  it('at the level of the system, in XML, in a batch; not in a transaction', async () => {
    expect((await server.all.send('POST', '/$closure', parametersOf('levels', []))).json().version).toBe('0');
    const xml = await server.all.send('POST', '/$closure', parametersOf('levels', ['a', 'b']), { accept: 'application/fhir+xml' }); // prettier-ignore
    expect(xml.text).toContain('<relationship value="source-is-narrower-than-target"/>');
    const entry = { request: { method: 'POST', url: '$closure' }, resource: parametersOf('levels', ['c']) };
    const [response] = responsesOf(await server.all.send('POST', '/', batch(entry)));
    expect(response.status).toBe('200 OK');
    const transaction = { ...batch(entry), type: 'transaction' };
    expect((await server.all.send('POST', '/', transaction)).status).toBe(400);
  });

  it('concepts that come at once are all there', async () => {
    await closure('once');
    const answers = await Promise.all(['a', 'b', 'c', 'd', 'z'].map((code) => closure('once', [code])));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(answers.map(versionOf).sort()).toEqual(['1', '2', '3', '4', '5']);
    expect(entriesOf(await closure('once', [], '0'))).toEqual(['b<a', 'c<a', 'c<b', 'd<a']);
  });

  describe('scopes', () => {
    const asClient = (scopes: string, id: string, ...given: Parameters<typeof parametersOf>) =>
      server.as(scopes, id).send('POST', '/$closure', parametersOf(...given));
    it('needs r or s on ConceptMap, and sees the code systems of the token alone', async () => {
      expect((await asClient('system/Patient.rs', 'one', 'scoped', [])).status).toBe(403);
      expect((await asClient('system/ConceptMap.r', 'one', 'scoped', [])).status).toBe(200);
      expectRefusal(await asClient('system/ConceptMap.s', 'one', 'scoped', ['a']), 422, 'closure-concept', CS);
      expect((await asClient('system/ConceptMap.r system/CodeSystem.r', 'one', 'scoped', ['a'])).status).toBe(200);
    });
    it('each client has tables of its own', async () => {
      expectRefusal(await asClient('system/*.rs', 'other', 'scoped', ['a']), 404, 'closure-unknown', 'scoped');
    });
  });

  it('leaves no defects', () => expect(server.defects).toEqual([]));
}
