import { beforeAll, describe, expect, it } from 'vitest';

import type { Store } from '../../../runtime/store/store.js';
import { scopedServer } from '../auth/scoped.js';
import { batch, responsesOf } from '../bundles/bundle-server.js';
import type { Answer } from '../server.js';
import { expectRefusal } from '../write-server.js';

const LOINC = 'http://loinc.org';
const CATEGORIES = 'http://terminology.hl7.org/CodeSystem/observation-category';
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
      category: [{ coding: [{ system: CATEGORIES, code: 'laboratory' }] }],
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
      component: [
        {
          code: { coding: [{ system: LOINC, code: 'sys' }] },
          valueQuantity: { value: 120, system: UCUM, code: 'mm[Hg]' },
        },
      ],
    });
    await observe('t1', 'x', '2022-01-01', 1, { code: { text: 'Something' } });
  });

  describe('$lastn (observation-operation-lastn.html)', () => {
    it('the newest of each code, the newest group first', async () => {
      expect(idsOf(await get('/Observation/$lastn?patient=p&category=laboratory'))).toEqual(['k1', 'g5', 'b1', 't1']);
      expect(idsOf(await get('/Observation/$lastn?patient=p&max=2&code=glucose'))).toEqual(['g5', 'g4']);
      expect(idsOf(await get(`/Observation/$lastn?patient=p&max=9&code=${LOINC}|glucose&status=final`))).toEqual([
        'g4',
        'g3',
        'g2',
        'g1',
      ]);
      expect(idsOf(await get('/Observation/$lastn?patient=none&category=laboratory'))).toEqual([]);
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
      const path = '/Observation/$lastn?patient=p&category=laboratory';
      expectRefusal(await get(`${path}&max=0`), 400, 'parameter-invalid', 'max');
      expectRefusal(await get(`${path}&nonsense=1`), 400, 'parameter-unknown', 'nonsense');
      for (const shaping of ['_sort=date', '_elements=status', '_include=*', '_summary=count']) {
        expectRefusal(await get(`${path}&${shaping}`), 400, 'parameter-invalid', shaping.split('=', 1)[0]!);
      }
    });

    it('refuses to answer over everybody, or over everything of one, and names what is missing', async () => {
      const path = '/Observation/$lastn?max=3';
      expectRefusal(await get('/Observation/$lastn'), 400, 'parameter-invalid', 'patient', 'category');
      expectRefusal(await get(`${path}&category=laboratory`), 400, 'parameter-invalid', 'subject');
      expectRefusal(await get(`${path}&patient=p`), 400, 'parameter-invalid', 'code');
      expectRefusal(await get(`${path}&patient=p&status=final`), 400, 'parameter-invalid', 'category');
      expectRefusal(await get(`${path}&patient:missing=true&code=glucose`), 400, 'parameter-invalid', 'patient');
      for (const code of ['combo-code=sys', 'component-code=sys', 'code-value-quantity=panel$1', 'code:not=glucose']) {
        expect((await get(`${path}&subject=Patient/p&${code}`)).status, code).toBe(200);
      }
      expect((await get(`${path}&subject:Patient=p&code=glucose`)).status).toBe(200);
    });

    describe('groups', () => {
      const coded = (...codes: string[]) => ({
        code: { coding: codes.map((code) => ({ system: LOINC, code })), text: codes.join() },
        subject: { reference: 'Patient/groups' },
      });
      const lastOf = async (query = '') =>
        idsOf(await get(`/Observation/$lastn?patient=groups&category=laboratory${query}`)).filter((id) =>
          /^x/.test(id),
        );

      beforeAll(async () => {
        await observe('x1', '', '2024-01-01', 1, coded('a'));
        await observe('x2', '', '2024-01-02', 1, coded('b'));
        await observe('x3', '', '2024-01-03', 1, coded('c'));
        await observe('y1', '', '2024-02-01T10:00:00Z', 1, {
          code: { text: 'textM' },
          subject: { reference: 'Patient/texts' },
        });
        for (const [i, text] of ['Text', 't e x t', 'Text'].entries()) {
          const more = { code: { text, coding: [{ display: 'any' }] }, subject: { reference: 'Patient/texts' } };
          await observe(`y${i + 2}`, '', `2024-01-0${i + 1}`, 1, more);
        }
      });

      it('codings in common make one, translations in any place', async () => {
        expect(await lastOf()).toEqual(['x3', 'x2', 'x1']);
        // The oldest of all has the codes of two others, and makes them one.
        await observe('x0', '', '2023-01-01', 1, coded('a', 'c'));
        expect(await lastOf()).toEqual(['x3', 'x2']);
        expect(await lastOf('&max=2')).toEqual(['x3', 'x1', 'x2']);
        await observe('x4', '', '2024-01-04', 1, coded('other', 'b'));
        expect(await lastOf()).toEqual(['x4', 'x3']);
        await observe('x5', '', '2022-01-05', 1, coded('c', 'b'));
        expect(await lastOf()).toEqual(['x4']);
        expect(await lastOf('&max=9')).toEqual(['x4', 'x3', 'x2', 'x1', 'x0', 'x5']);
      });

      it('texts alone are compared as they are', async () => {
        const found = idsOf(await get('/Observation/$lastn?patient=texts&category=laboratory'));
        expect(found).toEqual(['y1', 'y4', 'y3']);
      });

      it('what was made at the time of the last one comes too', async () => {
        const at = (effectiveDateTime: string, more = {}) => ({
          ...coded('tie'),
          subject: { reference: 'Patient/ties' },
          effectiveDateTime,
          ...more,
        });
        const period = { effectiveDateTime: undefined, effectivePeriod: { start: '2024-02-01', end: '2024-05-01' } };
        await observe('n1', '', '', 1, at('2024-05-03T10:00:00Z'));
        await observe('n2', '', '', 1, at('2024-05-02T10:00:00Z'));
        await observe('n3', '', '', 1, at('2024-05-02T12:00:00+02:00'));
        await observe('n4', '', '', 1, at('2024-05-02T10:00:00.000Z'));
        await observe('n5', '', '', 1, at('2024-05-01'));
        await observe('n6', '', '', 1, at('', period));
        await observe('n7', '', '', 1, at('', { effectiveDateTime: undefined }));
        await observe('n8', '', '', 1, at('', { effectiveDateTime: undefined }));
        const last = async (max: number) => {
          const path = `/Observation/$lastn?patient=ties&code=tie&max=${max}`;
          return idsOf(await get(path))
            .sort()
            .join(' ');
        };
        expect(await last(1)).toBe('n1');
        expect(await last(2)).toBe('n1 n2 n3 n4');
        expect(await last(4)).toBe('n1 n2 n3 n4');
        expect(await last(5)).toBe('n1 n2 n3 n4 n5 n6');
        // Two without a time are not of the same time.
        expect(await last(7)).toMatch(/^n1 n2 n3 n4 n5 n6 n[78]$/);
        expect(await last(8)).toBe('n1 n2 n3 n4 n5 n6 n7 n8');
      });
    });

    it('within the scopes of a token', async () => {
      const narrow = server.as('system/Observation.s?_tag=x');
      expect(idsOf(await narrow.send('GET', '/Observation/$lastn?max=9&patient=p&code=glucose'))).toEqual(['g3']);
      const refused = await server
        .as('system/Observation.r')
        .send('GET', '/Observation/$lastn?patient=p&category=laboratory');
      expect(refused.status).toBe(403);
      expect(refused.headers['www-authenticate']).toContain('system/Observation.s');
      // A chain reaches into another type.
      const chained = await server
        .as('system/Observation.s')
        .send('GET', '/Observation/$lastn?subject:Patient.name=x&code=glucose');
      expect(chained.status).toBe(403);
    });

    it('in XML and as an entry of a batch', async () => {
      const xml = await get('/Observation/$lastn?patient=p&category=laboratory', { accept: 'application/fhir+xml' });
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

    it('of a duration from before computers counted time', async () => {
      for (const hours of ['876000', '9'.repeat(12)]) {
        const all = await stats(`code=glucose&duration=${hours}&statistic=count`);
        expect(
          all.map(({ resource }) => valuesOf(resource)),
          hours,
        ).toEqual([{ count: 1 }, { count: 3 }]);
      }
      const [all] = await stats(`code=glucose&duration=876000&statistic=count`);
      expect(all?.resource).toMatchObject({ effectivePeriod: { start: expect.stringMatching(/^19\d\d-/) } });
    });

    it('leaves out what a modifier extension may turn around, and what has no unit of UCUM', async () => {
      const url = 'http://example.org/turns-it-around';
      const modifierExtension = [{ url, valueBoolean: true }];
      const code = { coding: [{ system: LOINC, code: 'turned' }] };
      const valueQuantity = { value: 50, system: UCUM, code: 'kg' };
      await observe('u1', 'turned', '2024-03-01', 0, { valueQuantity });
      await observe('u2', 'turned', '2024-03-02', 0, {
        valueQuantity: { ...valueQuantity, value: 9 },
        modifierExtension,
      });
      await observe('u3', 'turned', '2024-03-03', 0, { valueQuantity: { value: 9, unit: 'kg' } });
      await observe('u4', 'other', '2024-03-04', 0, {
        component: [{ code, valueQuantity: { ...valueQuantity, value: 9 }, modifierExtension }],
      });
      const found = await stats('code=turned&statistic=average&statistic=count&statistic=total-count');
      expect(found.map(({ resource }) => valuesOf(resource))).toEqual([{ average: 50, count: 1, 'total-count': 4 }]);
    });

    it('converts into the unit of the newest', async () => {
      await observe('w1', 'weight', '2024-03-01', 0, { valueQuantity: { value: 4000, system: UCUM, code: 'g' } });
      await observe('w2', 'weight', '2024-03-02', 0, { valueQuantity: { value: 4.2, system: UCUM, code: 'kg' } });
      await observe('w3', 'heat', '2024-03-02', 0, { valueQuantity: { value: 37, system: UCUM, code: 'Cel' } });
      await observe('w4', 'heat', '2024-03-01', 0, { valueQuantity: { value: 100.4, system: UCUM, code: '[degF]' } });
      const [weight, ...others] = await stats('code=weight&statistic=average');
      expect(others).toEqual([]);
      expect(weight!.resource.component[0]!.valueQuantity).toMatchObject({ value: 4.1, code: 'kg' });
      const [heat] = await stats('code=heat&statistic=maximum');
      expect(heat!.resource.component[0]!.valueQuantity).toMatchObject({ value: 38, code: 'Cel' });
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
