import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { command } from '../auth.js';
import { startKiln, type KilnProcess } from '../kiln-process.js';

const EXPECTATION = 'http://hl7.org/fhir/StructureDefinition/capabilitystatement-expectation';
const asked = (valueCode: string) => ({ extension: [{ url: EXPECTATION, valueCode }] });

/** What each Kiln does, and at the end some of what none does. */
const STATEMENT = {
  resourceType: 'CapabilityStatement',
  status: 'active',
  kind: 'requirements',
  fhirVersion: '5.0.0',
  format: ['application/fhir+json', 'application/fhir+xml'],
  rest: [
    {
      mode: 'server',
      interaction: [{ code: 'transaction' }, { code: 'batch' }, { code: 'search-system' }, { code: 'history-system' }],
      resource: [
        {
          type: 'Observation',
          interaction: ['create', 'read', 'vread', 'update', 'patch', 'delete', 'history-instance', 'history-type', 'search-type'].map((code) => ({ code })), // prettier-ignore
          versioning: 'versioned-update',
          readHistory: true,
          updateCreate: true,
          conditionalCreate: true,
          conditionalRead: 'full-support',
          conditionalUpdate: true,
          conditionalDelete: 'single',
          searchParam: ['_id', '_lastUpdated', '_tag', '_text', '_sort', 'patient', 'code', 'date', 'status', 'value-quantity', 'code-value-quantity', 'patient.identifier', 'performer:Practitioner.name'].map((name) => ({ name })), // prettier-ignore
          searchInclude: ['Observation:subject'],
          searchRevInclude: ['Provenance:target'],
          operation: [{ name: 'validate', definition: 'http://hl7.org/fhir/OperationDefinition/Resource-validate' }],
        },
      ],
    },
  ],
};
const COUNT = 2 + 4 + 9 + 7 + 13 + 2 + 1;

describe('kiln conformance', () => {
  let folder: string;
  let kiln: KilnProcess;
  let base: string;

  const write = (name: string, content: object): string => {
    const file = join(folder, name);
    writeFileSync(file, JSON.stringify(content));
    return file;
  };
  const statementOf = (resource: object): object => ({ ...STATEMENT, format: [], rest: [{ mode: 'server', resource: [resource] }] }); // prettier-ignore

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'kiln-conformance-'));
    kiln = startKiln(['serve', '--auth', 'open', '--port', '0', '--store', 'sqlite::memory:']);
    base = await kiln.started;
  }, 60_000);
  afterAll(async () => {
    kiln.child.kill('SIGTERM');
    await kiln.ended;
    rmSync(folder, { recursive: true });
  });

  it('asks for all that a statement has, and leaves nothing behind', { timeout: 60_000 }, async () => {
    const { code, out, err } = await command('conformance', write('all.json', STATEMENT), '--url', base);
    expect(out.split('\n').filter((line) => line.includes('fails') || line.includes('unasked'))).toEqual([]);
    expect(out).toContain(`SHALL: ${COUNT} of ${COUNT} work, 0 fail, 0 could not be asked`);
    expect(code, err).toBe(0);
    const { total } = (await (await fetch(`${base}/?_type=Observation,Patient,Provenance,Practitioner`)).json()) as {
      total: number;
    };
    expect(total).toBe(0);
  });

  it('names what fails, and fails for a SHALL alone', { timeout: 60_000 }, async () => {
    const missing = {
      type: 'Patient',
      searchParam: [{ name: 'ward', definition: 'http://example.org/guide/SearchParameter/patient-ward' }],
      operation: [{ name: '$dismiss', ...asked('MAY') }],
      supportedProfile: ['http://example.org/guide/StructureDefinition/ward-patient'],
      _supportedProfile: [asked('SHOULD')],
    };
    const first = await command('conformance', write('missing.json', statementOf(missing)), '--url', base);
    expect(first.code).toBe(1);
    expect(first.out).toMatch(/^SHALL +Patient +search ward +fails: .*Unknown parameter "ward"/m);
    expect(first.out).toMatch(/^SHOULD +Patient +profile \S+ +fails: the server has no StructureDefinition/m);
    expect(first.out).toMatch(/^MAY +Patient +operation \$dismiss +fails: the answer is 404/m);
    const weaker = { ...missing, searchParam: [{ ...missing.searchParam[0], ...asked('SHOULD') }] };
    const second = await command('conformance', write('weaker.json', statementOf(weaker)), '--url', base, '--failures');
    expect(second.code, second.err).toBe(0);
  });

  it('tells what it could not ask, makes data from examples, and looks at one type', { timeout: 60_000 }, async () => {
    const linkage = statementOf({ type: 'Linkage', interaction: [{ code: 'create' }] });
    const bare = await command('conformance', write('linkage.json', linkage), '--url', base);
    expect(bare.out).toMatch(/unasked: the Linkage that was made for it is refused: 422: .*lnk-1/);
    const item = (type: string) => ({ type, resource: { display: 'x' } });
    const example = { resourceType: 'Linkage', id: 'x', item: [item('source'), item('alternate')] };
    const data = write('example.json', example);
    const filled = await command('conformance', join(folder, 'linkage.json'), '--url', base, '--data', data);
    expect(filled.out).toContain('SHALL: 1 of 1 work');
    const own = await command('conformance', `${base}/metadata`, '--url', base, '--type', 'Flag', '--failures');
    expect(own.out).not.toContain('fails');
    expect(own.code, own.err).toBe(0);
  });

  it.each([
    ['no.json', { resourceType: 'Patient' }, 'it is no CapabilityStatement'],
    ['client.json', { ...STATEMENT, rest: [{ mode: 'client' }] }, 'asks nothing of servers'],
  ])('refuses %s', async (name, content, message) => {
    const { code, err } = await command('conformance', write(name, content), '--url', base);
    expect(code).toBe(2);
    expect(err).toContain(message);
  });

  it('is not deceived by a server that answers anything with 200', { timeout: 60_000 }, async () => {
    const server: Server = createServer((request, response) => {
      response.writeHead(request.method === 'POST' ? 201 : 200, {
        ...{ 'content-type': 'application/fhir+json', location: 'http://x/fhir/Observation/1/_history/1' },
      });
      response.end('{"resourceType":"Bundle","type":"searchset","entry":[{"resource":{"id":"1"}}]}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/fhir`;
      const { code, out } = await command('conformance', join(folder, 'all.json'), '--url', url);
      expect(code).toBe(1);
      const works = out.split('\n').filter((line) => /^SHALL .* works/.test(line));
      // One answer fits these; each of the others is asked something that another answer has to follow.
      expect(works.map((line) => line.split(/ {2,}/)[2])).toEqual([
        ...[
          'format application/fhir+json',
          'interaction search-system',
          'interaction create',
          'search _id',
          'search _sort',
        ],
        ...['include _include=Observation:subject', 'include _revinclude=Provenance:target', 'operation $validate'],
      ]);
    } finally {
      server.close();
    }
  });
});
