import { describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { parseElements, selectElements } from '../../../runtime/format/summary-elements.js';
import { summarize } from '../../../runtime/format/summary.js';
import { useToyServer } from '../server.js';

describe('capabilities: GET [base]/metadata (http.html#capabilities)', () => {
  const server = useToyServer();

  it('lists what is wired and nothing else', async () => {
    const answer = await server.send('GET', '/metadata');
    expect(answer.status).toBe(200);
    const statement = answer.json();
    expect(statement).toMatchObject({
      resourceType: 'CapabilityStatement',
      fhirVersion: '5.0.0',
      format: ['application/fhir+json', 'json', 'text/html', 'html'],
      patchFormat: ['application/json-patch+json'],
    });
    const [rest] = statement.rest;
    expect(rest.resource.map((row: { type: string }) => row.type)).toEqual([
      'Basic',
      'Binary',
      'Observation',
      'Patient',
    ]);
    for (const row of rest.resource) {
      const codes = row.interaction.map(({ code }: { code: string }) => code);
      expect(codes).toEqual([
        'read',
        'vread',
        'update',
        'patch',
        'delete',
        'history-instance',
        'history-type',
        'create',
        'search-type',
      ]);
      expect(row.operation).toBeUndefined();
      expect(row.referencePolicy).toEqual(['literal', 'logical']);
      expect(row.searchInclude).toEqual(row.type === 'Observation' ? ['*', 'Observation:subject'] : undefined);
      expect(row.searchRevInclude).toEqual(row.type === 'Patient' ? ['*', 'Observation:subject'] : undefined);
    }
    expect(rest.interaction.map(({ code }: { code: string }) => code)).toEqual([
      'transaction',
      'batch',
      'history-system',
    ]);
    expect(rest.operation ?? rest.searchParam).toBeUndefined();
  });

  it('names the search parameters that work, with what works of them', async () => {
    const { rest } = (await server.send('GET', '/metadata')).json();
    const patient = rest[0].resource.find(({ type }: { type: string }) => type === 'Patient');
    const criteria = patient.searchParam.filter(({ definition }: { definition?: string }) => definition !== undefined);
    expect(criteria.map(({ name }: { name: string }) => name)).toEqual(['_id', '_lastUpdated', 'family', 'identifier']);
    expect(patient.searchParam[2]).toEqual({
      name: 'family',
      definition: 'http://example.org/SearchParameter/family',
      type: 'string',
      documentation: 'Modifiers: :missing, :exact, :contains.',
    });
    const search = patient.interaction.find(({ code }: { code: string }) => code === 'search-type');
    expect(search.documentation).toContain('_count up to 1000 (default 20)');
  });

  it('has what a CapabilityStatement of R5 requires (capabilitystatement.html)', async () => {
    const statement = (await server.send('GET', '/metadata')).json();
    for (const name of ['status', 'date', 'kind', 'fhirVersion', 'format']) expect(statement[name]).toBeTruthy();
    // cpb-14: an instance has an implementation; its description is required.
    expect([statement.kind, typeof statement.implementation.description]).toEqual(['instance', 'string']);
    expect(statement.software.name).toBeTruthy();
    expect(statement.rest[0].mode).toBe('server');
    expect(JSON.stringify(statement)).not.toMatch(/\[\]|\{\}|null|""/);
  });

  it('answers HEAD too, and no other method', async () => {
    expect((await server.send('HEAD', '/metadata')).status).toBe(200);
    const answer = await server.send('POST', '/metadata', {});
    expect([answer.status, answer.headers.allow]).toEqual([405, 'GET, HEAD']);
  });

  it('has an ETag, and is not sent again', async () => {
    const { etag } = (await server.send('GET', '/metadata')).headers;
    expect(etag).toMatch(/^W\/"[\w-]{22}"$/);
    expect((await server.send('GET', '/metadata', undefined, { 'if-none-match': String(etag) })).status).toBe(304);
  });

  it.each([
    ['full', 200, 'CapabilityStatement'],
    ['normative', 200, 'CapabilityStatement'],
    ['terminology', 200, 'TerminologyCapabilities'],
    ['other', 400, 'OperationOutcome'],
  ])('mode=%s: %i %s', async (mode, status, type) => {
    const answer = await server.send('GET', `/metadata?mode=${mode}`);
    expect([answer.status, answer.json().resourceType]).toEqual([status, type]);
  });
});

describe('parts of the CapabilityStatement (search.html#summary)', () => {
  const server = useToyServer({
    subset: (resource, { summary, elements = [] }) =>
      summary === undefined
        ? selectElements(resource, parseElements(elements.join(','), [resource.resourceType], tables), tables)
        : summarize(resource, summary, tables),
  });

  it.each([
    ['_summary=true', true],
    ['_elements=fhirVersion', true],
    ['_summary=data', true],
    ['_summary=false', false],
  ])('%s was refused: it is served', async (query, isSubset) => {
    const answer = await server.send('GET', `/metadata?${query}`);
    const statement = answer.json();
    expect([answer.status, statement.resourceType]).toEqual([200, 'CapabilityStatement']);
    // What is required stays: status, kind, date, format.
    expect([statement.fhirVersion, statement.status, statement.format[0]]).toEqual([
      '5.0.0',
      'active',
      'application/fhir+json',
    ]);
    expect(statement.meta?.tag?.[0].code).toBe(isSubset ? 'SUBSETTED' : undefined);
    expect(statement.rest === undefined).toBe(query === '_elements=fhirVersion');
  });

  it('_summary=count is a matter of Bundles', async () => {
    expect((await server.send('GET', '/metadata?_summary=count')).status).toBe(400);
  });
});

describe('the CapabilityStatement in other forms, which everybody may read', () => {
  let written = 0;
  let subsets = 0;
  const server = useToyServer({
    subset(resource) {
      subsets++;
      return resource;
    },
    codecs: {
      xml: {
        read: () => ({}),
        write(resource, pretty) {
          written++;
          return `<${String(resource['resourceType'])}${pretty ? '\n' : ''}/>`;
        },
      },
    },
  });

  it('was made anew for each request: it is made once, also where clients ask at the same time', async () => {
    const forms = ['_format=xml', '_format=xml&_pretty=true', '_format=xml&_summary=true', '_format=xml&_elements=url'];
    const askAll = async (): Promise<void> => {
      const asked = forms.flatMap((form) => Array.from({ length: 5 }, () => server.send('GET', `/metadata?${form}`)));
      for (const answer of await Promise.all(asked)) {
        expect([answer.status, answer.text.trim()]).toEqual([
          200,
          expect.stringMatching(/^<CapabilityStatement\s*\/>$/),
        ]);
      }
    };
    await askAll();
    await askAll();
    expect([written, subsets]).toEqual([forms.length, 2]);
  });

  it('keeps few of the views that clients can think of', async () => {
    for (let n = 0; n < 40; n++) await server.send('GET', `/metadata?_elements=url,name-${n}`);
    const before = subsets;
    await server.send('GET', '/metadata?_elements=url,name-0');
    expect(subsets).toBe(before + 1);
  });
});
