import { ALGORITHMS, isAlgorithm, type SignatureAlgorithm } from '../auth/jwks/algorithms.js';
import { compileSchema } from '../fhir/json-schema.js';
import type { JsonValue } from '../fhir/resource.js';
import { readJson } from '../format/read-json.js';
import { isLoopback } from '../http/open-mode.js';
import { maskPassword } from './mongo-url.js';
import type { Setting } from './setting.js';

/** Faults of a value that a message names. */
const MAX_FAULTS = 3;

/** What every kind of setting here is described by. */
interface Description {
  readonly help: string;
  readonly placeholder?: string;
  readonly initialText?: string;
}

/** A text; absent where nothing is said. */
export function text(rest: Description): Setting<string | undefined> {
  return optional({
    placeholder: 'TEXT',
    ...rest,
    parse(value) {
      if (typeof value === 'string' && /^[^\p{Cc}]{1,4096}$/u.test(value)) return value;
      throw new Error('has to be a text');
    },
  });
}

/** An OID as a URI. */
export function oid(rest: Description): Setting<string | undefined> {
  return optional({
    placeholder: 'OID',
    ...rest,
    parse(value) {
      if (typeof value === 'string' && /^urn:oid:[0-2](?:\.(?:0|[1-9]\d*)){1,60}$/.test(value)) return value;
      throw new Error('has to be an OID such as urn:oid:1.2.3');
    },
  });
}

/** A https URL of another server. */
export function httpsUrl(rest: Description): Setting<string | undefined> {
  return optionalUrl({
    placeholder: 'URL',
    ...rest,
    parse(value) {
      const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
      if (url?.protocol === 'https:' && url.username === '' && url.password === '' && url.hash === '')
        return String(value);
      throw new Error('has to be an https URL, without user and fragment');
    },
  });
}

/** The root under which clients know the server, without a trailing slash. */
export function rootUrl(rest: Description): Setting<string | undefined> {
  return optionalUrl({
    placeholder: 'URL',
    ...rest,
    parse(value) {
      const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
      const isPlain = url?.username === '' && url.password === '' && url.search === '' && !/[?#]/.test(String(value));
      if (url === undefined || !isPlain || !/^https?:$/.test(url.protocol)) {
        throw new Error('has to be a URL such as https://fhir.example.org, without user, query and fragment');
      }
      if (url.protocol === 'http:' && !isLoopback(url.hostname))
        throw new Error('has to be https: tokens travel there');
      const root = url.href.replace(/\/+$/, '');
      if (/\/fhir$/.test(root)) throw new Error(`is the root of the server; FHIR is below it: ${root.slice(0, -5)}`);
      return root;
    },
  });
}

/** Several words: a list in a file, with commas or spaces between them elsewhere. */
export function words<const T extends readonly string[]>(
  rest: Description & { readonly initial: T },
  check: (word: string) => void = () => {},
): Setting<readonly string[]> {
  const { initial } = rest;
  return {
    placeholder: 'LIST',
    initialText: initial.length === 0 ? 'none' : initial.join(','),
    ...rest,
    parse(value) {
      const list = typeof value === 'string' ? value.split(/[\s,]+/).filter((word) => word !== '') : value;
      if (!Array.isArray(list) || !list.every((word) => typeof word === 'string' && /^[^\s,]{1,1000}$/.test(word))) {
        throw new Error('has to be a list of words');
      }
      for (const word of list as readonly string[]) check(word);
      return list as readonly string[];
    },
  };
}

/** Some of a list of names, or none. */
export function names<const T extends string>(known: readonly T[], rest: Description): Setting<readonly T[]> {
  const isKnown = (word: string): word is T => known.some((name) => name === word);
  const list = words({ ...rest, initial: [] }, (word) => {
    if (!isKnown(word)) throw new Error(`has to be a list of ${known.join(', ')}`);
  });
  return { ...list, initial: [], parse: (value) => list.parse(value).filter(isKnown) };
}

/** Algorithms of signatures, one at least. */
export function algorithms(
  rest: Description & { readonly initial: readonly SignatureAlgorithm[] },
): Setting<readonly SignatureAlgorithm[]> {
  const known = Object.keys(ALGORITHMS).join(', ');
  const { parse, ...list } = words(rest);
  return {
    ...list,
    initial: rest.initial,
    parse(value) {
      const found = parse(value);
      if (found.length === 0 || !found.every(isAlgorithm)) throw new Error(`has to be some of ${known}`);
      return found as readonly SignatureAlgorithm[];
    },
  };
}

/**
 * A list or an object of JSON, as it is in a file; as JSON text elsewhere.
 *
 * @param schema JSON Schema of the value
 * @param wrong what a value has to be, with an example
 */
export function json<T extends JsonValue>(
  rest: Description & { readonly initial: T; readonly show: (value: T) => string },
  schema: object,
  wrong: string,
): Setting<T> {
  const { show, ...description } = rest;
  // A list of clients may hold keys that should not be there.
  const check = compileSchema(schema, { isSecret: true });
  return {
    isJson: true,
    placeholder: 'JSON',
    initialText: 'none',
    ...description,
    mask: show,
    parse(given) {
      const value = typeof given === 'string' ? parseJson(given) : given;
      const faults = value === undefined ? [] : check(value);
      if (value !== undefined && faults.length === 0) return value as T;
      throw new Error([wrong, ...faults.slice(0, MAX_FAULTS)].join('; '));
    },
  };
}

function parseJson(given: string): JsonValue | undefined {
  try {
    return readJson(given);
  } catch {
    return undefined;
  }
}

/** A URL may be given with a password, which is refused and not repeated. */
function optionalUrl(setting: Omit<Setting<string>, 'initial'>): Setting<string | undefined> {
  return { ...optional(setting), mask: (url) => (url === undefined ? 'none' : maskPassword(url)) };
}

function optional<T>(setting: Omit<Setting<T>, 'initial'>): Setting<T | undefined> {
  const { parse, mask: _mask, format: _format, ...rest } = setting;
  return {
    initialText: 'none',
    ...rest,
    initial: undefined,
    parse: (value) => (value === null ? undefined : parse(value)),
  };
}
