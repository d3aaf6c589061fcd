import { createRequire } from 'node:module';

import { isLanguageTag } from '../../fhir/language-tag.js';
import type { Resource } from '../../fhir/resource.js';
import { languageOf } from './language-registry.js';
import { UCUM } from '../../fhir/ucum/system.js';

/** A code system that a rule defines and no list. */
export interface Grammar {
  readonly name: string;
  /** The system as a CodeSystem, without its codes. */
  readonly resource: Resource;
  /** Whether a code is one, and its display where there is one; undefined: it is none. */
  check(code: string): Promise<Known>;
  /** Whether a code that `check` does not know may be one: it has the right form, and registries that the platform lacks have the rest. */
  mayBe(code: string): boolean;
}

/** The systems by URL. Rules of the standard library are used where there are any. */
export const GRAMMARS: ReadonlyMap<string, Grammar> = new Map([
  grammar(UCUM, 'UCUM', checkUnit),
  grammar('urn:ietf:bcp:47', 'BCP 47 language tags', languageOf, isLanguageTag),
  grammar('urn:ietf:bcp:13', 'Media types', (code) => (MEDIA_TYPE.test(code) ? {} : undefined)),
]);

type Known = { readonly display?: string } | undefined;

function grammar(
  url: string,
  name: string,
  check: (code: string) => Known | Promise<Known>,
  mayBe: (code: string) => boolean = () => false,
): [string, Grammar] {
  const resource = { resourceType: 'CodeSystem', url, name, status: 'active', content: 'not-present' } as Resource;
  return [url, { name, resource, check: (code) => Promise.resolve(check(code)), mayBe }];
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

/** Units that were checked: more than anybody uses. */
const checked = new Map<string, Known>();
const MOST_CHECKED = 5000;

/** Units are checked by the library, which is loaded when the first comes. It takes some 0.1 ms for each, so that answers are kept. */
async function checkUnit(code: string): Promise<Known> {
  if (!UNIT_TEXT.test(code)) return undefined;
  if (checked.has(code)) return checked.get(code);
  const known = validUnit(code, await (units ??= loadUnits()));
  if (checked.size >= MOST_CHECKED) checked.clear();
  // A copy: a slice of a request would keep all of its text.
  checked.set(Buffer.from(code).toString(), known);
  return known;
}

/** The characters of UCUM: https://ucum.org/ucum#section-Character-Set-and-Lexical-Rules */
const UNIT_TEXT = /^[!-~]{1,200}$/;

function validUnit(code: string, { validate }: Unit): Known {
  const { status, ucumCode, unit } = quietly(() => validate(code));
  if (status !== 'valid' || ucumCode !== code) return undefined;
  // The library names the unit 1 by a number.
  return unit?.name === undefined ? {} : { display: String(unit.name) };
}

/** The library writes what it fails on to the console, which is the log of the server and takes no texts of clients. */
/* eslint-disable no-console */
function quietly<T>(work: () => T): T {
  const { log } = console;
  console.log = () => undefined;
  try {
    return work();
  } finally {
    console.log = log;
  }
}
/* eslint-enable no-console */

function loadUnits(): Promise<Unit> {
  // The package has no types, and is CommonJS.
  const { UcumLhcUtils } = createRequire(import.meta.url)('@lhncbc/ucum-lhc') as {
    UcumLhcUtils: { getInstance(): { validateUnitString: Unit['validate'] } };
  };
  const utils = UcumLhcUtils.getInstance();
  return Promise.resolve({ validate: (code) => utils.validateUnitString(code) });
}
