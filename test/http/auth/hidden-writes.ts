import { describe, expect, it } from 'vitest';

import type { Store } from '../../../runtime/store/store.js';
import { word } from '../bundles/bundle-server.js';
import { codeOf, type Answer } from '../server.js';
import { EVERYTHING, LAB, observed, serveWith } from './support.js';

const NOTE = [{ op: 'add', path: '/note', value: [{ text: 'more' }] }];
const QUESTION = [{ op: 'test', path: '/status', value: 'final' }];

/** How an id is not to be seen. */
const STATES = ['there, outside', 'deleted, outside', 'never there'] as const;
type State = (typeof STATES)[number];

const CONDITIONS: readonly Readonly<Record<string, string>>[] = [
  {},
  { 'if-match': 'W/"1"' },
  { 'if-match': 'W/"7"' },
  { 'if-match': '*' },
  { 'if-match': 'nonsense' },
  { 'if-none-match': '*' },
  { 'if-none-match': 'W/"1"' },
  { 'if-none-match': 'nonsense' },
  { 'if-unmodified-since': 'Thu, 01 Jan 2015 00:00:00 GMT' },
];

/** Methods by id and by criteria, with content within the constraint or outside; what is answered whatever is there. */
const FORMS: readonly {
  readonly name: string;
  readonly method: string;
  readonly by: 'id' | 'criteria' | 'criteria and id';
  readonly body?: 'laboratory' | 'vital-signs' | object;
  readonly answers: (condition: Readonly<Record<string, string>>) => number | 'creates';
}[] = [
  { name: 'PUT of what lies within', method: 'PUT', by: 'id', body: 'laboratory', answers: (each) => malformed(each) ?? (each['if-match'] ? 404 : 'creates') }, // prettier-ignore
  { name: 'PUT of what lies outside', method: 'PUT', by: 'id', body: 'vital-signs', answers: (each) => malformed(each) ?? 403 }, // prettier-ignore
  { name: 'PATCH', method: 'PATCH', by: 'id', body: NOTE, answers: (each) => malformed(each) ?? 404 },
  { name: 'PATCH that asks', method: 'PATCH', by: 'id', body: QUESTION, answers: (each) => malformed(each) ?? 404 },
  { name: 'DELETE', method: 'DELETE', by: 'id', answers: (each) => malformed(each) ?? 404 },
  { name: 'PUT by criteria, without id', method: 'PUT', by: 'criteria', body: 'vital-signs', answers: (each) => malformed(each) ?? (each['if-match'] ? 412 : 403) }, // prettier-ignore
  { name: 'PUT by criteria of what lies within', method: 'PUT', by: 'criteria and id', body: 'laboratory', answers: (each) => malformed(each) ?? (each['if-match'] ? 412 : 'creates') }, // prettier-ignore
  { name: 'PUT by criteria of what lies outside', method: 'PUT', by: 'criteria and id', body: 'vital-signs', answers: (each) => malformed(each) ?? (each['if-match'] ? 412 : 403) }, // prettier-ignore
  { name: 'PATCH by criteria', method: 'PATCH', by: 'criteria', body: NOTE, answers: (each) => malformed(each) ?? (each['if-match'] ? 412 : 404) }, // prettier-ignore
  { name: 'DELETE by criteria', method: 'DELETE', by: 'criteria', answers: (each) => malformed(each) ?? (each['if-match'] ? 412 : 200) }, // prettier-ignore
];

function malformed(condition: Readonly<Record<string, string>>): number | undefined {
  return Object.values(condition).includes('nonsense') ? 400 : undefined;
}

/** All that an answer tells, but for the names that the client chose and what differs with each. */
const told = ({ status, text, headers }: Answer, ...own: string[]): unknown[] => [
  status,
  own.reduce((left, name) => left.replaceAll(name, 'X'), text),
  Object.entries(headers).filter(([name]) => !['date', 'x-request-id', 'content-length'].includes(name)),
];

/** Between what lies outside a constraint, what was deleted there and what never was no write may tell. */
export function hiddenWrites(store: Store): void {
  const server = serveWith(store);
  const admin = server.as(EVERYTHING);
  const many = serveWith(store, { deletesMultiple: true });
  const lab = server.as(`system/Observation.cruds?${LAB}`);

  /** @returns the id, and an identifier that no other resource has */
  const arrange = async (state: State): Promise<[id: string, value: string]> => {
    const [id, value] = [word(), word()];
    if (state === 'never there') return [id, value];
    const content = observed('vital-signs', { id, identifier: [{ value }] });
    expect((await admin.send('PUT', `/Observation/${id}`, content)).status).toBe(201);
    if (state === 'deleted, outside') await admin.send('DELETE', `/Observation/${id}`);
    return [id, value];
  };
  const countOf = async (): Promise<number> =>
    (await admin.send('GET', '/Observation/_history?_summary=count')).json().total;

  describe.each(FORMS)('$name', ({ method, by, body, answers }) => {
    it.each(CONDITIONS.map((each) => [JSON.stringify(each), each] as const))('%s', async (_, condition) => {
      const wanted = answers(condition);
      const seen: unknown[] = [];
      for (const state of STATES) {
        const [id, value] = await arrange(state);
        const sent =
          typeof body === 'string'
            ? observed(body, { identifier: [{ value }], ...(by !== 'criteria' && { id }) })
            : body;
        const path = by === 'id' ? `/Observation/${id}` : `/Observation?identifier=${value}`;
        const type = method === 'PATCH' ? { 'content-type': 'application/json-patch+json' } : {};
        const before = await countOf();
        const answer = await lab.send(method, path, sent, { ...type, ...condition });
        // What nobody has is created; what is taken cannot be, and that alone a PUT has to tell.
        const status = wanted !== 'creates' ? wanted : state === 'never there' ? 201 : 404;
        expect(answer.status, `${state}: ${answer.text}`).toBe(status);
        expect(await countOf(), state).toBe(before + (status === 201 ? 1 : 0));
        if (status !== 201) seen.push(told(answer, id, value));
      }
      for (const each of seen) expect(each).toEqual(seen[0]);
    });
  });

  it('several are deleted by criteria only as far as they lie within, and nothing is told of others', async () => {
    const counts = [];
    for (const others of [0, 2]) {
      const value = word();
      const make = async (category: 'laboratory' | 'vital-signs'): Promise<string> => {
        const id = word();
        await admin.send('PUT', `/Observation/${id}`, observed(category, { id, identifier: [{ value }] }));
        return id;
      };
      const own = [await make('laboratory'), await make('laboratory')];
      const hidden = await Promise.all(Array.from({ length: others }, () => make('vital-signs')));
      const path = `/Observation?identifier=${value}`;
      // Who sees more than it may delete deletes nothing where it would have to leave some.
      const wide = await many.as(`system/Observation.s system/Observation.d?${LAB}`).send('DELETE', path);
      if (others > 0) expect([wide.status, codeOf(wide)]).toEqual([404, 'not-found']);
      else for (const id of own) await admin.send('PUT', `/Observation/${id}`, observed('laboratory', { id, identifier: [{ value }] })); // prettier-ignore
      const answer = await many.as(`system/Observation.ds?${LAB}`).send('DELETE', path);
      expect(answer.status).toBe(200);
      counts.push([...own, ...hidden, value].reduce((text, name) => text.replaceAll(name, 'X'), answer.text));
      for (const id of hidden) expect((await admin.send('GET', `/Observation/${id}`)).status).toBe(200);
      for (const id of own) expect((await admin.send('GET', `/Observation/${id}`)).status).toBe(410);
    }
    expect(counts[1]).toBe(counts[0]);
  });
}
