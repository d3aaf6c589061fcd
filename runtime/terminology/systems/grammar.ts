import { createRequire } from 'node:module';

import type { Resource } from '../../fhir/resource.js';

/** A code system that a rule defines and no list. */
export interface Grammar {
  readonly name: string;
  /** The system as a CodeSystem, without its codes. */
  readonly resource: Resource;
  /** Whether a code is one, and its display where there is one; undefined: it is none. */
  check(code: string): Promise<Known>;
}

/** The systems by URL. Rules of the standard library are used where there are any. */
export const GRAMMARS: ReadonlyMap<string, Grammar> = new Map([
  grammar('http://unitsofmeasure.org', 'UCUM', checkUnit),
  grammar('urn:ietf:bcp:47', 'BCP 47 language tags', languageOf),
  grammar('urn:ietf:bcp:13', 'Media types', (code) => (MEDIA_TYPE.test(code) ? {} : undefined)),
]);

type Known = { readonly display?: string } | undefined;

function grammar(url: string, name: string, check: (code: string) => Known | Promise<Known>): [string, Grammar] {
  const resource = { resourceType: 'CodeSystem', url, name, status: 'active', content: 'not-present' } as Resource;
  return [url, { name, resource, check: (code) => Promise.resolve(check(code)) }];
}

/** type/subtype, perhaps with parameters. RFC 6838, 4.2 */
const MEDIA_TYPE =
  /^[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,126}\/[A-Za-z0-9*][A-Za-z0-9!#$&^_.+-]{0,126}(?:\s*;\s*[A-Za-z0-9!#$&^_.+-]+=(?:"[^"]*"|[^\s;"]+))*$/;

interface Unit {
  readonly validate: (code: string) => {
    readonly status: string;
    readonly ucumCode?: string;
    readonly unit?: { readonly name?: string | number };
  };
}
let units: Promise<Unit> | undefined;

/** Units are checked by the library, which is loaded when the first comes. */
async function checkUnit(code: string): Promise<Known> {
  if (code === '' || code.length > 200) return undefined;
  const { validate } = await (units ??= loadUnits());
  const { status, ucumCode, unit } = validate(code);
  if (status !== 'valid' || ucumCode !== code) return undefined;
  // The library names the unit 1 by a number.
  return unit?.name === undefined ? {} : { display: String(unit.name) };
}

function loadUnits(): Promise<Unit> {
  // The package has no types, and is CommonJS.
  const { UcumLhcUtils } = createRequire(import.meta.url)('@lhncbc/ucum-lhc') as {
    UcumLhcUtils: { getInstance(): { validateUnitString: Unit['validate'] } };
  };
  const utils = UcumLhcUtils.getInstance();
  return Promise.resolve({ validate: (code) => utils.validateUnitString(code) });
}

/** A well-formed tag whose language, script and region are known. */
function languageOf(code: string): Known {
  try {
    const [canonical] = Intl.getCanonicalLocales(code);
    if (canonical === undefined) return undefined;
    const { language, script, region } = new Intl.Locale(canonical);
    const isKnown = (type: 'language' | 'script' | 'region', part: string | undefined): boolean =>
      part === undefined || new Intl.DisplayNames(['en'], { type, fallback: 'none' }).of(part) !== undefined;
    if (!isKnown('language', language) || !isKnown('script', script) || !isKnown('region', region)) return undefined;
    const names = new Intl.DisplayNames(['en'], { type: 'language', languageDisplay: 'standard', fallback: 'none' });
    const display = names.of(canonical);
    return display === undefined ? {} : { display };
  } catch {
    return undefined;
  }
}
