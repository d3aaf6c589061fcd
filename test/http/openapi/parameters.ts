import { beforeAll, describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import type { Store } from '../../../runtime/store/store.js';
import { jobsServer } from '../jobs/jobs-server.js';
import type { Answer } from '../server.js';

/** Parameters that FHIR and other servers have beside criteria, with a value, and a criterion that has to be there. */
const TRIED: Readonly<Record<string, readonly [value: string, beside?: string]>> = {
  _format: ['json'],
  _pretty: ['true'],
  _sort: ['-_lastUpdated'],
  _count: ['1'],
  _total: ['none'],
  _summary: ['false'],
  _elements: ['id'],
  _maxresults: ['1'],
  _score: ['true', '_content=word'],
  _contained: ['true'],
  _containedType: ['container', '_contained=true'],
  _graph: ['graph'],
  _include: ['*'],
  _revinclude: ['*'],
  _has: ['x'],
  _type: ['Patient'],
  _since: ['2020'],
  _at: ['2020'],
  mode: ['full'],
  _query: ['x'],
  _offset: ['1'],
  _getpages: ['x'],
};

/** The name that a request has, where it has more than the name of the parameter. */
const NAMES: Readonly<Record<string, string>> = { _has: '_has:Observation:patient:_id' };

const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' };
const PATCH_TYPE = { 'content-type': 'application/json-patch+json' };
const PATCH = [{ op: 'add', path: '/active', value: true }];
const SEARCHES = new Set(['search-type', 'search-system', 'search-compartment']);

interface Seat {
  readonly method: string;
  /** As the document has it. */
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  /** A criterion that it needs. */
  readonly beside?: string;
  /** Absent: `a`. */
  readonly id?: string;
}

const patient = (id?: string) => ({ resourceType: 'Patient', ...(id !== undefined && { id }) });

const SEATS: readonly Seat[] = [
  { method: 'GET', path: '/Patient/{id}' },
  { method: 'GET', path: '/Patient/{id}/_history/{vid}' },
  { method: 'GET', path: '/Patient/{id}/_history' },
  { method: 'GET', path: '/Patient/_history' },
  { method: 'GET', path: '/_history' },
  { method: 'GET', path: '/Patient' },
  { method: 'GET', path: '/' },
  { method: 'GET', path: '/Patient/{id}/Patient' },
  { method: 'GET', path: '/Patient/{id}/*' },
  { method: 'GET', path: '/metadata' },
  { method: 'POST', path: '/Patient', body: patient() },
  { method: 'PUT', path: '/Patient/{id}', body: patient('a') },
  { method: 'PATCH', path: '/Patient/{id}', body: PATCH, headers: PATCH_TYPE },
  { method: 'PUT', path: '/Patient', body: patient('a'), beside: '_id=a' },
  { method: 'PATCH', path: '/Patient', body: PATCH, headers: PATCH_TYPE, beside: '_id=a' },
  { method: 'DELETE', path: '/Patient', beside: '_id=none' },
  { method: 'DELETE', path: '/Patient/{id}/_history', id: 'b' },
  { method: 'POST', path: '/', body: { resourceType: 'Bundle', type: 'batch' } },
  { method: 'GET', path: '/$versions' },
  { method: 'GET', path: '/Patient/{id}/$meta' },
];

interface Parameter {
  readonly name: string;
  readonly in: string;
}

/** What the interface takes in URLs beside criteria is what the OpenAPI document and the CapabilityStatement list. */
export function listedParameters(store: Store): void {
  const server = jobsServer(store, {
    allowsExpunge: true,
    hasWebsocket: true,
    publish: { types: ['Patient'], every: 3_600_000 },
  });
  let document: any; // eslint-disable-line @typescript-eslint/no-explicit-any
  let rest: any; // eslint-disable-line @typescript-eslint/no-explicit-any

  beforeAll(async () => {
    document = (await server.raw('GET', '/openapi/all.json')).json();
    const statement = await server.all.send('GET', '/metadata');
    [rest] = statement.json().rest;
    for (const id of ['a', 'b']) await server.all.send('PUT', `/Patient/${id}`, patient(id));
    await server.all.send('PUT', '/GraphDefinition/graph', {
      ...{ resourceType: 'GraphDefinition', id: 'graph', url: 'http://x.example/graph', name: 'X', status: 'active' },
      ...{ start: 'a', node: [{ nodeId: 'a', type: 'Patient' }] },
    });
  });

  const ask = (seat: Seat, name: string, [value, beside]: readonly [string, string?]): Promise<Answer> => {
    const pairs = [seat.beside, beside, `${NAMES[name] ?? name}=${value}`].filter((each) => each !== undefined);
    const path = seat.path.replace('{id}', seat.id ?? 'a').replace('{vid}', '1');
    return server.all.send(seat.method, `${path}?${pairs.join('&')}`, seat.body, { ...seat.headers, prefer: 'handling=strict' }); // prettier-ignore
  };
  const takenBy = async (seat: Seat): Promise<string[]> => {
    const taken: string[] = [];
    for (const [name, value] of Object.entries(TRIED)) {
      if ((await ask(seat, name, value)).status < 400) taken.push(name);
    }
    return taken.sort();
  };
  const listedFor = ({ method, path }: Seat): string[] => {
    const { parameters } = document.paths[path][method.toLowerCase()] as {
      parameters: (Parameter | { $ref: string })[];
    };
    return parameters
      .map((each) =>
        '$ref' in each ? (document.components.parameters[each.$ref.split('/').at(-1)!] as Parameter) : each,
      ) // prettier-ignore
      .filter((each) => each.in === 'query' && Object.hasOwn(TRIED, each.name))
      .map(({ name }) => name)
      .sort();
  };

  it.each(SEATS.map((seat) => [`${seat.method} ${seat.path}`, seat] as const))(
    '%s: OpenAPI lists the parameters that it takes, and no others',
    async (_, seat) => {
      const taken = await takenBy(seat);
      expect(taken).toContain('_format');
      // The name of a link has its parts in it: no document can list it.
      expect(listedFor(seat)).toEqual(taken.filter((name) => name !== '_has'));
    },
  );

  describe('the CapabilityStatement', () => {
    const names = (parameters: readonly Parameter[]): string[] =>
      parameters.map(({ name }) => name).filter((name) => name.startsWith('_') && Object.hasOwn(TRIED, name)).sort(); // prettier-ignore
    const patientOf = (): any => rest.resource.find(({ type }: { type: string }) => type === 'Patient'); // eslint-disable-line @typescript-eslint/no-explicit-any

    it('lists what searches of a type take, by GET and by POST', async () => {
      const listed = names(patientOf().searchParam);
      expect(listed).toEqual(await takenBy({ method: 'GET', path: '/Patient' }));
      for (const name of listed) {
        const [value, beside] = TRIED[name]!;
        const body = [beside, `${NAMES[name] ?? name}=${value}`].filter((each) => each !== undefined).join('&');
        expect([name, (await server.all.send('POST', '/Patient/_search', body, FORM_TYPE)).status]).toEqual([
          name,
          200,
        ]);
      }
    });

    it('lists the same for every type', () => {
      const listed = names(patientOf().searchParam);
      expect(listed.length).toBeGreaterThan(10);
      for (const { type, searchParam } of rest.resource) expect([type, names(searchParam)]).toEqual([type, listed]);
    });

    it('lists what searches of all types take', async () => {
      expect(names(rest.searchParam)).toEqual(await takenBy({ method: 'GET', path: '/' }));
    });

    it.each([
      ['read', '/Patient/{id}'],
      ['vread', '/Patient/{id}/_history/{vid}'],
      ['history-instance', '/Patient/{id}/_history'],
      ['history-type', '/Patient/_history'],
      ['history-system', '/_history'],
    ])('says what %s takes', async (code, path) => {
      const interactions = [...patientOf().interaction, ...rest.interaction];
      const { documentation } = interactions.find((each: { code: string }) => each.code === code);
      const [, listed = ''] = /^Takes (.*)\.$/.exec(documentation)!;
      expect(listed.split(', ').sort()).toEqual(await takenBy({ method: 'GET', path }));
    });

    it('says that history can be removed, and how', async () => {
      const { documentation } = patientOf().interaction.find(({ code }: { code: string }) => code === 'delete');
      expect(documentation).toMatch(/^DELETE \[type\]\/\[id\]\/_history removes .*; DELETE \[type\]\/\[id\]\/_history\/\[vid\] removes .*__admin\.expunge/); // prettier-ignore
      expect((await server.all.send('DELETE', '/Patient/b/_history')).status).toBe(200);
    });

    it('names every format that answers are written in', async () => {
      const { format } = (await server.all.send('GET', '/metadata')).json();
      for (const name of format) {
        const answer = await server.all.send('GET', `/Patient/a?_format=${encodeURIComponent(name)}`);
        expect([name, answer.status]).toEqual([name, 200]);
        const form = String(name).split(/[/+]/).at(-1)!;
        expect(answer.headers['content-type']).toContain(form);
      }
      expect(format).toEqual(expect.arrayContaining(['application/fhir+json', 'application/fhir+xml', 'text/html', 'html'])); // prettier-ignore
      expect((await server.all.send('GET', '/Patient/a?_format=ttl')).status).toBe(406);
    });
  });

  it('every seat that can be searched, read or looked back at lists parameters', () => {
    for (const { method, path, interaction } of tables.routes) {
      if (method !== 'GET' || !(SEARCHES.has(interaction) || interaction.startsWith('history'))) continue;
      const place = `/${path.replace('[type]', 'Patient').replace('[id]', '{id}').replace('[vid]', '{vid}')}`;
      expect([place, listedFor({ method, path: place })]).toEqual([place, expect.arrayContaining(['_count', '_format'])]); // prettier-ignore
    }
  });
}
