import { expect, it } from 'vitest';

import { OPEN_PRINCIPAL } from '../../runtime/auth/scopes/principal.js';
import type { FailedCall } from '../../runtime/core/call-audit.js';
import type { FhirError } from '../../runtime/fhir/errors.js';
import { createServices } from '../../runtime/http/create-services.js';
import { executeBundle } from '../../runtime/interactions/bundle/bundle.js';
import { toyExtract } from '../toy/extract.js';
import { createToyStore } from '../toy/store.js';
import { toyTables } from '../toy/tables.js';

const entry = (method?: string, url?: string) => (method === undefined ? {} : { request: { method, url } });

async function auditOf(type: 'batch' | 'transaction', entries: readonly object[]): Promise<string[]> {
  const failed: string[] = [];
  const audit = {
    answered: () => undefined,
    failed: ({ interaction, type: of = '', id = '' }: FailedCall, { code }: FhirError) =>
      void failed.push(`${interaction ?? 'unknown'} ${of}/${id} ${code}`),
  };
  const { services } = createServices({ tables: toyTables, store: createToyStore(), extract: toyExtract, audit });
  const body = { resourceType: 'Bundle', type, entry: [...entries] };
  const call = { interaction: 'bundle', principal: OPEN_PRINCIPAL, params: new URLSearchParams(), conditions: {}, prefer: {}, base: '', body } as const; // prettier-ignore
  await executeBundle(call as never, services).catch(() => undefined);
  return failed;
}

it('entries of a batch that fail before their interaction is known are audited', async () => {
  const failed = await auditOf('batch', [
    entry('GET', 'Nope/1'),
    entry('PUT', ''),
    entry(),
    entry('GET', 'Patient/none'),
  ]);
  expect(failed).toHaveLength(4);
  expect(failed[0]).toBe('unknown / unknown-type');
  expect(failed[3]).toBe('read Patient/none not-found');
});

it('each entry of a transaction that is refused is audited', async () => {
  const failed = await auditOf('transaction', [entry('DELETE', 'Patient/a'), entry('GET', 'Nope/1')]);
  expect(failed.map((each) => each.split(' ').slice(0, 2).join(' '))).toEqual(['delete Patient/a', 'unknown /']);
});
