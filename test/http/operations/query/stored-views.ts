import { beforeAll, describe, expect, it } from 'vitest';

import type { Store } from '../../../../runtime/store/store.js';
import { createRuleChecker } from '../../../../runtime/validate/rules/create-rule-checker.js';
import { tables } from '../../../../generated/tables.js';
import { withoutViews } from '../../../../runtime/core/definitions/without-views.js';
import { scopedServer } from '../../auth/scoped.js';
import { expectRefusal } from '../../write-server.js';

type Part = Readonly<Record<string, unknown>>;

const URL = 'https://views.example/people';

/** ViewDefinitions as resources, and as subjects of `$sql-run`. */
export function storedViews(store: Store): void {
  const server = scopedServer(store, { rules: createRuleChecker(tables), validation: 'full' });
  const off = scopedServer(store, { tables: withoutViews(tables) });
  const view = (more: object, name = 'id'): Record<string, unknown> => ({
    ...{ resourceType: 'ViewDefinition', status: 'active', resource: 'Patient' },
    select: [{ column: [{ name, path: 'id' }] }],
    ...more,
  });
  const run = (parameter: readonly Part[], as: Pick<typeof server.all, 'send'> = server.all) =>
    as.send('POST', '/$sql-run', { resourceType: 'Parameters', parameter });
  const canonical = (text: string): Part[] => [{ name: 'subjectCanonical', valueCanonical: text }];
  const reference = (text: string): Part[] => [{ name: 'subjectReference', valueReference: { reference: text } }];

  beforeAll(async () => {
    const bodies = [
      view({ id: 'v9', url: URL, version: '9', name: 'people' }, 'nine'),
      view({ id: 'v10', url: URL, version: '10', name: 'people' }, 'ten'),
      view({ id: 'v11', url: URL, version: '11', name: 'people', status: 'draft' }, 'eleven'),
      { resourceType: 'Patient', id: 'p', active: true },
    ];
    for (const body of bodies) {
      const { status, text } = await server.all.send('PUT', `/${String(body['resourceType'])}/${String((body as { id?: unknown }).id)}`, body); // prettier-ignore
      expect(status, text).toBe(201);
    }
  });

  describe('the type', () => {
    it('is stored, found and has a history', async () => {
      const found = await server.all.send('GET', `/ViewDefinition?url=${URL}&status=draft&resource=Patient`);
      expect(found.json()).toMatchObject({ total: 1, entry: [{ resource: { id: 'v11' } }] });
      expect((await server.all.send('GET', '/ViewDefinition/v9/_history')).json()).toMatchObject({ total: 1 });
      const listed = (await server.all.send('GET', '/metadata')).json() as { rest: { resource: { type: string }[] }[] };
      expect(listed.rest[0]!.resource.map(({ type }) => type)).toContain('ViewDefinition');
    });

    it('keeps what says which definition it is of', async () => {
      const resourceDefinition = 'http://hl7.org/fhir/StructureDefinition/ViewDefinition|3.0.0-ballot';
      const body = view({ id: 'defined', resourceDefinition, title: 't' });
      expect((await server.all.send('PUT', '/ViewDefinition/defined', body)).status).toBe(201);
      expect((await server.all.send('GET', '/ViewDefinition/defined')).json()).toMatchObject({ resourceDefinition });
      const summary = await server.all.send('GET', '/ViewDefinition/defined?_summary=true');
      expect(summary.json()).toMatchObject({ resourceDefinition, title: 't' });
      const xml = await server.all.send('GET', '/ViewDefinition/defined?_format=xml');
      expect(xml.status, xml.text).toBe(200);
      expectRefusal(
        await server.all.send('POST', '/Patient', { resourceType: 'Patient', resourceDefinition }),
        400,
        'unknown-property',
      );
      await server.all.send('DELETE', '/ViewDefinition/defined');
    });

    it.each<[string, object, number]>([
      ['without a selection', { select: undefined }, 400],
      ['with an unknown element', { table: 'x' }, 400],
      ['with a name that no table can have', { name: 'my table' }, 422],
      ['with two iterations', { select: [{ forEach: 'name', repeat: ['item'], column: [{ name: 'a', path: 'id' }] }] }, 422], // prettier-ignore
      ['of an unknown type', { resource: 'Patients' }, 422],
    ])('%s is refused', async (_title, more, status) => {
      const answer = await server.all.send('POST', '/ViewDefinition', view(more));
      expect(answer.status, answer.text).toBe(status);
    });

    it('is a type that other definitions may name', async () => {
      const body = { resourceType: 'SearchParameter', url: 'https://views.example/sp', name: 'Tag', status: 'draft', description: 'd', code: 'purpose-text', base: ['ViewDefinition'], type: 'string', expression: 'ViewDefinition.purpose', processingMode: 'normal' }; // prettier-ignore
      const { status, text } = await server.all.send('POST', '/SearchParameter', body);
      expect(status, text).toBe(201);
    });

    it('is judged by $validate as a run would', async () => {
      const judge = async (more: object): Promise<string[]> => {
        const answer = await server.all.send('POST', '/ViewDefinition/$validate', view(more));
        const { issue } = answer.json() as { issue: { severity: string; expression?: string[] }[] };
        // Narratives are recommended for all resources.
        const own = issue.filter(({ expression: [place] = [] }) => place !== 'ViewDefinition');
        return own.map(({ severity, expression = [] }) => `${severity} ${expression.join(' ')}`);
      };
      expect(await judge({})).toEqual([]);
      const select = (path: string) => [{ column: [{ name: 'a', path }] }];
      expect(await judge({ select: select('name.given(') })).toEqual(['error ViewDefinition.select[0].column[0].path']);
      expect(await judge({ select: select('nmae') })).toEqual(['warning ViewDefinition.select[0].column[0].path']);
      expect(await judge({ fhirVersion: ['4.0.1', '4.3.0'] })).toEqual(['warning ViewDefinition.fhirVersion']);
      expect(await judge({ fhirVersion: ['4.0.1', '5.0.0'] })).toEqual([]);
      expect(await judge({ fhirVersion: ['5.0'] })).toEqual([]);
    });
  });

  describe('a stored view', () => {
    it.each([
      ['the greatest active version', canonical(URL), 'ten'],
      ['a version', canonical(`${URL}|9`), 'nine'],
      ['a version that is no active one', canonical(`${URL}|11`), 'eleven'],
      ['a reference', reference('ViewDefinition/v9'), 'nine'],
    ])('is run by %s', async (_title, parts, column) => {
      const answer = await run(parts);
      expect(answer.text, answer.text).toBe(`{"${column}":"p"}\n`);
    });

    it('is run by GET', async () => {
      const answer = await server.all.send('GET', `/$sql-run?subjectReference=ViewDefinition/v10&_format=csv`);
      expect(answer.text).toBe('ten\np\n');
    });

    it.each([
      ['an unknown canonical', canonical('https://views.example/none'), 'subjectCanonical'],
      ['an unknown version', canonical(`${URL}|8`), 'subjectCanonical'],
      ['a reference to nothing', reference('ViewDefinition/none'), 'subjectReference'],
      ['a reference to elsewhere', reference('https://other.example/fhir/ViewDefinition/v9'), 'subjectReference'],
      ['a reference to another type', reference('Patient/p'), 'subjectReference'],
    ])('is not found by %s', async (_title, parts, expression) => {
      const answer = await run(parts);
      expectRefusal(answer, 404, 'not-found');
      expect(answer.json()).toMatchObject({ issue: [{ expression: [expression] }] });
    });

    it('needs r or s on its type, and s on the type of its rows', async () => {
      const by = async (scope: string): Promise<number[]> =>
        Promise.all([canonical(URL), reference('ViewDefinition/v9')].map(async (parts) => (await run(parts, server.as(scope))).status)); // prettier-ignore
      expect(await by('system/Patient.s system/ViewDefinition.r')).toEqual([200, 200]);
      expect(await by('system/Patient.s system/ViewDefinition.s')).toEqual([200, 200]);
      expect(await by('system/Patient.s')).toEqual([403, 403]);
      expect(await by('system/ViewDefinition.rs')).toEqual([403, 403]);
      expect(await by('system/Patient.s system/Library.r')).toEqual([404, 404]);
      expect(await by('system/Patient.s system/ViewDefinition.r?status=draft')).toEqual([200, 404]);
    });

    it.each([{ status: 'zzz' }, { name: 'my table' }])('is refused in a request as in a write: %j', async (more) => {
      const answer = await run([{ name: 'subjectResource', resource: view(more) }]);
      expectRefusal(answer, 422, 'view-invalid', Object.keys(more)[0]!);
      expect(answer.json()).toMatchObject({ issue: [{ code: 'invalid', expression: ['subjectResource'] }] });
      expect((await server.all.send('POST', '/ViewDefinition', view(more))).status).toBe(422);
    });

    it('is one of the subjects of a batch', async () => {
      const entry = [canonical(URL), canonical('https://views.example/none')].map((parameter) => ({
        request: { method: 'POST', url: '$sql-run' },
        resource: { resourceType: 'Parameters', parameter },
      }));
      const answer = await server.all.send('POST', '', { resourceType: 'Bundle', type: 'batch', entry });
      const found = (answer.json() as { entry: { response: { status: string } }[] }).entry;
      expect(found.map(({ response }) => response.status.slice(0, 3))).toEqual(['200', '404']);
    });
  });

  it('are away where SQL on FHIR is switched off', async () => {
    for (const path of ['/ViewDefinition', '/ViewDefinition/v9', '/$sql-run?subjectReference=ViewDefinition/v9']) {
      expect((await off.all.send('GET', path)).status, path).toBe(404);
    }
    expect((await off.all.send('POST', '/$sql-export', { resourceType: 'Parameters' })).status).toBe(404);
    const listed = (await off.all.send('GET', '/metadata')).text;
    expect(listed).not.toMatch(/ViewDefinition|sql-run|sql-export/);
    expect((await off.all.send('GET', '/Patient/p')).status).toBe(200);
  });
}
