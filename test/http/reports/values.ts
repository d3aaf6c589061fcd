import { beforeAll, describe, expect, it } from 'vitest';

import type { Store } from '../../../runtime/store/store.js';
import { observation, useReports } from './support.js';

/** Reported kinds of fault in dates, numbers and quantities, and their siblings, whatever the store. */
export function reportedValues(store: Store): void {
  const { server, put, find } = useReports(store);

  describe('R01: an instant is a point in time wherever it stands', () => {
    beforeAll(async () => {
      const participant = [{ status: 'accepted', actor: { display: 'x' } }];
      const start = '2020-01-01T10:00:00Z';
      await put({ resourceType: 'Slot', id: 'r01', status: 'free', schedule: { display: 'x' }, start, end: start });
      await put({ resourceType: 'Appointment', id: 'r01', status: 'booked', participant, start });
      const requestedPeriod = [{ start }];
      await put({ resourceType: 'Appointment', id: 'r01p', status: 'proposed', participant, requestedPeriod });
    });
    const point: readonly (readonly [string, boolean])[] = [
      ['2020-01-01T10:00:00Z', true],
      ['2020-01-01T10:00:00.000Z', true],
      ['2020-01-01T10:00Z', true],
      ['ge2020-01-01T10:00:00.000Z', true],
      ['le2020-01-01T10:00:00.000Z', true],
      ['lt2020-01-01T10:00:00.001Z', true],
      ['eb2020-01-01T10:00:00.001Z', true],
      ['ne2020-01-01T10:00:00.000Z', false],
      ['gt2020-01-01T10:00:00.000Z', false],
      ['gt2020-01-01T10:00:00.400Z', false],
      ['sa2020-01-01T10:00:00.000Z', false],
      ['2020-01-01T10:00:00.400Z', false],
    ];
    it.each(point)('%s: %s', async (date, isFound) => {
      const found = isFound ? ['r01'] : [];
      expect(await find(`Slot?_id=r01&start=${date}`)).toEqual(found);
      // The parameter reads an instant or a dateTime.
      expect(await find(`Appointment?_id=r01&date=${date}`)).toEqual(found);
      expect(
        await find(`Appointment?_id=r01&_filter=date ${date.replace(/^[a-z]{2}|^/, (prefix) => `${prefix || 'eq'} `)}`),
      ).toEqual(found);
    });
    it('a dateTime read by the same parameter covers its second', async () => {
      expect(await find('Appointment?_id=r01,r01p&date=gt2020-01-01T10:00:00.400Z')).toEqual(['r01p']);
      expect(await find('Appointment?_id=r01,r01p&date=2020-01-01T10:00:00.000Z')).toEqual(['r01']);
    });
  });

  describe('R02: a leap second is read wherever a time may stand', () => {
    it('in an instant, a Period, with a fraction and an offset', async () => {
      await put(observation('r02i', { effectiveInstant: '2016-12-31T23:59:60.5Z' }));
      await put(observation('r02o', { effectiveDateTime: '2017-01-01T05:29:60+05:30' }));
      await put(
        observation('r02p', { effectivePeriod: { start: '2016-12-31T23:59:00Z', end: '2016-12-31T23:59:60Z' } }),
      );
      const all = 'Observation?_id=r02i,r02o,r02p&date=';
      for (const date of ['2016-12-31', '2016', 'lt2017', 'eb2017', '2016-12-31T23:59Z']) {
        expect(await find(`${all}${date}`), date).toEqual(['r02i', 'r02o', 'r02p']);
      }
      for (const date of ['2017', 'ge2017', 'sa2016']) expect(await find(`${all}${date}`), date).toEqual([]);
    });
    it.each(['_since=2016-12-31T23:59:60Z', '_at=2016-12-31T23:59:60Z'])('in %s of a history', async (query) => {
      expect((await server.send('GET', `/Observation/_history?${query}&_count=1`)).status).toBe(200);
    });
  });

  describe('R18: what is stored is never missing, however large or small', () => {
    const quantity = (id: string, value: string, unit: string): Promise<{ status: number }> =>
      server.send(
        'PUT',
        `/Observation/${id}`,
        `{"resourceType":"Observation","id":"${id}","status":"final","code":{"text":"x"},"valueQuantity":{"value":${value},${unit}}}`,
      );
    const ucum = (code: string) => `"system":"http://unitsofmeasure.org","code":"${code}"`;

    it.each([
      ['1e300', 'Ym', ['gt1e299', 'ge1e300', '1e300', 'lt1e301', 'ne1e299']],
      ['-1e300', 'Ym', ['lt-1e299', 'le-1e300', '-1e300', 'gt-1e301']],
      ['1e-300', 'ym', ['gt1e-301', '1e-300', 'lt1e-299']],
    ])('%s %s, whose base unit leaves the doubles', async (value, unit, queries) => {
      const id = `r18${unit}${value.length}`;
      expect((await quantity(id, value, ucum(unit))).status).toBeLessThan(300);
      const base = `Observation?_id=${id}&value-quantity`;
      expect(await find(`${base}:missing=true`)).toEqual([]);
      for (const query of queries) {
        expect(await find(`${base}=${query}|http://unitsofmeasure.org|${unit}`), query).toEqual([id]);
        expect(await find(`${base}=${query}`), query).toEqual([id]);
      }
    });

    it('points of SampledData beyond the doubles', async () => {
      const sampled = { origin: { value: 0 }, intervalUnit: 'ms', interval: 1, dimensions: 1, data: '1e400 2 3' };
      await put(observation('r18s', { valueSampledData: sampled }));
      await put(observation('r18f', { valueSampledData: { ...sampled, factor: 1e308, data: '-1e308 1e308' } }));
      expect(await find('Observation?_id=r18s,r18f&value-quantity:missing=true')).toEqual([]);
      expect(await find('Observation?_id=r18s,r18f&value-quantity=gt3')).toEqual(['r18f', 'r18s']);
      expect(await find('Observation?_id=r18s,r18f&value-quantity=lt1')).toEqual(['r18f']);
    });

    it('numbers of a search that exceed a double are compared, too', async () => {
      await quantity('r18', '5', '"unit":"u"');
      for (const query of ['lt1e400', 'gt-1e400', 'le1e1000', 'ne1e400', 'gt1e-400', 'lt1e400||u']) {
        expect(await find(`Observation?_id=r18&value-quantity=${query}`), query).toEqual(['r18']);
      }
      for (const query of ['gt1e400', 'lt-1e400', '1e400', 'sa1e400']) {
        expect(await find(`Observation?_id=r18&value-quantity=${query}`), query).toEqual([]);
      }
    });

    it('in XML, in a Bundle and by a patch the same is refused', async () => {
      const value = '<valueQuantity><value value="1e400"/></valueQuantity>';
      const xml = `<Observation xmlns="http://hl7.org/fhir"><status value="final"/><code><text value="x"/></code>${value}</Observation>`;
      expect((await server.send('POST', '/Observation', xml, { 'content-type': 'application/fhir+xml' })).status).toBe(
        400,
      );
      const resource =
        '{"resourceType":"RiskAssessment","status":"final","subject":{"display":"x"},"prediction":[{"probabilityDecimal":1e400}]}';
      const bundle = `{"resourceType":"Bundle","type":"batch","entry":[{"resource":${resource},"request":{"method":"POST","url":"RiskAssessment"}}]}`;
      expect((await server.send('POST', '', bundle)).json().entry[0].response.status).toMatch(/^400/);
      await quantity('r18', '5', '"unit":"u"');
      const patch = '[{"op":"replace","path":"/valueQuantity/value","value":1e400}]';
      const type = { 'content-type': 'application/json-patch+json' };
      expect((await server.send('PATCH', '/Observation/r18', patch, type)).status).toBe(400);
    });
  });

  describe('R19: what stands the wrong way round is there', () => {
    it('a Period in a Timing, a Range, and one with its ends in the wrong order among others', async () => {
      const boundsPeriod = { start: '2020-02-01', end: '2020-01-01' };
      const subject = { display: 'x' };
      await put({
        resourceType: 'ServiceRequest',
        id: 'r19',
        status: 'active',
        intent: 'order',
        subject,
        occurrenceTiming: { repeat: { boundsPeriod } },
      });
      expect(await find('ServiceRequest?_id=r19&occurrence:missing=true')).toEqual([]);
      expect(await find('ServiceRequest?_id=r19&occurrence=2020')).toEqual(['r19']);
      const year = (value: number) => ({ value, system: 'http://unitsofmeasure.org', code: 'a' });
      await put({
        resourceType: 'Condition',
        id: 'r19',
        clinicalStatus: { text: 'x' },
        subject,
        onsetRange: { low: year(9), high: year(3) },
      });
      const base = 'Condition?_id=r19&onset-age';
      expect(await find(`${base}:missing=true`)).toEqual([]);
      for (const query of ['gt8', 'lt4', 'gt8|http://unitsofmeasure.org|a', 'sa2', 'eb10'])
        expect(await find(`${base}=${query}`), query).toEqual(['r19']);
      for (const query of ['gt9', 'lt3', '6']) expect(await find(`${base}=${query}`), query).toEqual([]);
    });
  });
}
