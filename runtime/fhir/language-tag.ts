import { parse } from 'bcp-47';

/** The parts of a language tag. A tag that was registered as a whole, before there was a grammar, has none. */
export interface LanguageTag {
  readonly whole?: string;
  readonly language?: string;
  readonly extended: readonly string[];
  readonly script?: string;
  readonly region?: string;
  readonly variants: readonly string[];
}

/** Parses a tag; undefined: it is not well-formed. https://www.rfc-editor.org/rfc/rfc5646.html#section-2.2.9 */
export function parseLanguageTag(text: string): LanguageTag | undefined {
  const { irregular, regular, language, extendedLanguageSubtags, script, region, variants, extensions, privateuse } =
    parse(text, { normalize: false });
  const whole = irregular ?? regular;
  if (typeof whole === 'string') return { whole, extended: [], variants: [] };
  if (typeof language !== 'string') return privateuse.length > 0 ? { extended: [], variants: [] } : undefined;
  const singletons = extensions.map(({ singleton }) => singleton);
  if (hasTwice(singletons) || hasTwice(variants)) return undefined;
  return {
    language,
    extended: extendedLanguageSubtags,
    ...(typeof script === 'string' && { script }),
    ...(typeof region === 'string' && { region }),
    variants,
  };
}

function hasTwice(parts: readonly string[]): boolean {
  return new Set(parts.map((each) => each.toLowerCase())).size < parts.length;
}

/** How nearly all tags look. */
const USUAL = /^[a-z]{2,3}(?:-[A-Z]{2})?$/;

/** Whether a text is a well-formed language tag: registered, private, or neither. https://www.rfc-editor.org/rfc/rfc5646.html#section-2.1 */
export function isLanguageTag(text: string): boolean {
  return USUAL.test(text) || parseLanguageTag(text) !== undefined;
}
