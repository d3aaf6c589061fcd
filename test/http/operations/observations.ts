import { beforeAll, describe, expect, it } from 'vitest';

import type { Store } from '../../../runtime/store/store.js';
import { scopedServer } from '../auth/scoped.js';
import { batch, responsesOf } from '../bundles/bundle-server.js';
import type { Answer } from '../server.js';
import { expectRefusal } from '../write-server.js';

const LOINC = 'http://loinc.org';
const UCUM = 'http://unitsofmeasure.org';

interface Component {
  readonly code: { readonly coding: readonly { readonly code: string }[] };
  readonly valueQuantity?: { readonly value: number; readonly code?: string };
}

/** `Observation/$lastn` and `$stats` */
export function observations(store: Store): void {
  const server = scopedServer(store);
  const get = (path: string, headers = {}) => server.all.send('GET', path, undefined, headers);
  const observe = async (id: string, code: string, date: string, value: number, more: object = {}) => {
    const body = {
      resourceType: 'Observation',
      id,
      status: 'final',
      code: { coding: [{ system: LOINC, code }] },
      subject: { reference: 'Patient/p' },
      effectiveDateTime: date,
      valueQuantity: { value, unit: 'mg/dL', system: UCUM, code: 'mg/dL' },
      ...more,
    };
    const answer = await server.all.send('PUT', `/Observation/${id}`, body);
    expect(answer.status, answer.text).toBe(201);
  };
  const idsOf = (answer: Answer): string[] => {
    expect(answer.status, answer.text).toBe(200);
    const { type, entry = [] } = answer.json();
    expect(type).toBe('searchset');
    return entry.map(({ resource }: { resource: { id: string } }) => resource.id);
  };

  beforeAll(async () => {
    await server.all.send('PUT', '/Patient/p', { resourceType: 'Patient', id: 'p' });
    await server.all.send('PUT', '/Patient/q', { resourceType: 'Patient', id: 'q' });
    await observe('g1', 'glucose', '2024-01-01', 90);
    await observe('g2', 'glucose', '2024-01-02', 100);
    await observe('g3', 'glucose', '2024-01-03', 110, { meta: { tag: [{ code: 'x' }] } });
    await observe('g4', 'glucose', '2024-01-04', 5.5, { valueQuantity: { value: 5.5, system: UCUM, code: 'mmol/L' } });
    await observe('g5', 'glucose', '2024-01-05', 999, { status: 'entered-in-error' });
    await observe('k1', 'potassium', '2024-02-01', 4);
    await observe('k2', 'potassium', '2024-01-01', 5, { subject: { reference: 'Patient/q' } });
    await observe('b1', 'panel', '2023-01-01', 1, {
      component: [{ code: { coding: [{ system: LOINC, code: 'sys' }] }, valueQuantity: { value: 120 } }],
    });
    await observe('t1', 'x', '2022-01-01', 1, { code: { text: 'Something' } });
  });

  describe('$lastn (observation-operation-lastn.html)', () => {
    it('the newest of each code, the newest group first', async () => {
      expect(idsOf(await get('/Observation/$lastn?patient=p'))).toEqual(['k1', 'g5', 'b1', 't1']);
      expect(idsOf(await get('/Observation/$lastn?patient=p&max=2&code=glucose'))).toEqual(['g5', 'g4']);
      expect(idsOf(await get(`/Observation/$lastn?patient=p&max=9&code=${LOINC}|glucose&status=final`))).toEqual([
        'g4',
        'g3',
        'g2',
        'g1',
      ]);
      expect(idsOf(await get('/Observation/$lastn?patient=none'))).toEqual([]);
    });

    it('by POST, with criteria as parameters', async () => {
      const parameter = [
        { name: 'max', valuePositiveInt: 1 },
        { name: 'patient', valueString: 'p' },
        { name: 'code', valueString: 'glucose,potassium' },
      ];
      const answer = await server.all.send('POST', '/Observation/$lastn', { resourceType: 'Parameters', parameter });
      expect(idsOf(answer)).toEqual(['k1', 'g5']);
    });

    it('refuses what makes no sense', async () => {
      expectRefusal(await get('/Observation/$lastn?max=0'), 400, 'parameter-invalid', 'max');
      expectRefusal(await get('/Observation/$lastn?nonsense=1'), 400, 'parameter-unknown', 'nonsense');
      expectRefusal(await get('/Observation/$lastn?_sort=date'), 400, 'parameter-invalid', '_sort');
    });

    it('within the scopes of a token', async () => {
      const narrow = server.as('system/Observation.s?_tag=x');
      expect(idsOf(await narrow.send('GET', '/Observation/$lastn?max=9'))).toEqual(['g3']);
      const refused = await server.as('system/Observation.r').send('GET', '/Observation/$lastn?patient=p');
      expect(refused.status).toBe(403);
      expect(refused.headers['www-authenticate']).toContain('system/Observation.s');
      // A chain reaches into another type.
      const chained = await server.as('system/Observation.s').send('GET', '/Observation/$lastn?subject:Patient.name=x');
      expect(chained.status).toBe(403);
    });

    it('in XML and as an entry of a batch', async () => {
      const xml = await get('/Observation/$lastn?patient=p', { accept: 'application/fhir+xml' });
      expect(xml.text).toContain('<type value="searchset"/>');
      const entry = { request: { method: 'GET', url: 'Observation/$lastn?patient=p&code=glucose' } };
      const answer = await server.all.send('POST', '/', batch(entry));
      expect(responsesOf(answer)[0].status).toBe('200 OK');
      expect(answer.json().entry[0].resource.entry[0].resource.id).toBe('g5');
    });
  });

  describe('$stats (observation-operation-stats.html)', () => {
    const stats = async (query: string, who = server.all) => {
      const answer = await who.send('GET', `/Observation/$stats?subject=Patient/p&${query}`);
      expect(answer.status, answer.text).toBe(200);
      return answer.json().parameter as { name: string; resource: { id?: string; component: Component[] } }[];
    };
    const valuesOf = ({ component }: { component: Component[] }) =>
      Object.fromEntries(component.map(({ code, valueQuantity }) => [code.coding[0]?.code, valueQuantity?.value]));

    it('of one code: each unit by itself, errors left out', async () => {
      const list = ['average', 'minimum', 'maximum', 'count', 'sum', 'median', 'std-dev', '4-dev', 'total-count'];
      const found = await stats(`code=glucose&system=${LOINC}&${list.map((each) => `statistic=${each}`).join('&')}`);
      const byUnit = new Map(
        found.map(({ resource }) => [resource.component[0]?.valueQuantity?.code, valuesOf(resource)]),
      );
      expect(byUnit.get('mg/dL')).toEqual({
        average: 100,
        minimum: 90,
        maximum: 110,
        count: 3,
        sum: 300,
        median: 100,
        'std-dev': 8.16496580928,
        '4-dev': 10,
        'total-count': 3,
      });
      expect(byUnit.get('mmol/L')).toMatchObject({ average: 5.5, count: 1 });
      expect(byUnit.size).toBe(2);
      expect(found[0]?.resource).toMatchObject({
        resourceType: 'Observation',
        status: 'final',
        subject: { reference: 'Patient/p' },
      });
    });

    it('of components, of a period, with its sources', async () => {
      const [panel] = await stats(`code=sys&statistic=average`);
      expect(valuesOf(panel!.resource)).toEqual({ average: 120 });
      const body = {
        resourceType: 'Parameters',
        parameter: [
          { name: 'subject', valueUri: 'Patient/p' },
          { name: 'coding', valueCoding: { system: LOINC, code: 'glucose' } },
          { name: 'period', valuePeriod: { start: '2024-01-02', end: '2024-01-03' } },
          { name: 'statistic', valueCode: 'count' },
          { name: 'include', valueBoolean: true },
          { name: 'limit', valuePositiveInt: 1 },
        ],
      };
      const answer = await server.all.send('POST', '/Observation/$stats', body);
      const { parameter } = answer.json();
      expect(valuesOf(parameter[0].resource)).toEqual({ count: 2 });
      expect(
        parameter.slice(1).map(({ name, resource }: { name: string; resource: { id: string } }) => [name, resource.id]),
      ).toEqual([['source', 'g3']]);
    });

    it('of nothing: no value, and a count of none', async () => {
      const [none] = await stats('code=nothing&statistic=average&statistic=count');
      expect(valuesOf(none!.resource)).toEqual({ average: undefined, count: 0 });
      const [old] = await stats('code=glucose&duration=1&statistic=count');
      expect(valuesOf(old!.resource)).toEqual({ count: 0 });
    });

    it('refuses what is missing or not computed, and what scopes do not give', async () => {
      const path = '/Observation/$stats?subject=Patient/p';
      expectRefusal(await get(`${path}&code=glucose`), 400, 'parameter-invalid', 'statistic');
      expectRefusal(await get(`${path}&statistic=count`), 400, 'parameter-invalid', 'code');
      expectRefusal(await get(`${path}&code=glucose&statistic=regression`), 400, 'parameter-invalid', 'average');
      expectRefusal(await get('/Observation/$stats?code=glucose&statistic=count'), 400, 'parameter-invalid', 'subject');
      expectRefusal(
        await get(`${path}&code=glucose&statistic=count&duration=-1`),
        400,
        'parameter-invalid',
        'duration',
      );
      const narrow = Object.assign(Object.create(server.all), server.as('system/Observation.s?_tag=x'));
      const [seen] = await stats('code=glucose&statistic=count', narrow);
      expect(valuesOf(seen!.resource)).toEqual({ count: 1 });
      expect((await server.as('system/Patient.s').send('GET', `${path}&code=x&statistic=count`)).status).toBe(403);
    });
  });

  it('leaves no defects', () => expect(server.defects).toEqual([]));
}
