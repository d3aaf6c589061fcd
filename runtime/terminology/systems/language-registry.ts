import { createRequire } from 'node:module';

import { parseLanguageTag, type LanguageTag } from '../../fhir/language-tag.js';

/** A record of the registry of subtags. https://www.rfc-editor.org/rfc/rfc5646.html#section-3.1 */
interface RegistryRecord {
  readonly Type: string;
  readonly Subtag?: string;
  readonly Tag?: string;
  readonly Description: readonly string[];
}

interface Registry {
  /** The description of a subtag of a kind, or of a tag that was registered as a whole; undefined: it is not registered. */
  describe(kind: string, subtag: string): string | undefined;
}

let registry: Registry | undefined;

/**
 * Returns the meaning of a language tag, with a name where the platform or the registry has one; undefined: it is not
 * well-formed, or has a part that is not registered.
 */
export function languageOf(code: string): { readonly display?: string } | undefined {
  const tag = parseLanguageTag(code);
  if (tag === undefined) return undefined;
  const names = namesOf(tag, (registry ??= loadRegistry()));
  if (names === undefined) return undefined;
  const [language, ...others] = names;
  const display = platformName(code) ?? (others.length === 0 ? language : `${language} (${others.join(', ')})`);
  return display === undefined ? {} : { display };
}

/** The description of each part that has to be registered; undefined: one is not. */
function namesOf(tag: LanguageTag, { describe }: Registry): readonly string[] | undefined {
  const { whole, language, extended, script, region, variants } = tag;
  const parts: (readonly [kind: string, subtag: string | undefined])[] = [
    ['tag', whole],
    ['language', language],
    ...extended.map((each) => ['extlang', each] as const),
    ['script', script],
    ['region', region],
    ...variants.map((each) => ['variant', each] as const),
  ];
  const names: string[] = [];
  for (const [kind, subtag] of parts) {
    if (subtag === undefined) continue;
    const name = describe(kind, subtag);
    if (name === undefined) return undefined;
    names.push(name);
  }
  return names;
}

function platformName(code: string): string | undefined {
  try {
    return new Intl.DisplayNames(['en'], { type: 'language', languageDisplay: 'standard', fallback: 'none' }).of(code);
  } catch {
    // The platform takes no tags that were registered as a whole, nor wholly private ones.
    return undefined;
  }
}

function loadRegistry(): Registry {
  const records = createRequire(import.meta.url)('language-subtag-registry/data/json/registry.json') as readonly RegistryRecord[]; // prettier-ignore
  const names = new Map<string, string>();
  const ranges: { readonly kind: string; readonly first: string; readonly last: string; readonly name: string }[] = [];
  for (const { Type, Subtag, Tag, Description } of records) {
    const [name = ''] = Description;
    if (Tag !== undefined) names.set(`tag ${Tag.toLowerCase()}`, name);
    const [first, last] = Subtag?.toLowerCase().split('..') ?? [];
    if (first === undefined) continue;
    if (last === undefined) names.set(`${Type} ${first}`, name);
    else ranges.push({ kind: Type, first, last, name });
  }
  return {
    describe(kind, subtag) {
      const lower = subtag.toLowerCase();
      const isIn = ({ kind: own, first, last }: (typeof ranges)[number]): boolean =>
        own === kind && lower.length === first.length && lower >= first && lower <= last;
      return names.get(`${kind} ${lower}`) ?? ranges.find(isIn)?.name;
    },
  };
}
