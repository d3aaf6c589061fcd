import { expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { ANYONE, Principal } from '../../../runtime/auth/scopes/principal.js';
import type { Call, Reply } from '../../../runtime/core/call.js';
import { EXPORT, IMPORT } from '../../../runtime/core/job-files/read-job-file.js';
import type { Services } from '../../../runtime/core/services.js';
import { exportStatus } from '../../../runtime/operations/export/export-status.js';
import { importStatus } from '../../../runtime/operations/import/import-status.js';
import { createValidator } from '../../../runtime/validate/create-validator.js';
import { accessOf } from '../auth/scopes-setup.js';

const CLIENT = Principal.ofClient({ clientId: 'one', scope: '', access: accessOf('system/*.cruds') });

it.each([
  ['export-poll-status', EXPORT, exportStatus, ANYONE, false],
  ['export-poll-status', EXPORT, exportStatus, CLIENT, true],
  ['import-poll-status', IMPORT, importStatus, ANYONE, false],
  ['import-poll-status', IMPORT, importStatus, CLIENT, true],
] as const)('%s (%s) says whether a token is needed', async (operation, type, run, principal, isNeeded) => {
  const job = {
    ...{ id: 'a', type, owner: { clientId: principal.clientId, scope: '' }, state: 'completed', created: 0, ended: 1 },
    ...{ progress: { done: 0, unit: 'resources' }, failures: 0, run: 1 },
    ...{ input: { files: [], request: '', transactionTime: 0 }, result: { files: [] } },
  };
  const jobs = { read: () => Promise.resolve(job) };
  const services = { tables, validate: createValidator(tables), jobs } as unknown as Services;
  const call: Call = {
    ...{ interaction: 'operation', operation, level: 'system', principal, params: new URLSearchParams('_jobId=a') },
    ...{ conditions: {}, prefer: {}, base: 'http://localhost/fhir' },
  };
  const { body }: Reply = await run(call, services);
  expect(JSON.parse(String(body?.content))).toMatchObject({ requiresAccessToken: isNeeded });
});
