import { beforeAll, expect, it } from 'vitest';

import { createFetchFile } from '../../../../runtime/assembly/fetch-file.js';
import type { Resource } from '../../../../runtime/fhir/resource.js';
import { XML } from '../../../../runtime/server.js';
import type { Store } from '../../../../runtime/store/store.js';
import { ASYNC, jobsServer, type JobsServer } from '../../jobs/jobs-server.js';
import { FORM_CALLS, JOBS, type FormCall } from '../../operations/forms/form-calls.js';
import { FORM_WORLD } from '../../operations/forms/form-world.js';
import { parametersOf, plain, postPath } from '../../operations/forms/forms.js';
import type { Answer } from '../../server.js';

const TAG = 'http://form.example/tags';
/** Everything, but only of resources with this tag. */
const WITHIN = `system/*.cruds?_tag=${TAG}|in __admin`;
/** What concerns all resources of a type takes no token with a constraint. */
const isRefused = ({ operation, at }: FormCall): boolean =>
  ['bulk-publish', 'bulk-submit', 'export', 'patient-export', 'group-export', 'import'].includes(operation) ||
  (operation === 'expunge' && at === '/Patient');

/** The world of the operations' forms, with a tag on each resource. */
const worldOf = (code: string): readonly Resource[] =>
  [...FORM_WORLD, { resourceType: 'Patient', id: 'other', active: false }].map((each) => ({
    ...each,
    meta: { tag: [{ system: TAG, code }] },
  }));

/** Addresses of jobs, which take no POST. */
const GET_ONLY: ReadonlySet<string> = new Set([
  'async-poll-status',
  'async-result',
  'bulk-publish',
  'bulk-submit-poll-status',
]);

/** What names a job or a submission that is not there. */
const queryOf = (operation: string): string =>
  operation === 'bulk-publish' ? '' : operation.startsWith('async-') ? '?_jobId=none' : '?_submission=none';

/**
 * Every operation with a token that is constrained: where all resources lie within the constraint it works, and where none does it answers as
 * a server that has none of them.
 *
 * @param stores three empty ones
 */
export function operationConstraints(stores: readonly [Store, Store, Store]): void {
  const [inside, outside, empty] = stores.map((store) =>
    jobsServer(store, {
      allowsExpunge: true,
      publish: { types: ['Patient'], every: 3_600_000 },
      hasWebsocket: true,
      fetchFile: createFetchFile(['files.example']),
      codecs: { xml: XML },
    }),
  ) as [JobsServer, JobsServer, JobsServer];
  const ask = (server: JobsServer, call: FormCall, scopes: string): Promise<Answer> =>
    GET_ONLY.has(call.operation)
      ? server.as(scopes).send('GET', `${postPath(call)}${queryOf(call.operation)}`)
      : server.as(scopes).send('POST', postPath(call), parametersOf(call), JOBS.has(call.operation) ? ASYNC : {});

  beforeAll(async () => {
    // What a search says of its own time depends on whether there was ever a write.
    await empty.all.send('PUT', '/Basic/any', { resourceType: 'Basic', id: 'any', code: { text: 'x' } });
    for (const [server, code] of [
      [inside, 'in'],
      [outside, 'out'],
    ] as const) {
      for (const content of worldOf(code)) {
        // Twice, so that there is a version to compare with.
        for (const status of [201, 200]) {
          const version = { ...content, ...(status === 200 && { language: 'en' }) };
          const answer = await server.all.send('PUT', `/${content.resourceType}/${content.id}`, version);
          expect(answer.status, answer.text).toBe(status);
        }
      }
    }
  });

  const rows = FORM_CALLS.map((call) => [`$${call.operation} at ${call.at || '/'}`, call] as const);
  it.each(rows)('%s', async (_, call) => {
    const done = isRefused(call) ? 403 : (call.done ?? 200);
    const hidden = await ask(outside, call, WITHIN);
    const absent = await ask(empty, call, WITHIN);
    expect([hidden.status, plain(hidden)]).toEqual([absent.status, plain(absent)]);
    const seen = await ask(inside, call, WITHIN);
    expect(seen.status, seen.text).toBe(done);
  });

  it('leaves no defects', () => {
    for (const server of [inside, outside, empty]) expect(server.defects).toEqual([]);
  });
}
