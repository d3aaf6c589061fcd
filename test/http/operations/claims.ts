import { beforeAll, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import type { Store } from '../../../runtime/store/store.js';
import { jobsServer } from '../jobs/jobs-server.js';
import { codeOf } from '../server.js';

interface Listed {
  readonly name: string;
  readonly definition: string;
}

/** That `/metadata` claims nothing that does not work: each operation, at each level that its definition has. */
export function claims(store: Store): void {
  const server = jobsServer(store);
  const types = ['Patient', 'Observation', 'Basic'];

  beforeAll(async () => {
    await server.all.send('PUT', '/Patient/a', { resourceType: 'Patient', id: 'a' });
    await server.all.send('PUT', '/Basic/a', { resourceType: 'Basic', id: 'a', code: { text: 'x' } });
  });

  const rowOf = (definition: string) =>
    tables.operations.find(({ url }) => url === definition.replace(`${server.url}/fhir/`, ''));

  it('every operation that is listed answers at every level that it has, by every method', async () => {
    const { rest } = (await server.all.send('GET', '/metadata')).json() as {
      rest: [{ operation: Listed[]; resource: { type: string; operation?: Listed[] }[] }];
    };
    const system = rest[0].operation.map(({ definition }) => ({ definition, type: undefined }));
    const below = rest[0].resource.flatMap(({ type, operation = [] }) =>
      operation.flatMap(({ definition }) => {
        const row = rowOf(definition);
        // One that all types have is tried on some.
        return row?.types === undefined && !types.includes(type) ? [] : [{ definition, type }];
      }),
    );
    let calls = 0;
    for (const { definition, type } of [...system, ...below]) {
      const row = rowOf(definition);
      expect(row, definition).toBeDefined();
      for (const level of row!.levels.filter((each) => (each === 'system') === (type === undefined))) {
        const place = { system: '', type: `/${type}`, instance: `/${type}/a`, version: `/${type}/a/_history/1` }[level];
        for (const method of row!.affectsState ? (['POST'] as const) : row!.methods) {
          // A pass waits for the jobs that index.
          if (row!.name.endsWith('perform-reindexing-pass')) await server.finish();
          const body = method === 'POST' ? { resourceType: 'Parameters' } : undefined;
          const answer = await server.all.send(method, `${place}/$${row!.name}`, body);
          const what = `${method} ${place}/$${row!.name}: ${answer.status} ${answer.text.slice(0, 300)}`;
          calls++;
          // Jobs begin after their answers.
          if (answer.status === 200 || answer.status === 202) continue;
          // What is missing may be a parameter, or a resource of that type: never the operation.
          expect([400, 404, 410], what).toContain(answer.status);
          expect(['unknown-operation', 'unknown-path', 'not-wired', 'unknown-type'], what).not.toContain(
            // $graphql has errors in the form of GraphQL.
            answer.json().errors?.[0].extensions.code ?? codeOf(answer),
          );
        }
      }
    }
    expect(calls).toBeGreaterThan(80);
    expect(server.defects).toEqual([]);
  });

  it('the 63 profiles that resources are validated by are listed with their types', async () => {
    const { rest } = (await server.all.send('GET', '/metadata')).json() as {
      rest: [{ resource: { type: string; supportedProfile?: string[] }[] }];
    };
    const listed = rest[0].resource.flatMap(({ supportedProfile = [] }) => supportedProfile);
    expect(new Set(listed).size).toBe(63);
    const vitals = 'http://hl7.org/fhir/StructureDefinition/vitalsigns';
    expect(rest[0].resource.find(({ type }) => type === 'Observation')?.supportedProfile).toContain(vitals);
  });
}
