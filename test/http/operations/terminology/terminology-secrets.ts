import { beforeAll, describe, expect, it } from 'vitest';

import type { Store } from '../../../../runtime/store/store.js';
import { scopedServer } from '../../auth/scoped.js';
import type { Answer } from '../../server.js';

const BASE = 'http://s.example';
const OPEN = `${BASE}/open`;

/** May see what is active: what is named "secret" is a draft, and what is named "nosuch" was never there. */
const SCOPES = ['ValueSet', 'CodeSystem', 'ConceptMap'].map((type) => `system/${type}.rs?status=active`).join(' ');
const TOKEN = `${SCOPES} system/Observation.rs`;
const NAMES = ['secret', 'nosuch'] as const;

const uri = (name: string, valueUri: string) => ({ name, valueUri });
const inline = (include: object) => ({ name: 'valueSet', resource: { resourceType: 'ValueSet', status: 'active', compose: { include: [include] } } }); // prettier-ignore

/** Requests about X, with the parameters of a POST. */
const QUESTIONS: readonly (readonly [path: string, post?: readonly object[]])[] = [
  [`/ValueSet/$expand?url=${BASE}/vs/X`],
  [`/ValueSet/$expand?url=${BASE}/vs/X&date=2001`],
  ['/ValueSet/vs-X/$expand'],
  [`/ValueSet/$expand?url=${BASE}/vs/imports-X`],
  [`/ValueSet/$expand?url=${BASE}/vs/of-X`],
  [`/ValueSet/$expand?url=${OPEN}/vs&useSupplement=${BASE}/X`],
  [`/ValueSet/$expand?url=${encodeURIComponent(`${BASE}/X?fhir_vs`)}`],
  [`/ValueSet/$expand?url=${BASE}/X`],
  ['/ValueSet/$expand', [inline({ valueSet: [`${BASE}/vs/X`] })]],
  ['/ValueSet/$expand', [inline({ system: `${BASE}/X` })]],
  ['/ValueSet/$expand', [inline({ system: OPEN, valueSet: [`${BASE}/vs/X`] })]],
  [`/ValueSet/$validate-code?url=${BASE}/vs/X&system=${OPEN}&code=a`],
  [`/ValueSet/$validate-code?url=${BASE}/vs/imports-X&system=${OPEN}&code=a`],
  [`/ValueSet/$validate-code?url=${BASE}/vs/of-X&system=${BASE}/X&code=a`],
  [`/ValueSet/$validate-code?url=${OPEN}/vs&system=${BASE}/X&code=a`],
  [`/CodeSystem/$validate-code?url=${BASE}/X&code=a`],
  ['/CodeSystem/cs-X/$validate-code?code=a'],
  [`/CodeSystem/$lookup?system=${BASE}/X&code=a`],
  [`/CodeSystem/$lookup?system=${BASE}/X&code=a&date=2001`],
  [`/CodeSystem/$subsumes?system=${BASE}/X&codeA=a&codeB=a`],
  ['/CodeSystem/$find-matches', [uri('system', `${BASE}/X`), { name: 'exact', valueBoolean: true }, { name: 'property', part: [{ name: 'code', valueCode: 'code' }, { name: 'value', valueCode: 'a' }] }]], // prettier-ignore
  [`/ConceptMap/$translate?url=${BASE}/map/X&system=${OPEN}&code=a`],
  [`/ConceptMap/$translate?url=${BASE}/map/via-X&system=${OPEN}&code=a`],
  [`/ConceptMap/$translate?url=${BASE}/map/set-X&system=${OPEN}&code=a`],
  [`/ConceptMap/$translate?system=${BASE}/X&code=a`],
  [`/ConceptMap/$translate?url=${OPEN}/map&system=${OPEN}&code=a&sourceScope=${BASE}/vs/X`],
  ['/$closure', [{ name: 'name', valueString: 'mine' }, { name: 'concept', valueCoding: { system: `${BASE}/X`, code: 'a' } }]], // prettier-ignore
  [`/Observation?code:in=${BASE}/vs/X`],
  ['/Observation?code:in=ValueSet/vs-X'],
  [`/Observation?code:in=${BASE}/vs/imports-X`],
  [`/Observation?code:below=${BASE}/X|a`],
];

