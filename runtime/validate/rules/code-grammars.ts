import { isLanguageTag } from '../../fhir/language-tag.js';
import { UCUM } from '../../fhir/ucum/system.js';

/**
 * Whether a code is in a value set.
 *
 * @param system undefined: the element is a `code`, which names none
 */
export type CodeTest = (code: string, system?: string) => boolean;

/** type/subtype with parameters, or the short forms of FHIR. RFC 6838, 4.2, https://hl7.org/fhir/R5/http.html#mime-type */
const MEDIA_TYPE =
  /^(?:xml|json|ttl|[A-Za-z0-9*][A-Za-z0-9!#$&^_.+-]{0,126}\/[A-Za-z0-9*][A-Za-z0-9!#$&^_.+-]{0,126}(?:\s*;[ -~]*)?)$/;
const UNIT = /^[!-~]{1,200}$/;
const COUNTRY = /^(?:[A-Z]{2,3}|[0-9]{3}|[A-Z]{2}-[A-Z0-9]{1,3})$/;

const currencies = lazySet(() => Intl.supportedValuesOf('currency'));
const zones = lazySet(() => Intl.supportedValuesOf('timeZone'));

/**
 * Value sets whose codes a syntax or a registry outside FHIR defines, by URL. What the standard library knows is used;
 * of units only the characters are checked here.
 */
export const CODE_GRAMMARS: ReadonlyMap<string, CodeTest> = new Map<string, CodeTest>([
  ['http://hl7.org/fhir/ValueSet/mimetypes', inSystem('urn:ietf:bcp:13', (code) => MEDIA_TYPE.test(code))],
  ['http://hl7.org/fhir/ValueSet/all-languages', inSystem('urn:ietf:bcp:47', isLanguageTag)],
  ['http://hl7.org/fhir/ValueSet/ucum-units', inSystem(UCUM, (code) => UNIT.test(code))],
  ['http://hl7.org/fhir/ValueSet/currencies', inSystem('urn:iso:std:iso:4217', (code) => currencies().has(code))],
  ['http://hl7.org/fhir/ValueSet/country', inSystem('urn:iso:std:iso:3166', (code) => COUNTRY.test(code))],
  ['http://hl7.org/fhir/ValueSet/timezones', inSystem('https://www.iana.org/time-zones', isZone)],
]);

function inSystem(own: string, test: (code: string) => boolean): CodeTest {
  return (code, system) => (system === undefined || system === own || system.startsWith(`${own}:`)) && test(code);
}

/** Zones by all their names: the list of the library has one of each. */
function isZone(code: string): boolean {
  if (zones().has(code)) return true;
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(code)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: code });
    return true;
  } catch {
    return false;
  }
}

function lazySet(list: () => readonly string[]): () => ReadonlySet<string> {
  let known: ReadonlySet<string> | undefined;
  return () => (known ??= new Set(list()));
}
