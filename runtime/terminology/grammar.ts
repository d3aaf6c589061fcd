import { createRequire } from 'node:module';

/** A code system that a rule defines and no list. */
export interface Grammar {
  /** Whether a code is one, and its display where there is one; undefined: it is none. */
  check(code: string): Promise<{ readonly display?: string } | undefined>;
  /** All codes, where they can be listed. */
  list?(): readonly { readonly code: string; readonly display?: string }[];
}

/** The systems by URL. Rules of the standard library are used where there are any. */
export const GRAMMARS: ReadonlyMap<string, Grammar> = new Map<string, Grammar>([
  ['http://unitsofmeasure.org', { check: (code) => checkUnit(code) }],
  ['urn:ietf:bcp:47', { check: (code) => Promise.resolve(languageOf(code)) }],
  ['urn:ietf:bcp:13', { check: (code) => Promise.resolve(MEDIA_TYPE.test(code) ? {} : undefined) }],
  ['urn:iso:std:iso:4217', listed(() => namesOf('currency', Intl.supportedValuesOf('currency')))],
  ['urn:iso:std:iso:3166', listed(countries)],
  ['https://www.iana.org/time-zones', listed(() => Intl.supportedValuesOf('timeZone').map((code) => ({ code })))],
]);

/** type/subtype, perhaps with parameters. RFC 6838, 4.2 */
const MEDIA_TYPE =
  /^[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,126}\/[A-Za-z0-9*][A-Za-z0-9!#$&^_.+-]{0,126}(?:\s*;\s*[A-Za-z0-9!#$&^_.+-]+=(?:"[^"]*"|[^\s;"]+))*$/;

interface Unit {
  readonly validate: (code: string) => {
    readonly status: string;
    readonly ucumCode?: string;
    readonly unit?: { readonly name?: string };
  };
}
let units: Promise<Unit> | undefined;

/** Units are checked by the library, which is loaded when the first comes. */
async function checkUnit(code: string): Promise<{ display?: string } | undefined> {
  if (code === '' || code.length > 200) return undefined;
  const { validate } = await (units ??= loadUnits());
  const { status, ucumCode, unit } = validate(code);
  if (status !== 'valid' || ucumCode !== code) return undefined;
  return unit?.name === undefined ? {} : { display: unit.name };
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
function languageOf(code: string): { display?: string } | undefined {
  try {
    const [canonical] = Intl.getCanonicalLocales(code);
    if (canonical === undefined) return undefined;
    const display = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' }).of(canonical);
    const [language = ''] = canonical.split('-');
    const isKnown = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' }).of(language) !== undefined;
    if (!isKnown) return undefined;
    return display === undefined ? {} : { display };
  } catch {
    return undefined;
  }
}

/** Countries with two letters, as the library knows them. */
function countries(): { code: string; display?: string }[] {
  const letters = Array.from({ length: 26 }, (_, i) => String.fromCharCode(65 + i));
  const codes = letters.flatMap((one) => letters.map((other) => `${one}${other}`));
  return namesOf('region', codes).filter(({ display }) => display !== undefined);
}

function namesOf(type: 'currency' | 'region', codes: readonly string[]): { code: string; display?: string }[] {
  const names = new Intl.DisplayNames(['en'], { type, fallback: 'none' });
  return codes.map((code) => {
    const display = names.of(code);
    return display === undefined ? { code } : { code, display };
  });
}

/** A system whose codes are listed once. */
function listed(make: () => readonly { code: string; display?: string }[]): Grammar {
  let made: ReadonlyMap<string, { code: string; display?: string }> | undefined;
  const all = () => (made ??= new Map(make().map((each) => [each.code, each])));
  return {
    check(code) {
      const found = all().get(code);
      if (found === undefined) return Promise.resolve(undefined);
      return Promise.resolve(found.display === undefined ? {} : { display: found.display });
    },
    list: () => [...all().values()],
  };
}
