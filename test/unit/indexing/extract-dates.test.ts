import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dateInterval } from '../../../runtime/indexing/values/date-interval.js';
import { createZone } from '../../../runtime/indexing/values/zone.js';

const span = (low: string, high: string): object => ({ low: Date.parse(low), high: Date.parse(high) });

describe('date intervals (https://hl7.org/fhir/R5/search.html#date)', () => {
  it.each([
    ['2015', '2015-01-01T00:00:00.000Z', '2015-12-31T23:59:59.999Z'],
    ['2015-02', '2015-02-01T00:00:00.000Z', '2015-02-28T23:59:59.999Z'],
    ['2016-12', '2016-12-01T00:00:00.000Z', '2016-12-31T23:59:59.999Z'],
    ['2016-02-29', '2016-02-29T00:00:00.000Z', '2016-02-29T23:59:59.999Z'],
    ['2015-02-07T13:28:17Z', '2015-02-07T13:28:17.000Z', '2015-02-07T13:28:17.999Z'],
    ['2015-02-07T13:28:17.2Z', '2015-02-07T13:28:17.200Z', '2015-02-07T13:28:17.299Z'],
    ['2015-02-07T13:28:17.23Z', '2015-02-07T13:28:17.230Z', '2015-02-07T13:28:17.239Z'],
    ['2015-02-07T13:28:17.239-05:00', '2015-02-07T18:28:17.239Z', '2015-02-07T18:28:17.239Z'],
    ['2015-02-07T13:28:17.239999999+14:00', '2015-02-06T23:28:17.239Z', '2015-02-06T23:28:17.239Z'],
    ['2015-02-07T13:28:17', '2015-02-07T13:28:17.000Z', '2015-02-07T13:28:17.999Z'],
    ['2015-02-07T13:28', '2015-02-07T13:28:00.000Z', '2015-02-07T13:28:59.999Z'],
    ['2016-12-31T23:59:60Z', '2016-12-31T23:59:59.999Z', '2016-12-31T23:59:59.999Z'],
    ['0001', '0001-01-01T00:00:00.000Z', '0001-12-31T23:59:59.999Z'],
    ['9999', '9999-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z'],
  ])('%s', (text, low, high) => {
    expect(dateInterval(text)).toEqual(span(low, high));
  });

  it.each([
    '',
    '15',
    '0000',
    '20150',
    '2015-',
    '2015-1',
    '2015-13',
    '2015-00',
    '2015/01',
    '2015-02-30',
    '2015-02-29',
    '2015-02-00',
    '2015-02-7',
    '2015-02-07 10:00:00Z',
    '2015-02-07T',
    '2015-02-07T1',
    '2015-02-07T24:00:00Z',
    '2015-02-07T10:60:00Z',
    '2015-02-07T10:00:61Z',
    '2015-02-07T10:00:00.Z',
    '2015-02-07T10:00:00z',
    '2015-02-07T10:00:00+15:00',
    '2015-02-07T10:00:00+01:60',
    '2015-02-07T10:00:00+0100',
    '2015-02-07T10:00:00Z ',
    ' 2015',
    '2015-02-07T10:00:00.1+',
    '-2015',
    '٢٠١٥',
    '2015-02-07T10Z',
  ])('%j is no date', (text) => {
    expect(dateInterval(text)).toBeUndefined();
  });

  it('reads what Date reads, to the millisecond', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T00:00:00Z'), noInvalidDate: true }),
        (date) => {
          expect(dateInterval(date.toISOString())).toEqual({ low: +date, high: +date });
          const day = date.toISOString().slice(0, 10);
          expect(dateInterval(day)?.low).toBe(Date.parse(day));
        },
      ),
    );
  });

  it('a more precise date lies within the less precise one', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date('1000-01-01T00:00:00Z'), max: new Date('9999-12-31T00:00:00Z'), noInvalidDate: true }),
        (date) => {
          const text = date.toISOString();
          const levels = [4, 7, 10].map((length) => dateInterval(text.slice(0, length)));
          levels.push(dateInterval(`${text.slice(0, 16)}Z`), dateInterval(`${text.slice(0, 19)}Z`), dateInterval(text));
          levels.reduce((outer, inner) => {
            expect(inner && outer && outer.low <= inner.low && inner.high <= outer.high).toBe(true);
            return inner;
          });
        },
      ),
    );
  });
});

describe('a date without an offset is read in the configured zone', () => {
  it('a fixed offset', () => {
    const zone = createZone('-05:30');
    expect(dateInterval('2015-02-07', zone)).toEqual(span('2015-02-07T05:30:00Z', '2015-02-08T05:29:59.999Z'));
    expect(dateInterval('2015-02-07T10:00:00', zone)?.low).toBe(Date.parse('2015-02-07T15:30:00Z'));
  });
  it('never where the text has one', () => {
    expect(dateInterval('2015-02-07T10:00:00Z', createZone('Asia/Tokyo'))?.low).toBe(
      Date.parse('2015-02-07T10:00:00Z'),
    );
  });
  it('an IANA zone, across its changes', () => {
    const zone = createZone('Europe/Berlin');
    expect(dateInterval('2024-01-01', zone)).toEqual(span('2023-12-31T23:00:00Z', '2024-01-01T22:59:59.999Z'));
    expect(dateInterval('2024-03-31', zone)).toEqual(span('2024-03-30T23:00:00Z', '2024-03-31T21:59:59.999Z'));
    expect(dateInterval('2024-10-27', zone)).toEqual(span('2024-10-26T22:00:00Z', '2024-10-27T22:59:59.999Z'));
    expect(dateInterval('2024', zone)).toEqual(span('2023-12-31T23:00:00Z', '2024-12-31T22:59:59.999Z'));
  });
  it('an hour that occurs twice is the first, one that is skipped follows the clock before', () => {
    const zone = createZone('Europe/Berlin');
    expect(dateInterval('2024-10-27T02:30:00', zone)?.low).toBe(Date.parse('2024-10-27T00:30:00Z'));
    expect(dateInterval('2024-03-31T02:30:00', zone)?.low).toBe(Date.parse('2024-03-31T01:30:00Z'));
  });
  it('an unknown zone is refused', () => {
    expect(() => createZone('Mars/Olympus')).toThrow(RangeError);
  });
});
