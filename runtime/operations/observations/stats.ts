import type { Call, Reply } from '../../core/call.js';
import { ANSWER_ROOM, openAnswerRoom } from '../../core/answer-room.js';
import { withinBudget } from '../../search-execution/execute/search-budget.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import { formatInstant } from '../../fhir/instant.js';
import { isObject, type JsonObject, type JsonValue, type Resource } from '../../fhir/resource.js';
import { writeJson } from '../../format/write-json.js';
import { canonicalUnit, toCanonical } from '../../fhir/ucum/canonical.js';
import { dateInterval } from '../../indexing/values/date-interval.js';
import { readArguments, valueOf, valuesOf, type Arguments } from '../common/arguments.js';
import { findMatches } from '../common/find-matches.js';
import { splitCriteria } from './observations.js';
import { computeStatistic, STATISTIC_CODES, UNITLESS, type Statistic } from './statistics.js';
import { UCUM } from '../../fhir/ucum/system.js';

const SYSTEM = 'http://hl7.org/fhir/observation-statistics';
const HOUR = 3_600_000;

/** The first moment that FHIR can write. */
const FIRST = Date.parse('0001-01-01T00:00:00Z');

/** Observations that one call takes into account. */
const MOST = 100_000;

/**
 * `Observation/$stats`: statistics of the quantities of a subject's Observations and their components, by code. Values count where
 * they have a unit of UCUM and no modifier extension could change what they mean; they are converted into the unit of the newest.
 * Units that cannot be converted give an Observation of their own. Observations entered in error do not count.
 * https://hl7.org/fhir/R5/observation-operation-stats.html
 *
 * @throws FhirError as a search, `parameter-invalid` for statistics that are not computed and for a missing code, `too-costly`
 */
export async function stats(call: Call, services: Services): Promise<Reply> {
  const { own, criteria } = splitCriteria(call, services);
  const found = readArguments(own, services);
  const subject = String(valueOf(found, 'subject'));
  const statistics = readStatistics(found);
  const series = readCodes(found).map((code) => new Series(code));
  const period = readPeriod(found, services);
  const params: (readonly [string, string])[] = [
    ...criteria,
    ['subject', subject],
    ['status:not', 'entered-in-error'],
    ['combo-code', series.map(({ token }) => token).join(',')],
    ...(period === undefined ? [] : datesOf(period)),
    ['_sort', '-date'],
  ];
  const includes = valueOf(found, 'include') === true;
  const limit = Number(valueOf(found, 'limit') ?? MOST);
  const sources: Resource[] = [];
  const room = openAnswerRoom(ANSWER_ROOM, 'The Observations are too large together; include fewer with "limit"');
  let count = 0;
  await withinBudget(services.limits.queryTime, call.signal, async (signal) => {
    for await (const observation of findMatches('Observation', params, call, services, signal)) {
      if (++count > MOST) throw new FhirError('too-costly', `More than ${MOST} Observations; choose a shorter period`);
      for (const each of series) each.add(observation);
      if (!includes || sources.length >= limit) continue;
      room.take(writeJson(observation));
      sources.push(observation);
    }
  });
  const parameter = [
    ...series
      .flatMap((each) => each.describe(subject, period, statistics))
      .map((resource) => ({ name: 'statistics', resource })),
    ...sources.map((resource) => ({ name: 'source', resource })),
  ];
  return { status: 200, resource: { resourceType: 'Parameters', parameter } };
}

/** The measurements of one code, by what their units measure. */
class Series {
  private readonly units = new Map<string, { readonly quantity: JsonObject; readonly values: number[] }>();
  private unusable = 0;

  constructor(private readonly coding: JsonObject) {}

  /** As a value of a token parameter. */
  get token(): string {
    const { system, code } = this.coding;
    const escaped = (value: JsonValue | undefined): string => String(value).replaceAll(/[\\,|$]/g, '\\$&');
    return system === undefined ? escaped(code) : `${escaped(system)}|${escaped(code)}`;
  }

  add(observation: Resource): void {
    const components = Array.isArray(observation['component']) ? observation['component'].filter(isObject) : [];
    for (const each of [observation, ...components]) {
      if (!this.isOf(each)) continue;
      // What a modifier extension does to a value is not known here.
      const isModified = [observation, each].some((part) => part['modifierExtension'] !== undefined);
      this.take(isModified ? undefined : each['valueQuantity']);
    }
  }

  describe(subject: string, period: JsonObject | undefined, statistics: readonly Statistic[]): Resource[] {
    const units = this.units.size > 0 ? [...this.units.values()] : [{ quantity: {}, values: [] }];
    return units.map(({ quantity, values }, i) => {
      const sorted = values.sort((a, b) => a - b);
      const all = values.length + (i === 0 ? this.unusable : 0);
      return {
        resourceType: 'Observation',
        status: 'final',
        code: { coding: [this.coding] },
        subject: { reference: subject },
        ...(period !== undefined && { effectivePeriod: period }),
        component: statistics.map((code) => componentOf(code, computeStatistic(code, sorted, all), quantity)),
      };
    });
  }

