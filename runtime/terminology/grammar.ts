import { createRequire } from 'node:module';

/** A code system that a rule defines and no list. */
export interface Grammar {
  readonly name: string;
  /** Whether a code is one, and its display where there is one; undefined: it is none. */
  check(code: string): Promise<{ readonly display?: string } | undefined>;
}

/** The systems by URL. Rules of the standard library are used where there are any. */
export const GRAMMARS: ReadonlyMap<string, Grammar> = new Map<string, Grammar>([
  ['http://unitsofmeasure.org', { name: 'UCUM', check: (code) => checkUnit(code) }],
  ['urn:ietf:bcp:47', { name: 'BCP 47 language tags', check: (code) => Promise.resolve(languageOf(code)) }],
  [
    'urn:ietf:bcp:13',
    { name: 'Media types', check: (code) => Promise.resolve(MEDIA_TYPE.test(code) ? {} : undefined) },
  ],
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
