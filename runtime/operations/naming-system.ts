import type { Call, Reply } from '../core/call.js';
import type { Services } from '../core/services.js';
import { FhirError } from '../fhir/errors.js';
import { isObject, type JsonObject } from '../fhir/resource.js';
import { dateInterval, type Interval } from '../search/values/date-interval.js';
import { readArguments, valueOf, type Arguments } from './arguments.js';
import { findMatches } from './find-matches.js';

/**
 * `NamingSystem/$preferred-id`: the identifier of a type (`oid`, `uuid`, `uri` …) of the naming system that another identifier
 * names. https://hl7.org/fhir/R5/namingsystem-operation-preferred-id.html
 *
 * @throws FhirError `not-found` where no naming system has the identifier, or that one has none of the type
 */
export async function preferredId(call: Call, services: Services): Promise<Reply> {
  const found = readArguments(call, services);
  const id = String(valueOf(found, 'id'));
  const type = String(valueOf(found, 'type'));
  const [best] = (await identifiersOf(id, undefined, found, call, services)).filter((each) => each['type'] === type);
  if (best === undefined)
    throw new FhirError('not-found', `The naming system has no identifier of type ${quote(type)}`);
  const parameter = [{ name: 'result', valueString: String(best['value']) }];
  return { status: 200, resource: { resourceType: 'Parameters', parameter } };
}

/**
 * `NamingSystem/$translate-id`: the identifiers of one type of the naming system that an identifier of another type names. An
 * unknown identifier gives the result false. https://hl7.org/fhir/R5/namingsystem-operation-translate-id.html
 */
export async function translateId(call: Call, services: Services): Promise<Reply> {
  const found = readArguments(call, services);
  const id = String(valueOf(found, 'id'));
  const targetType = valueOf(found, 'targetType');
  const onlyPreferred = valueOf(found, 'preferredOnly') === true;
  const all = await identifiersOf(id, String(valueOf(found, 'sourceType')), found, call, services).catch(ifUnknown);
  const targets = all.filter((each) => each['type'] === targetType && (!onlyPreferred || each['preferred'] === true));
  const parameter = [
    { name: 'result', valueBoolean: targets.length > 0 },
    ...targets.flatMap(({ value, preferred, period }) => [
      { name: 'targetIdentifier', valueString: String(value) },
      // So spelled in the definition.
      ...(preferred === undefined ? [] : [{ name: 'targetIdentifer.preferred', valueBoolean: preferred }]),
      ...(period === undefined ? [] : [{ name: 'targetIdentifier.period', valuePeriod: period }]),
    ]),
  ];
  return { status: 200, resource: { resourceType: 'Parameters', parameter } };
}

/** The identifiers of the naming system that has one with this value, preferred ones first, those in force at `date`. */
async function identifiersOf(
  value: string,
  type: string | undefined,
  found: Arguments,
  call: Call,
  services: Services,
): Promise<readonly JsonObject[]> {
  const date = valueOf(found, 'date');
  const at = typeof date === 'string' ? dateInterval(date, services.zone) : undefined;
  const inForce = ({ period }: JsonObject): boolean =>
    at === undefined || !isObject(period) || overlaps(period, at, services);
  const escaped = value.replaceAll(/[\\,$]/g, '\\$&');
  for await (const system of findMatches('NamingSystem', [['value:exact', escaped]], call, services)) {
    const all = (Array.isArray(system['uniqueId']) ? system['uniqueId'] : []).filter(isObject).filter(inForce);
    const isIt = all.some((each) => each['value'] === value && (type === undefined || each['type'] === type));
    if (isIt) return [...all].sort((a, b) => rank(a) - rank(b));
  }
  throw new FhirError('not-found', `No naming system has the identifier ${quote(value)}`);
}

/** Whether a Period has an instant of the interval; an open end reaches on. */
function overlaps({ start, end }: JsonObject, at: Interval, { zone }: Pick<Services, 'zone'>): boolean {
  const from = typeof start === 'string' ? dateInterval(start, zone)?.low : undefined;
  const to = typeof end === 'string' ? dateInterval(end, zone)?.high : undefined;
  return (from ?? -Infinity) <= at.high && (to ?? Infinity) >= at.low;
}

function rank({ preferred }: JsonObject): number {
  return preferred === true ? 0 : 1;
}

function ifUnknown(error: unknown): readonly JsonObject[] {
  if (error instanceof FhirError && error.code === 'not-found') return [];
  throw error;
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 128));
}