  private isOf({ code }: JsonObject): boolean {
    const codings = isObject(code) && Array.isArray(code['coding']) ? code['coding'].filter(isObject) : [];
    const { system, code: own } = this.coding;
    return codings.some((each) => each['code'] === own && (system === undefined || each['system'] === system));
  }

  /** A value with a comparator is a bound and no measurement, as one without a unit is; they count in `total-count` alone. */
  private take(quantity: JsonValue | undefined): void {
    if (!isObject(quantity) || !isMeasurement(quantity)) {
      this.unusable++;
      return;
    }
    const unit = canonicalUnit(String(quantity['code']));
    const key = unit === undefined ? `code ${String(quantity['code'])}` : `unit ${unit.unit}`;
    const known = this.units.get(key) ?? { quantity, values: [] };
    known.values.push(convert(quantity, String(known.quantity['code'])));
    this.units.set(key, known);
  }
}

function isMeasurement({ value, comparator, system, code }: JsonObject): boolean {
  return value !== undefined && comparator === undefined && system === UCUM && code !== undefined;
}

/** The value in another unit that measures the same. */
function convert({ value, code }: JsonObject, to: string): number {
  const [from, other] = [canonicalUnit(String(code)), canonicalUnit(to)];
  if (code === to || from === undefined || other === undefined) return Number(value);
  return toCanonical(Number(value), from) / other.factor - other.offset;
}

function componentOf(code: Statistic, value: number | undefined, { unit, system, code: of }: JsonObject): JsonObject {
  const coded = { code: { coding: [{ system: SYSTEM, code }] } };
  if (value === undefined) {
    const absent = 'http://terminology.hl7.org/CodeSystem/data-absent-reason';
    return { ...coded, dataAbsentReason: { coding: [{ system: absent, code: 'not-applicable' }] } };
  }
  const measure = {
    ...(unit !== undefined && { unit }),
    ...(system !== undefined && { system }),
    ...(of !== undefined && { code: of }),
  };
  return { ...coded, valueQuantity: { value, ...(UNITLESS.has(code) ? { system: UCUM, code: '1' } : measure) } };
}

function readStatistics(found: Arguments): readonly Statistic[] {
  return valuesOf(found, 'statistic').map((code) => {
    const known = STATISTIC_CODES.find((each) => each === code);
    if (known !== undefined) return known;
    const text = `The parameter "statistic" is ${STATISTIC_CODES.join(', ')}, not ${JSON.stringify(String(code).slice(0, 64))}`;
    throw new FhirError('parameter-invalid', text);
  });
}

function readCodes(found: Arguments): readonly JsonObject[] {
  const system = valueOf(found, 'system');
  const plain = valuesOf(found, 'code').map((code) => ({ ...(system !== undefined && { system }), code }));
  const codings = valuesOf(found, 'coding').filter(isObject);
  const all = [
    ...plain,
    ...codings.map(({ system: own, code }) => ({ ...(own !== undefined && { system: own }), code })),
  ];
  if (all.length > 0 && all.every(({ code }) => code !== undefined)) return all as JsonObject[];
  throw new FhirError('parameter-invalid', 'Name at least one code, as "code" with "system" or as "coding"');
}

/** The last hours, or the period that is given; undefined: all time. */
function readPeriod(found: Arguments, { zone }: Pick<Services, 'zone'>): JsonObject | undefined {
  const [duration, period] = [valueOf(found, 'duration'), valueOf(found, 'period')];
  if (duration !== undefined && period !== undefined) {
    throw new FhirError('parameter-invalid', 'Give "duration" or "period", not both');
  }
  if (duration !== undefined) {
    const hours = Number(duration);
    if (!(hours > 0)) throw new FhirError('parameter-invalid', '"duration" is a number of hours above 0');
    const end = Date.now();
    return { start: formatInstant(Math.max(FIRST, end - hours * HOUR)), end: formatInstant(end) };
  }
  if (!isObject(period)) return undefined;
  const bad = ['start', 'end'].find((each) => {
    const text = period[each];
    return text !== undefined && dateInterval(String(text), zone) === undefined;
  });
  if (bad !== undefined) throw new FhirError('parameter-invalid', `The ${bad} of "period" is no date`);
  return period;
}

function datesOf({ start, end }: JsonObject): (readonly [string, string])[] {
  return [
    ...(start === undefined ? [] : [['date', `ge${String(start)}`] as const]),
    ...(end === undefined ? [] : [['date', `le${String(end)}`] as const]),
  ];
}
