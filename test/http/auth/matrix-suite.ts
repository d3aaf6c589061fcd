import { beforeAll, describe, expect, it } from 'vitest';

import type { Store } from '../../../runtime/store/store.js';
import { batch, responsesOf, transaction, word } from '../bundles/bundle-server.js';
import type { Answer } from '../server.js';
import { interactionsToCover, matrixFor, type MatrixRow, type Target } from './matrix.js';
import { neededBy, scopedServer } from './scoped.js';
import { LAB, observed } from './support.js';

const LETTERS = [...'cruds'];
const without = (letters: string): string => LETTERS.filter((letter) => !letters.includes(letter)).join('');

/** Scopes that give what a row needs; on Observations with a query. */
function sufficient({ needs, also }: MatrixRow, query = ''): string {
  const scope = ([type, letters]: [string, string]): string =>
    type === '*'
      ? `system/Observation.${letters}${query}`
      : `system/${type}.${letters}${type === 'Observation' ? query : ''}`;
  return withAlso(Object.entries(needs).map(scope).join(' '), also);
}

function withAlso(scopes: string, also = ''): string {
  return `${scopes} ${also}`.trim();
}

/** Scopes of which each lacks one letter of one type, and those of another type alone. */
function insufficient({ needs, also }: MatrixRow): readonly string[] {
  const lacking = Object.entries(needs).flatMap(([type, letters]) =>
    [...letters].map((letter) => {
      const others = Object.entries(needs).filter(([other]) => other !== type);
      // What opens a compartment may be read or searched.
      const given = without(type === 'Patient' && letter === 'r' ? 'rs' : letter);
      return [[type, given] as const, ...others.map(([other]) => [other, 'cruds'] as const)]
        .map(([each, all]) => `system/${each}.${all}`)
        .join(' ');
    }),
  );
  // Of all types there is what is of that one.
  const all = [...lacking, ...('*' in needs ? [] : ['system/Linkage.cruds']), ''];
  return all.map((scopes) => withAlso(scopes, also));
}

/** A refusal that names all that is needed, and nothing else. */
function expectRefusal(answer: Answer, { needs, also = '' }: MatrixRow, scopes: string): void {
  expect(answer.status, scopes).toBe(403);
  const customs = also.split(' ').filter((each) => each.startsWith('__'));
  const all = [...Object.entries(needs).map(([type, letters]) => `system/${type}.${letters}`), ...customs];
  expect(neededBy(answer)!.split(' ').sort(), scopes).toEqual(all.sort());
}

/** That of the only entry; a deletion there has no outcome to tell. */
function statusOf(answer: Answer): number {
  const status = Number.parseInt(responsesOf(answer)[0].status, 10);
  return status === 204 ? 200 : status;
}

