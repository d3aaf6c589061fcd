import { expect, it } from 'vitest';

import type { Store } from '../../../runtime/store/store.js';
import {
  entry,
  nameOf,
  observation,
  patient,
  responsesOf,
  statusesOf,
  transaction,
  urn,
  useBundleServer,
  word,
} from './bundle-server.js';

/** Two servers on one store, each with its own connection: neither waits in the queues of the other. */
export function transactionsOfTwo(one: Store, other: Store): void {
  const servers = [useBundleServer(one), useBundleServer(other)] as const;
  const run = async (n: number, bundle: object) => {
    const answer = await servers[n % 2 === 0 ? 0 : 1].send('POST', '', bundle);
    expect(answer.status, answer.text).toBe(200);
    return answer;
  };

  it('parallel conditional creates of one criteria make one resource, whoever gets them', async () => {
    const value = word();
    const bundle = () => {
      const fullUrl = urn();
      const request = { ifNoneExist: `identifier=urn:test|${value}` };
      return transaction(
        entry('POST', 'Patient', patient(value), { fullUrl, request }),
        entry('POST', 'Observation', observation(fullUrl)),
      );
    };
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => run(n, bundle())));
    expect(answers.filter((answer) => statusesOf(answer)[0] === '201 Created')).toHaveLength(1);
    expect(new Set(answers.map((answer) => nameOf(responsesOf(answer)[0]))).size).toBe(1);
    const found = await servers[0].send('GET', `/Patient?identifier=urn:test|${value}&_summary=count`);
    expect(found.json().total).toBe(1);
  });

  it('crossing transactions happen one after the other, never half', async () => {
    const ids = [word(), word(), word()];
    const bundle = (n: number) => {
      const order = n % 3 === 0 ? ids : n % 3 === 1 ? ids.toReversed() : [ids[1]!, ids[2]!, ids[0]!];
      return transaction(...order.map((id) => entry('PUT', `Patient/${id}`, patient(`v${n}`, { id }))));
    };
    await Promise.all(Array.from({ length: 12 }, (_, n) => run(n, bundle(n))));
    const read = await Promise.all(ids.map(async (id) => (await servers[1].send('GET', `/Patient/${id}`)).json()));
    expect(new Set(read.map(({ identifier }) => identifier[0].value)).size).toBe(1);
    expect(read.map(({ meta }) => meta.versionId)).toEqual(['12', '12', '12']);
  });
}
