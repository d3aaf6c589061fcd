import { beforeAll, expect, it } from 'vitest';

import { tables } from '../../../../generated/tables.js';
import { createFetchFile } from '../../../../runtime/assembly/fetch-file.js';
import { WIRED_OPERATIONS } from '../../../../runtime/contract/wired.js';
import type { Store } from '../../../../runtime/store/store.js';
import { jobsServer } from '../../jobs/jobs-server.js';
import { OPERATION_CALLS, type OperationCall } from '../operation-rows.js';
import { neededBy } from '../scoped.js';

/** Every operation that is wired, with just what it needs and with all of it but one; jobs are not begun. */
export function operationScopes(store: Store): void {
  const server = jobsServer(store, {
    allowsExpunge: true,
    publish: { types: ['Patient'], every: 3_600_000 },
    hasWebsocket: true,
    fetchFile: createFetchFile(['files.example']),
  });
  beforeAll(async () => {
    const subject = { reference: 'Patient/a' };
    for (const body of [
      { resourceType: 'Patient', id: 'a' },
      { resourceType: 'Patient', id: 'b' },
      { resourceType: 'Observation', id: 'o', status: 'final', code: { text: 'x' }, subject },
      { resourceType: 'Composition', id: 'c', status: 'final', type: { text: 'x' }, date: '2020', title: 'x', author: [{ reference: 'Patient/b' }] }, // prettier-ignore
      { resourceType: 'Encounter', id: 'e', status: 'planned' },
      { resourceType: 'EpisodeOfCare', id: 'e', status: 'active', patient: { reference: 'Patient/none' } },
      { resourceType: 'Group', id: 'g', type: 'person', membership: 'enumerated', member: [{ entity: { reference: 'Patient/b' } }] }, // prettier-ignore
      { resourceType: 'MedicinalProductDefinition', id: 'm', name: [{ productName: 'x' }] },
    ]) {
      const answer = await server.all.send('PUT', `/${body.resourceType}/${body.id}`, body);
      expect(answer.status, answer.text).toBe(201);
    }
  });

  const scopesOf = (needs: readonly string[]): string =>
    // A scope that none of them needs: a token has to hold some.
    [
      ...needs.map((need) => (need.startsWith('__') ? need : `system/${need.replace(/\|.*/, '')}`)),
      'system/Linkage.c',
    ].join(' ');
  const send = ({ method, path, body, headers }: OperationCall, needs: readonly string[]) =>
    server.as(scopesOf(needs)).send(method, path, body, { ...headers });

  it('all operations are here, at each level that has needs of its own', () => {
    expect([...new Set(OPERATION_CALLS.map(({ operation }) => operation))].sort()).toEqual(
      [...WIRED_OPERATIONS].sort(),
    );
    for (const operation of WIRED_OPERATIONS) {
      const rows = tables.scopes.rows.filter((row) => row.operation === operation);
      const calls = OPERATION_CALLS.filter((call) => call.operation === operation);
      expect(calls.length, operation).toBeGreaterThanOrEqual(operation === 'CapabilityStatement-subset' ? 1 : rows.length); // prettier-ignore
    }
  });

  it.each(
    OPERATION_CALLS.map((call) => [`${call.method} ${call.path.replace(/\?.*/, '')} ${call.done}`, call] as const),
  )('%s', async (_, call) => {
    const { needs, done, path } = call;
    for (const without of needs) {
      const others = needs.filter((need) => need !== without);
      const answer = await send(call, others);
      expect(answer.status, `${path} without ${without}: ${answer.text}`).toBe(403);
      const [type, letter] = without.split('.') as [string, string];
      const named = without.startsWith('__') ? without : new RegExp(`system/(?:${type}|\\*)\\.\\w*[${letter}]`);
      expect(neededBy(answer), `${path} without ${without}`).toMatch(named);
    }
    const answer = await send(call, needs);
    expect(answer.status, answer.text).toBe(done);
  });

  it('leaves no defects', () => expect(server.defects).toEqual([]));
}