/** Every interaction with enough, with too little, within a constraint, and for another type. */
export function matrix(store: Store): void {
  const server = scopedServer(store);
  const arrange = async (category: Target['category']): Promise<Target> => {
    const [id, value] = [word(), word()];
    const references = { subject: { reference: 'Patient/p' }, device: { reference: `Device/${id}` } };
    const content = observed(category, { id, identifier: [{ value }], ...references });
    for (const [type, body] of [
      ['Device', { resourceType: 'Device', id }],
      ['Observation', content],
    ] as const) {
      const made = await server.all.send('PUT', `/${type}/${id}`, body);
      expect(made.status, made.text).toBe(201);
    }
    return { id, value, category };
  };
  /** Grows with every write. */
  const writes = async (): Promise<number> => (await server.all.send('GET', '/_history?_summary=count')).json().total;
  const send = (scopes: string, { method, path, body, headers }: MatrixRow): Promise<Answer> =>
    server.as(scopes).send(method, path, body, { ...headers });
  const found = (answer: Answer, { id }: Target): boolean =>
    answer.text.includes(`/${id}"`) || answer.text.includes('/Patient/p"') || (answer.json().entry === undefined && answer.json().total === 1); // prettier-ignore
  const rowAt = async (index: number, category: Target['category']): Promise<[MatrixRow, Target]> => {
    const target = await arrange(category);
    return [matrixFor(target)[index]!, target];
  };
  const ROWS = matrixFor({ id: '', value: '', category: 'laboratory' }).map(
    ({ name }, index) => [name, index] as const,
  );

  beforeAll(async () => {
    await server.all.send('PUT', '/Patient/p', { resourceType: 'Patient', id: 'p' });
    await server.all.send('PUT', '/Device/d', { resourceType: 'Device', id: 'd' });
  });

  it('knows all interactions', () => {
    const known = matrixFor({ id: '', value: '', category: 'laboratory' }).map(({ interaction }) => interaction);
    expect([...new Set(known)].sort()).toEqual(interactionsToCover());
  });

  describe.each(ROWS)('%s', (_, index) => {
    it('is done with what it needs, however that is said', async () => {
      const ways = [sufficient, (row: MatrixRow) => sufficient(row, `?${LAB}`), (row: MatrixRow) => sufficient(row).replaceAll(/system\/\w+/g, 'system/*')]; // prettier-ignore
      for (const scopes of ways) {
        const [row, target] = await rowAt(index, 'laboratory');
        const answer = await send(scopes(row), row);
        expect(answer.status, answer.text).toBe(row.done);
        if (row.outside === 'list') expect(found(answer, target), answer.text).toBe(true);
      }
    });

    it('is refused without, names what it needs, and does nothing', async () => {
      const [row] = await rowAt(index, 'laboratory');
      const before = await writes();
      for (const scopes of insufficient(row)) {
        const answer = await send(scopes, row);
        expectRefusal(answer, row, scopes);
      }
      expect(await writes()).toBe(before);
    });

    it('knows nothing of what lies outside a constraint', async () => {
      const [row, target] = await rowAt(index, 'vital-signs');
      const before = await writes();
      const answer = await send(sufficient(row, `?${LAB}`), row);
      expect(answer.status, answer.text).toBe(row.outside === 'list' ? 200 : row.outside);
      if (row.outside === 'list') expect(found(answer, target), answer.text).toBe(false);
      expect(answer.headers.etag).toBeUndefined();
      expect(await writes()).toBe(before);
    });

    it('is the same in a Bundle', async () => {
      const entryOf = ({ method, path, body, headers = {} }: MatrixRow) => ({
        request: { method, url: path.slice(1), ...(headers['if-none-exist'] && { ifNoneExist: headers['if-none-exist'] }) }, // prettier-ignore
        ...(body !== undefined && { resource: body as object }),
      });
      const [row] = await rowAt(index, 'laboratory');
      if (row.isAlone) return;
      const before = await writes();
      for (const scopes of insufficient(row)) {
        const answer = await server.as(scopes).send('POST', '/', batch(entryOf(row)));
        expect(responsesOf(answer)[0].status, scopes).toBe('403 Forbidden');
        const whole = await server.as(scopes).send('POST', '/', transaction(entryOf(row)));
        expectRefusal(whole, row, scopes);
      }
      const hidden = (await rowAt(index, 'vital-signs'))[0];
      for (const bundle of [batch, transaction]) {
        const answer = await server.as(sufficient(row, `?${LAB}`)).send('POST', '/', bundle(entryOf(hidden)));
        const status = answer.status === 200 ? statusOf(answer) : answer.status;
        expect(status, answer.text).toBe(row.outside === 'list' ? 200 : row.outside);
      }
      // But for what was arranged above.
      expect(await writes()).toBe(before + 2);
      const done = await server.as(sufficient(row)).send('POST', '/', transaction(entryOf(row)));
      expect(done.status, done.text).toBe(200);
      expect(statusOf(done), done.text).toBe(row.done);
    });
  });

  it('leaves no defects', () => expect(server.defects).toEqual([]));
}
