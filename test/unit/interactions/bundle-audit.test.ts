import { expect, it } from 'vitest';

import { OPERATOR } from '../../../runtime/auth/scopes/principal.js';
import type { FailedCall } from '../../../runtime/core/call-audit.js';
import type { FhirError } from '../../../runtime/fhir/errors.js';
import { createServices } from '../../../runtime/http/create-services.js';
import { executeBundle } from '../../../runtime/interactions/bundle/bundle.js';
import { toyExtract } from '../../toy/extract.js';
import { OwnBases } from '../../../runtime/path/own-bases.js';
import { createToyStore } from '../../toy/store.js';
import { toyTables } from '../../toy/tables.js';

const entry = (method?: string, url?: string) => (method === undefined ? {} : { request: { method, url } });

async function auditOf(type: 'batch' | 'transaction', entries: readonly object[]): Promise<string[]> {
  const failed: string[] = [];
  const audit = {
    answered: () => undefined,
    failed: ({ interaction, type: of = '', id = '' }: FailedCall, { code }: FhirError) =>
      void failed.push(`${interaction ?? 'unknown'} ${of}/${id} ${code}`),
  };
  const own = new OwnBases(['http://kiln.example/fhir']);
  const { services } = createServices({ tables: toyTables, store: createToyStore(), extract: toyExtract, own, audit });
  const body = { resourceType: 'Bundle', type, entry: [...entries] };
  const call = { interaction: 'bundle', principal: OPERATOR, params: new URLSearchParams(), conditions: {}, prefer: {}, base: 'http://kiln.example/fhir', body } as const; // prettier-ignore
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

it('what an absolute URL under the own base leads to is told, by either scheme', async () => {
  const failed = await auditOf('batch', [
    entry('PATCH', 'http://kiln.example/fhir/Patient/a'),
    entry('GET', 'https://kiln.example/fhir/Patient/none'),
    entry('GET', 'http://other.example/fhir/Patient/none'),
  ]);
  expect(failed.map((each) => each.split(' ').slice(0, 2).join(' ')).sort()).toEqual([
    'patch Patient/a',
    'read Patient/none',
    'unknown /',
  ]);
});

it('each entry of a transaction with an entry that has no request is audited', async () => {
  const failed = await auditOf('transaction', [entry('DELETE', 'Patient/a'), entry(), entry('GET', '')]);
  expect(failed).toHaveLength(3);
});

it('each entry of a transaction that is refused is audited', async () => {
  const failed = await auditOf('transaction', [entry('DELETE', 'Patient/a'), entry('GET', 'Nope/1')]);
  expect(failed.map((each) => each.split(' ').slice(0, 2).join(' '))).toEqual(['delete Patient/a', 'unknown /']);
});
