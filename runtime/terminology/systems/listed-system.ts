import type { Resource } from '../../fhir/resource.js';
import { countries } from './countries.js';
import { timeZones } from './time-zones.js';

/** Code systems whose codes the platform knows, by URL, each as a CodeSystem. */
const LISTED: ReadonlyMap<string, { readonly name: string; readonly codes: () => readonly Listed[] }> = new Map([
  ['urn:iso:std:iso:3166', { name: 'ISO 3166-1 countries', codes: countries }],
  ['urn:iso:std:iso:4217', { name: 'ISO 4217 currencies', codes: currencies }],
  ['https://www.iana.org/time-zones', { name: 'IANA time zones', codes: () => timeZones().map((code) => ({ code })) }], // prettier-ignore
]);

interface Listed {
  readonly code: string;
  readonly display?: string;
}

/** URLs of these systems. */
export const LISTED_SYSTEMS: readonly string[] = [...LISTED.keys()];

const made = new Map<string, Resource>();

/** A code system that the platform knows; undefined: it does not. */
export function listedSystem(url: string): Resource | undefined {
  const known = made.get(url);
  if (known !== undefined) return known;
  const row = LISTED.get(url);
  if (row === undefined) return undefined;
  const resource = {
    ...{ resourceType: 'CodeSystem', url, name: row.name, language: 'en', status: 'active' },
    ...{ caseSensitive: true, content: 'complete', concept: row.codes() },
  } as unknown as Resource;
  made.set(url, resource);
  return resource;
}

/**
 * Currencies, funds and metals that the platform does not list, and those beside ISO 4217 that the official expansion has: GGP, IMP,
 * JEP and TVD.
 */
const UNLISTED_CURRENCIES =
  'BOV CHE CHW CLF COU GGP IMP JEP MXV TVD USN UYI UYW VED VEF XAG XAU XBA XBB XBC XBD XPD XPT XSU XTS XUA XXX';

function currencies(): readonly Listed[] {
  const names = new Intl.DisplayNames(['en'], { type: 'currency', fallback: 'none' });
  const codes = new Set([...Intl.supportedValuesOf('currency'), ...UNLISTED_CURRENCIES.split(' ')]);
  return [...codes].sort().map((code) => {
    const display = names.of(code);
    return display === undefined ? { code } : { code, display };
  });
}