/** A token never learns of a CodeSystem, ValueSet or ConceptMap that it may not see, whatever refers to it. */
export function terminologySecrets(store: Store): void {
  const server = scopedServer(store);
  const put = async (resource: { resourceType: string; id: string; [name: string]: unknown }): Promise<void> => {
    const answer = await server.all.send('PUT', `/${resource.resourceType}/${resource.id}`, resource);
    expect(answer.status, answer.text).toBeLessThan(300);
  };
  const system = (id: string, url: string, status: string) => put({ resourceType: 'CodeSystem', id, url, status, content: 'complete', concept: [{ code: 'a', display: 'A' }] }); // prettier-ignore
  const valueSet = (id: string, url: string, include: object, status = 'active') => put({ resourceType: 'ValueSet', id, url, status, compose: { include: [include] } }); // prettier-ignore
  const map = (id: string, url: string, group: object, status = 'active') => put({ resourceType: 'ConceptMap', id, url, status, group: [{ target: 't:t', ...group }] }); // prettier-ignore
  const ask = (
    by: Pick<typeof server, 'send'>,
    name: string,
    [path, parameter]: (typeof QUESTIONS)[number],
  ): Promise<Answer> => {
    // prettier-ignore
    const named = (text: string): string => text.replaceAll('X', name);
    if (parameter === undefined) return by.send('GET', named(path));
    return by.send('POST', path, JSON.parse(named(JSON.stringify({ resourceType: 'Parameters', parameter }))));
  };
  /** What a client sees, without what differs between any two answers. */
  const seen = ({ status, text }: Answer): string => `${status} ${text.replaceAll('secret', 'nosuch').replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|\d{4}-\d\d-\d\dT[\d:.]+Z/g, '')}`; // prettier-ignore

  beforeAll(async () => {
    await system('open', OPEN, 'active');
    await valueSet('open', `${OPEN}/vs`, { system: OPEN });
    await map('open', `${OPEN}/map`, { source: OPEN, element: [{ code: 'a', target: [{ code: 'A', relationship: 'equivalent' }] }] }); // prettier-ignore
    await system('cs-secret', `${BASE}/secret`, 'draft');
    await valueSet('vs-secret', `${BASE}/vs/secret`, { system: OPEN }, 'draft');
    await map('map-secret', `${BASE}/map/secret`, { source: `${BASE}/secret`, element: [{ code: 'a', target: [{ code: 'A', relationship: 'equivalent' }] }] }, 'draft'); // prettier-ignore
    for (const name of NAMES) {
      await valueSet(`imports-${name}`, `${BASE}/vs/imports-${name}`, { valueSet: [`${BASE}/vs/${name}`] });
      await valueSet(`of-${name}`, `${BASE}/vs/of-${name}`, { system: `${BASE}/${name}` });
      await map(`via-${name}`, `${BASE}/map/via-${name}`, { source: OPEN, element: [{ code: 'x', noMap: true }], unmapped: { mode: 'other-map', otherMap: `${BASE}/map/${name}` } }); // prettier-ignore
      await map(`set-${name}`, `${BASE}/map/set-${name}`, { source: OPEN, element: [{ valueSet: `${BASE}/vs/${name}`, target: [{ code: 'A', relationship: 'equivalent' }] }] }); // prettier-ignore
    }
    await server.as(TOKEN).send('POST', '/$closure', { resourceType: 'Parameters', parameter: [{ name: 'name', valueString: 'mine' }] }); // prettier-ignore
  });

  describe('what a token may not see is answered like what was never there', () => {
    it.each(QUESTIONS.map((each) => [`${each[0]} ${JSON.stringify(each[1] ?? '')}`, each] as const))(
      '%s',
      async (_name, each) => {
        // prettier-ignore
        // What another client has looked at is in memory then.
        await ask(server.all, 'secret', each);
        const [hidden, absent] = [
          await ask(server.as(TOKEN), 'secret', each),
          await ask(server.as(TOKEN), 'nosuch', each),
        ];
        expect(seen(hidden)).toBe(seen(absent));
        expect(hidden.status).toBeLessThan(500);
      },
    );
  });

  it('the client that may see it finds it', async () => {
    const expanded = await server.all.send('GET', `/ValueSet/$expand?url=${BASE}/vs/imports-secret`);
    expect(expanded.json().expansion.total).toBe(1);
    const looked = await server.all.send('GET', `/CodeSystem/$lookup?system=${BASE}/secret&code=a`);
    expect(looked.status).toBe(200);
  });

  it('`r` or `s` on the type of the URL is enough, and needed', async () => {
    for (const letter of ['r', 's']) {
      const token = server.as(`system/ValueSet.${letter} system/CodeSystem.${letter}`);
      expect((await token.send('GET', `/ValueSet/$expand?url=${OPEN}/vs`)).json().expansion?.total, letter).toBe(1);
      expect((await token.send('GET', '/ValueSet/open/$expand')).json().expansion?.total, letter).toBe(1);
      expect((await token.send('GET', '/ValueSet/none/$expand')).status, letter).toBe(404);
      expect((await token.send('GET', '/CodeSystem/open/$lookup?code=a')).status, letter).toBe(200);
      expect((await token.send('GET', `/ConceptMap/$translate?url=${OPEN}/map&system=${OPEN}&code=a`)).status).toBe(
        403,
      );
    }
    const other = server.as('system/CodeSystem.rs');
    expect((await other.send('GET', `/ValueSet/$expand?url=${OPEN}/vs`)).status).toBe(403);
    expect((await other.send('GET', `/CodeSystem/$lookup?system=${OPEN}&code=a`)).status).toBe(200);
  });

  it('leaves no defects', () => expect(server.defects).toEqual([]));
}
