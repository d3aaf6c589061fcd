import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';

import { tables } from '../../../generated/tables.js';
import type { Client } from '../../../runtime/auth/clients/client.js';
import { createStoredProfiles } from '../../../runtime/core/validation/stored-profiles.js';
import type { Store } from '../../../runtime/store/store.js';
import { loadProfiles } from '../../../runtime/tables.js';
import { createRuleChecker } from '../../../runtime/validate/rules/create-rule-checker.js';
import { neededBy } from '../auth/scoped.js';
import { putAll, type Sendable } from '../search-server.js';
import { expectRefusal, word } from '../write-server.js';
import { ASYNC, jobsServer, linesOf } from './jobs-server.js';

/** A profile of one element. */
const definition = (url: string, type: string, path: string, more: object) => ({
  resourceType: 'StructureDefinition',
  ...{ url, name: 'Made', status: 'active', kind: 'resource', abstract: false, type, derivation: 'constraint' },
  baseDefinition: `http://hl7.org/fhir/StructureDefinition/${type}`,
  differential: { element: [{ id: type, path: type }, { id: path, path, ...more }] }, // prettier-ignore
});

const parameters = (...parameter: object[]) => ({
  resourceType: 'Parameters',
  ...(parameter.length > 0 && { parameter }),
});

/** Jobs have the rights of whoever started them, and who may not have what they find learns nothing of them, on any store */
export function rights(store: Store): void {
  const { types, profile, store: own } = createStoredProfiles(store, tables, loadProfiles);
  /** Those that are registered, for jobs that go on. */
  const registered = new Map<string, Pick<Client, 'scope' | 'enabled' | 'registration'>>();
  const clients = { find: (id: string) => Promise.resolve(registered.get(id) as Client | undefined) };
  const profiles = { types, profile, required: new Map<string, readonly string[]>() };
  const server = jobsServer(own, { rules: createRuleChecker(tables), profiles }, { clients });
  const { all } = server;
  const url = () => `http://x.org/StructureDefinition/${word()}`;
  const below = (location: unknown): string => String(location).replace(/^.*?\/fhir/, '');

  beforeEach(() => {
    registered.clear();
    for (const id of ['client', 'other', 'third'])
      registered.set(id, { scope: 'system/*.cruds __admin', enabled: true });
  });

  async function upload(who: typeof all, lines: readonly object[]): Promise<string> {
    const text = Buffer.from(lines.map((line) => JSON.stringify(line)).join('\n'));
    const answer = await who.send('POST', '/Binary', text, { 'content-type': 'application/fhir+ndjson' });
    expect(answer.status, answer.text).toBe(201);
    return /Binary\/[^/]+/.exec(String(answer.headers['location']))![0];
  }

  /** Starts an import. @returns the path of its status */
  async function startImport(scopes: string, type: string, lines: readonly object[]): Promise<string> {
    const who = server.as(scopes);
    const part = [
      { name: 'url', valueUri: await upload(all, lines) },
      { name: 'type', valueCode: type },
    ];
    const answer = await who.send('POST', '/$import', parameters({ name: 'input', part }), ASYNC);
    expect(answer.status, answer.text).toBe(202);
    return below(answer.headers['content-location']);
  }

  /** What an import says of each line: its issues, or that it is stored. */
  async function told(scopes: string, type: string, lines: readonly { readonly id: string }[]): Promise<string[]> {
    const status = await startImport(scopes, type, lines);
    await server.finish();
    const who = server.as(scopes);
    const answer = await who.send('GET', status);
    expect(answer.status, answer.text).toBe(200);
    const faults = new Map<number, string>();
    for (const { url: file } of answer.json().error as { url: string }[]) {
      for (const line of linesOf((await who.send('GET', below(file))).text)) {
        const { issue } = line as unknown as { issue: { diagnostics: string }[] };
        const number = Number(/, line (\d+)/.exec(issue[0]!.diagnostics)![1]);
        faults.set(number, JSON.stringify(issue.map(({ diagnostics: _, ...rest }) => rest)));
      }
    }
    return lines.map(({ id }, i) =>
      (faults.get(i + 1) ?? 'stored').replaceAll(id, 'ID').replace(/Binary\/[\w-]+, line \d+/g, 'LINE'),
    );
  }

  describe('an import checks its lines by what its client may read', () => {
    const blind = 'system/Basic.cu system/Observation.cu system/Binary.cru system/StructureDefinition.cruds';
    const sighted = `${blind} system/Patient.r system/ValueSet.rs system/CodeSystem.rs`;
    const [born, target, rule, conforming, bound] = [url(), url(), url(), url(), url()];
    const valueSet = `http://x.org/ValueSet/${word()}`;
    const codes = `http://x.org/CodeSystem/${word()}`;
    const ids = { right: word(), wrong: word(), none: word() };

    beforeAll(async () => {
      const constraint = (expression: string) => ({ constraint: [{ key: 'x-1', severity: 'error', human: 'no', expression }] }); // prettier-ignore
      await putAll(all, [
        { resourceType: 'Patient', id: ids.right, active: true, birthDate: '1970-01-02' },
        { resourceType: 'Patient', id: ids.wrong, active: false, birthDate: '1980-01-01' },
        {
          ...{ resourceType: 'CodeSystem', id: word(), url: codes, status: 'active', content: 'complete' },
          concept: [{ code: 'in' }, { code: 'out' }],
        },
        {
          ...{ resourceType: 'ValueSet', id: word(), url: valueSet, status: 'active' },
          compose: { include: [{ system: codes, concept: [{ code: 'in' }] }] },
        },
      ] as Sendable[]);
      // The client's own profiles.
      const who = server.as(blind);
      const made = [
        definition(born, 'Patient', 'Patient.birthDate', constraint('$this = @1970-01-02')),
        definition(target, 'Basic', 'Basic.subject', { type: [{ code: 'Reference', targetProfile: [born] }] }),
        definition(rule, 'Basic', 'Basic.subject', constraint('resolve().active = true')),
        definition(conforming, 'Basic', 'Basic.subject', constraint(`resolve().conformsTo('${born}')`)),
        definition(bound, 'Basic', 'Basic.code', { binding: { strength: 'required', valueSet } }),
      ];
      for (const each of made) {
        const answer = await who.send('POST', '/StructureDefinition', each);
        expect(answer.status, answer.text).toBe(201);
      }
    });

    const basic = (claimed: string, more: object) => ({
      ...{ resourceType: 'Basic', id: word(), meta: { profile: [claimed] } },
      ...{ code: { text: 'x' }, ...more },
    });
    const about = (claimed: string) =>
      [ids.right, ids.wrong, ids.none].map((id) => basic(claimed, { subject: { reference: `Patient/${id}` } }));
    const alike = (found: readonly string[]): string[] =>
      found.map((text) => Object.values(ids).reduce((rest, id) => rest.replaceAll(id, 'PATIENT'), text));

    it.each([
      ['a profile of what is referred to', target],
      ['a rule that resolves a reference', rule],
      ['a rule that asks whether what is referred to conforms', conforming],
    ])('and tells nothing of hidden resources by %s', async (_, claimed) => {
      const [right, wrong, none] = alike(await told(blind, 'Basic', about(claimed)));
      expect(right).toBe(none);
      expect(wrong).toBe(none);
      const [seen, unlike] = alike(await told(sighted, 'Basic', about(claimed)));
      expect(seen).toBe('stored');
      expect(unlike).toContain('profile-broken');
    });

    it('and tells nothing of what lies outside a constraint', async () => {
      const partly = `${blind} system/Patient.r?birthdate=1960-01-01`;
      const [right, wrong, none] = alike(await told(partly, 'Basic', about(target)));
      expect(new Set([right, wrong, none]).size).toBe(1);
    });

    it('and tells nothing of hidden value sets and code systems', async () => {
      const coded = () => ['in', 'out', 'nowhere'].map((code) => basic(bound, { code: { coding: [{ system: codes, code }] } })); // prettier-ignore
      const plain = (found: readonly string[]) => found.map((text) => text.replace(/"(in|out|nowhere)"|\|(in|out|nowhere)\b/g, 'CODE').replace(/#(in|out|nowhere)\b/g, 'CODE')); // prettier-ignore
      const hidden = plain(await told(blind, 'Basic', coded()));
      expect(new Set(hidden).size, hidden.join('\n')).toBe(1);
      const [inside, outside] = await told(sighted, 'Basic', coded());
      expect(inside).toBe('stored');
      expect(outside).toContain('profile-broken');
    });

    it('and looks nothing up for conditional references', async () => {
      const lines = [ids.right, ids.none].map((id) => ({
        ...{ resourceType: 'Basic', id: word(), code: { text: 'x' } },
        subject: { reference: `Patient?_id=${id}` },
      }));
      const found = alike(await told(blind, 'Basic', lines));
      expect(found[0]).toBe(found[1]);
    });

    it('and takes a Binary of a hidden context like one of a context that is not there', async () => {
      const lines = [ids.right, ids.none].map((id) => ({
        ...{ resourceType: 'Binary', id: word(), contentType: 'text/plain', data: 'eA==' },
        securityContext: { reference: `Patient/${id}` },
      }));
      const found = alike(await told(blind, 'Binary', lines));
      expect(found[0]).toBe(found[1]);
    });
  });

  /** Ways to start each kind of job, by the scopes that it takes, and others that are less. */
  const KINDS = [
    {
      kind: 'export',
      scopes: 'system/Patient.rs system/Basic.rs',
      narrower: ['system/Patient.rs', 'system/Patient.rs system/Basic.rs?code=x'],
      start: async (scopes: string, id = 'client') =>
        below((await server.as(scopes, id).send('GET', '/$export', undefined, ASYNC)).headers['content-location']),
    },
    {
      kind: 'import',
      scopes: 'system/Basic.cu system/Binary.r system/Patient.r',
      narrower: ['system/Basic.cu system/Binary.r', 'system/Patient.r system/Binary.r'],
      start: async (scopes: string) =>
        startImport(scopes, 'Basic', [{ resourceType: 'Basic', id: word(), code: { text: 'x' } }, { resourceType: 'Patient' }]), // prettier-ignore
    },
    {
      kind: 'reindexing',
      scopes: '__admin.reindex system/Patient.s',
      narrower: ['__admin.reindex', '__admin.reindex system/Patient.s?gender=male'],
      start: async (scopes: string) =>
        below((await server.as(scopes).send('POST', '/$reindex', parameters({ name: 'url', valueString: 'Patient?active=true' }), ASYNC)).headers['content-location']), // prettier-ignore
    },
  ] as const;

  describe.each(KINDS)('an $kind', ({ kind, scopes, narrower, start }) => {
    beforeAll(async () => {
      await putAll(all, [{ resourceType: 'Patient', id: 'p', active: true }] as Sendable[]);
    });

    /** All that can be asked about a job, its files too. */
    const doors = async (status: string): Promise<(readonly [method: string, path: string])[]> => {
      const answer = await server.as(scopes).send('GET', status);
      const { output = [], error = [] } = kind === 'reindexing' ? {} : answer.json();
      const files = [...output, ...error].flatMap(({ url: file }: { url?: string }) => file ?? []);
      expect(files.length > 0).toBe(kind !== 'reindexing');
      return [
        ['GET', status],
        ...(kind === 'reindexing' ? [['GET', `${status}&_return=report`] as const] : [['DELETE', status] as const]),
        ...files.map((file) => ['GET', below(file)] as const),
      ];
    };

    it('is not shown to, and not ended by, a token of the same client that gives less', async () => {
      const status = await start(scopes);
      for (const less of narrower) {
        expect(neededBy(await server.as(less).send('GET', status)), less).toBeDefined();
        if (kind !== 'reindexing') expect(neededBy(await server.as(less).send('DELETE', status)), less).toBeDefined();
      }
      await server.finish();
      for (const [method, path] of await doors(status)) {
        for (const less of narrower) {
          const answer = await server.as(less).send(method, path);
          expect(neededBy(answer), `${method} ${path} ${less}: ${answer.text}`).toBeDefined();
        }
      }
      // It is all there still.
      for (const [, path] of (await doors(status)).filter(([method]) => method === 'GET'))
        expect((await server.as(`${scopes} system/Observation.r`).send('GET', path)).status).toBe(200);
    });

    it('is unknown to other clients, as if there were none', async () => {
      const status = await start(scopes);
      await server.finish();
      for (const [method, path] of await doors(status)) {
        const answer = await server.as('system/*.cruds __admin', 'other').send(method, path);
        const nothing = path.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '00000000-0000-7000-8000-000000000000');
        const none = await server.as('system/*.cruds __admin', 'other').send(method, nothing);
        expect(answer.status, path).toBe(404);
        expect([answer.status, answer.text.replaceAll(path.slice(1), '')]).toEqual([none.status, none.text.replaceAll(nothing.slice(1), '')]); // prettier-ignore
      }
    });

    it.each([
      ['disabled', (client: object) => ({ ...client, enabled: false })],
      ['removed', () => undefined],
      ['removed, and added again', (client: object) => ({ ...client, registration: 'another' })],
      ['registered for less', (client: object) => ({ ...client, scope: 'system/Group.cruds' })],
      ['registered for part of it', (client: object) => ({ ...client, scope: 'system/*.cruds?_tag=x __admin' })],
    ])('ends when its client is %s', async (_, change) => {
      const status = await start(scopes);
      const changed = change(registered.get('client')!);
      if (changed === undefined) registered.delete('client');
      else registered.set('client', changed as Client);
      await expect(server.finish()).rejects.toMatchObject({ code: 'scope-missing' });
      const job = await server.jobs.read(status.split('=')[1]!);
      expect(job).toMatchObject({ state: 'failed', progress: { done: 0 } });
    });
  });

  it('a merge ends with the rights of its client, too', async () => {
    await putAll(all, [
      { resourceType: 'Basic', id: 'from', code: { text: 'x' } },
      { resourceType: 'Basic', id: 'to', code: { text: 'x' } },
      {
        resourceType: 'List',
        id: 'refers',
        status: 'current',
        mode: 'working',
        subject: [{ reference: 'Basic/from' }],
      },
    ] as Sendable[]);
    const body = parameters(
      { name: 'source-reference-id', valueString: 'Basic/from' },
      { name: 'target-reference-id', valueString: 'Basic/to' },
    );
    const who = server.as('system/*.cruds __admin.replace-references');
    const answer = await who.send('POST', '/$svc.fhir.replace-references', body, ASYNC);
    expect(answer.status, answer.text).toBe(202);
    registered.set('client', { scope: 'system/*.r __admin', enabled: true });
    await expect(server.finish()).rejects.toMatchObject({ code: 'scope-missing' });
    expect((await all.send('GET', '/List/refers')).json().subject[0].reference).toBe('Basic/from');
  });

  it('a start that a constraint forbids says that this is why, and not that a scope is missing which the token has', async () => {
    const bound = server.as('system/Patient.rs?active=true', 'bound');
    const refused = await bound.send('GET', '/Patient/$export', undefined, ASYNC);
    expectRefusal(refused, 403, 'scope-missing', 'under a constraint alone');
    expect(refused.text).not.toContain('lacks');
  });

  describe('a reindexing tells how many resources there are only who may search them', () => {
    const found = async (scopes: string, ...given: object[]): Promise<string> => {
      const who = server.as(scopes);
      const answer = await who.send('POST', '/$reindex', parameters(...given), ASYNC);
      expect(answer.status, answer.text).toBe(202);
      const status = below(answer.headers['content-location']);
      await server.finish();
      const report = await who.send('GET', `${status}&_return=report`);
      return `${report.text}${(await who.send('GET', status)).text}${report.headers['x-progress'] as string}`;
    };
    const url1 = (text: string) => ({ name: 'url', valueString: text });
    const counts = (text: string): string => text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z|Duration: [\d.]+ s|_jobId=[\w-]+|:\d{4,5}\//g, '').replaceAll(/\(\d+ per second\)/g, ''); // prettier-ignore

    beforeAll(async () => {
      await putAll(all, [
        { resourceType: 'Patient', id: 'm', gender: 'male', birthDate: '1950-05-05' },
        { resourceType: 'Patient', id: 'f', gender: 'female', birthDate: '1950-05-05' },
      ] as Sendable[]);
    });

    it('a search needs what a search needs', async () => {
      const refused = async (scopes: string, text: string) =>
        neededBy(await server.as(scopes).send('POST', '/$reindex', parameters(url1(text)), ASYNC));
      expect(await refused('__admin.reindex', 'Patient?birthdate=1950-05-05')).toBe('system/Patient.s');
      expect(await refused('__admin.reindex system/Observation.s', 'Observation?subject:Patient.birthdate=1950')).toBe('system/Observation.s system/Patient.s'); // prettier-ignore
      expect(await refused('__admin.reindex system/Patient.r', 'Patient?')).toBe('system/Patient.s');
    });

    it('of a search, what lies outside the constraint is not among them', async () => {
      const text = 'Patient?birthdate=1950-05-05';
      expect(await found('__admin.reindex system/Patient.s', url1(text))).toContain('Changed: 2');
      const narrow = await found('__admin.reindex system/Patient.s?gender=male', url1(text));
      expect(narrow).toContain('Changed: 1\n');
      expect(narrow).toContain('1 resources');
    });

    it('of all, those of types that the token searches whole', async () => {
      const before = counts(await found('__admin.reindex system/Patient.s?gender=male'));
      expect(before).not.toContain('Patient');
      const some = await found('__admin.reindex system/Group.s');
      await putAll(all, [
        { resourceType: 'Patient', id: word() },
        { resourceType: 'Location', id: word() },
      ] as Sendable[]);
      expect(counts(await found('__admin.reindex system/Patient.s?gender=male'))).toBe(before);
      expect(counts(await found('__admin.reindex system/Group.s'))).toBe(counts(some));
      const whole = await found('__admin.reindex system/Patient.s');
      expect(whole).toMatch(/ResourceType\[Patient\]\n {4}Changed: [1-9]/);
      expect(whole).not.toContain('ResourceType[Basic]');
    });

    it('a pass counts what the jobs of its client indexed, and says nothing of those of others', async () => {
      const scopes = '__admin.reindex system/Patient.s';
      const asked = vi.spyOn(server.jobs, 'list');
      const start = (id: string) => server.as(scopes, id).send('POST', '/$reindex', parameters(), ASYNC);
      const started = [await start('other'), await start('client')];
      const passes = ['client', 'third'].map((id) =>
        server.as(scopes, id).send('POST', '/$perform-reindexing-pass', parameters()),
      );
      await expect.poll(() => asked.mock.calls.length).toBe(2);
      asked.mockRestore();
      await server.finish();
      const [own, others] = (await Promise.all(passes)).map(({ text }) => text);
      expect(own).toMatch(/"[1-9]\d* resources were indexed, and others by jobs that this token did not start"/);
      expect(others).toContain('"0 resources were indexed, and others by jobs');
      for (const { headers } of started)
        expect(others).not.toContain(String(headers['content-location']).split('=')[1]!);
    });
  });
}

/** A client has so many jobs and no more, on any store */
export function jobsPerClient(store: Store): void {
  const server = jobsServer(store, {}, { perClient: { running: 3, kept: 4 } });
  const exported = (client: string, n: number) =>
    server.as('system/*.rs', client).send('GET', `/$export?_type=Patient&_exportId=${n}`, undefined, ASYNC);
  const all = (client: string, most: number) =>
    Promise.all(Array.from({ length: most }, (_, n) => exported(client, n)));

  it('of many exports at once the rest is refused, and says when to ask again', async () => {
    const answers = await all('busy', 12);
    const refused = answers.filter(({ status }) => status !== 202);
    expect(refused).toHaveLength(9);
    for (const answer of refused) {
      expectRefusal(answer, 429, 'too-many-jobs', '3 jobs');
      expect(answer.json().issue[0].code).toBe('throttled');
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    }
    // Another client has as many.
    expect((await all('calm', 3)).map(({ status }) => status)).toEqual([202, 202, 202]);
    await server.finish();
  });

  it('of those that ended the results are kept until they are removed', async () => {
    const path = (await exported('busy', 20)).headers['content-location'] as string;
    await server.finish();
    const full = await exported('busy', 21);
    expectRefusal(full, 429, 'too-many-jobs', '4 jobs', 'DELETE');
    expect(Number(full.headers['retry-after'])).toBeGreaterThan(3600);
    const status = path.replace(/^.*?\/fhir/, '');
    expect((await server.as('system/*.rs', 'busy').send('DELETE', status)).status).toBe(202);
    expect((await exported('busy', 22)).status).toBe(202);
    await server.finish();
  });

  it('of reindexings, which leave no files, the oldest gives way', async () => {
    const start = async () =>
      server.as('__admin.reindex', 'operator').send('POST', '/$reindex', { resourceType: 'Parameters' });
    const first = await start();
    for (let n = 0; n < 5; n++) {
      expect((await start()).status).toBe(202);
      await server.finish();
    }
    const status = String(first.headers['content-location']).replace(/^.*?\/fhir/, '');
    expectRefusal(await server.as('__admin.reindex', 'operator').send('GET', status), 404, 'job-unknown');
  });
}
