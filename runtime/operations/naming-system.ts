import type { Call, Reply } from '../core/call.js';
import type { Services } from '../core/services.js';
import { FhirError } from '../fhir/errors.js';
import { formatInstant } from '../fhir/instant.js';
import { isObject, type JsonObject, type JsonValue } from '../fhir/resource.js';
import { dateInterval, type Interval } from '../indexing/values/date-interval.js';
import { readArguments, valueOf } from './common/arguments.js';
import { findMatches } from './common/find-matches.js';
import { quote } from '../fhir/quote.js';

/**
 * `NamingSystem/$preferred-id`: the identifier of a type (`oid`, `uuid`, `uri` …) of the naming system that another identifier
 * names, as it is in force at `date`, or now: the preferred one, or all where none or several are.
 * https://hl7.org/fhir/R5/namingsystem-operation-preferred-id.html
 *
 * @throws FhirError `not-found` where no naming system has the identifier, or that one has none of the type, `parameter-invalid`
 * where several have it
 */
export async function preferredId(call: Call, services: Services): Promise<Reply> {
  const found = readArguments(call, services);
  const type = String(valueOf(found, 'type'));
  const date = valueOf(found, 'date') ?? formatInstant(Date.now());
  const all = await identifiersOf(String(valueOf(found, 'id')), undefined, call, services);
  const ofType = all.filter((each) => each['type'] === type && isInForce(each, date, services));
  if (ofType.length === 0)
    throw new FhirError('not-found', `The naming system has no identifier of type ${quote(type)} at that time`);
  const preferred = ofType.filter((each) => each['preferred'] === true);
  const chosen = preferred.length > 0 ? preferred : ofType;
  const parameter = chosen.map((each) => ({ name: 'result', valueString: plainValue(each) }));
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
  const date = valueOf(found, 'date');
  const all = await identifiersOf(id, String(valueOf(found, 'sourceType')), call, services).catch(ifUnknown);
  const targets = all.filter(
    (each) =>
      each['type'] === targetType &&
      (!onlyPreferred || each['preferred'] === true) &&
      (date === undefined || isInForce(each, date, services)),
  );
  const parameter = [
    { name: 'result', valueBoolean: targets.length > 0 },
    ...targets.flatMap(({ preferred, period, ...each }) => [
      { name: 'targetIdentifier', valueString: plainValue(each) },
      // So spelled in the definition.
      ...(preferred === undefined ? [] : [{ name: 'targetIdentifer.preferred', valueBoolean: preferred }]),
      ...(period === undefined ? [] : [{ name: 'targetIdentifier.period', valuePeriod: period }]),
    ]),
  ];
  return { status: 200, resource: { resourceType: 'Parameters', parameter } };
}

/** How OIDs and UUIDs begin where they are URIs. */
const URN = /^urn:(oid|uuid):/;

/**
 * The identifiers of the naming system that has one with this value, preferred ones first.
 *
 * @throws FhirError `not-found`, `parameter-invalid` where several naming systems have it
 */
async function identifiersOf(
  value: string,
  type: string | undefined,
  call: Call,
  services: Services,
): Promise<readonly JsonObject[]> {
  // An OID may be sent, and stored, as a URI.
  const [, kind] = URN.exec(value) ?? [];
  const plain = kind === undefined ? value : value.slice(`urn:${kind}:`.length);
  const forms = [...new Set([value, plain, ...(kind === undefined ? [`urn:oid:${value}`, `urn:uuid:${value}`] : [])])];
  const isIt = (each: JsonObject): boolean => {
    const own = String(each['value']);
    const isUrn = kind !== undefined || URN.test(own);
    if (own !== value && (own.replace(URN, '') !== plain || ![kind ?? each['type'], 'uri'].includes(each['type'])))
      return false;
    return type === undefined || each['type'] === type || isUrn;
  };
  const escaped = forms.map((each) => each.replaceAll(/[\\,$|]/g, '\\$&')).join(',');
  let found: readonly JsonObject[] | undefined;
  for await (const system of findMatches('NamingSystem', [['value:exact', escaped]], call, services)) {
    const all = (Array.isArray(system['uniqueId']) ? system['uniqueId'] : []).filter(isObject);
    if (!all.some(isIt)) continue;
    if (found !== undefined) {
      const text = `Several naming systems have the identifier ${quote(value)}, so that it is not known which is meant`;
      throw new FhirError('parameter-invalid', text, { issue: 'multiple-matches' });
    }
    found = all;
  }
  if (found !== undefined) return [...found].sort((a, b) => rank(a) - rank(b));
  throw new FhirError('not-found', `No naming system has the identifier ${quote(value)}`);
}

/** The value of an identifier; OIDs and UUIDs without what makes them URIs. */
function plainValue({ type, value }: JsonObject): string {
  return type === 'oid' || type === 'uuid' ? String(value).replace(URN, '') : String(value);
}

/** Whether an identifier is in force at some instant of a date. */
function isInForce({ period }: JsonObject, date: JsonValue, services: Services): boolean {
  const at = dateInterval(String(date), services.zone);
  return at === undefined || !isObject(period) || overlaps(period, at, services);
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
