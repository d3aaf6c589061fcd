import { isDeepStrictEqual } from 'node:util';
import { GeneratorError } from '../generator-error.js';
import type { Definition } from './fhir-json.js';
import type { LoadedPackage } from './package.js';

/** A correction to a published definition. One object of `definitions/errata.json`. */
export interface Erratum {
  /** Name of the package that it corrects; it applies to no other package. */
  readonly package: string;
  /** Canonical of the definition. */
  readonly target: string;
  /** Why, for people; ends up in the reference pages. */
  readonly reason: string;
  /** Leaves the whole definition out. */
  readonly omit?: true;
  /** JSON pointer of the faulty value. */
  readonly path?: string;
  /** The published value; absent if there must be none. */
  readonly was?: unknown;
  /** The corrected value; absent to remove the published one. */
  readonly now?: unknown;
}

/**
 * The value sets of a package, without those that the errata omit.
 *
 * @throws GeneratorError naming each erratum for a value set that is missing, or that the erratum does not omit
 */
export function omitValueSets(loaded: LoadedPackage, errata: readonly Erratum[]): LoadedPackage['valueSet'] {
  const mine = errata.filter((erratum) => erratum.package === loaded.name);
  const faults = mine
    .filter(({ target, omit }) => omit !== true || loaded.valueSet(target) === undefined)
    .map(({ target, omit }) =>
      omit === true
        ? `${target}: ${loaded.name}@${loaded.version} has no such value set`
        : `${target}: a value set can only be left out ("omit": true)`,
    );
  if (faults.length > 0) throw inapplicable(faults);
  const omitted = new Set(mine.map(({ target }) => target));
  return (url) => (omitted.has(url) ? undefined : loaded.valueSet(url));
}

/** The package as published, without the definitions that the errata omit. */
export function omitDefinitions(loaded: LoadedPackage, errata: readonly Erratum[]): LoadedPackage {
  const omitted = new Set(
    errata.filter((erratum) => erratum.package === loaded.name && erratum.omit === true).map(({ target }) => target),
  );
  const keep = <T extends Definition>(list: readonly T[]): readonly T[] => list.filter(({ url }) => !omitted.has(url));
  return {
    ...loaded,
    structures: keep(loaded.structures),
    searchParameters: keep(loaded.searchParameters),
    operations: keep(loaded.operations),
    compartments: keep(loaded.compartments),
  };
}

/**
 * Applies the errata of a package to copies of its definitions; the loaded package itself stays as published.
 *
 * @throws GeneratorError naming each erratum that no longer applies: its target is missing, or the published value has
 *   changed
 */
export function applyErrata(loaded: LoadedPackage, errata: readonly Erratum[]): LoadedPackage {
  const mine = errata.filter((erratum) => erratum.package === loaded.name);
  const faults: string[] = [];
  const met = new Set<Erratum>();
  const correct = <T extends Definition>(list: readonly T[]): readonly T[] =>
    list.flatMap((definition) => {
      const own = mine.filter((erratum) => erratum.target === definition.url);
      own.forEach((erratum) => met.add(erratum));
      return correctDefinition(definition, own, faults) ?? [];
    });
  const corrected: LoadedPackage = {
    ...loaded,
    structures: correct(loaded.structures),
    searchParameters: correct(loaded.searchParameters),
    operations: correct(loaded.operations),
    compartments: correct(loaded.compartments),
  };
  for (const erratum of mine) {
    if (!met.has(erratum)) faults.push(`${erratum.target}: ${loaded.name}@${loaded.version} has no such definition`);
  }
  if (faults.length > 0) {
    throw inapplicable(faults);
  }
  return corrected;
}

/**
 * A definition with its errata, as a copy where there are any; undefined: they leave it out.
 *
 * @param faults gets those that do not apply
 */
export function correctDefinition<T extends object>(
  definition: T,
  own: readonly Erratum[],
  faults: string[],
): T | undefined {
  if (own.length === 0) return definition;
  if (own.some(({ omit }) => omit === true)) return undefined;
  const copy = structuredClone(definition);
  for (const erratum of own) {
    const fault = replaceAt(copy as unknown as Json, erratum);
    if (fault !== undefined) faults.push(`${erratum.target} ${erratum.path ?? ''}: ${fault}`);
  }
  return copy;
}

function inapplicable(faults: readonly string[]): GeneratorError {
  return new GeneratorError('definitions/errata.json: corrections that no longer apply; adapt or remove them', faults);
}

type Json = Record<string, unknown>;

function replaceAt(root: Json, erratum: Erratum): string | undefined {
  const keys = (erratum.path ?? '')
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  const last = keys.pop();
  if (last === undefined) return 'path is not a JSON pointer below the root';
  let holder: unknown = root;
  for (const key of keys) holder = isObject(holder) ? holder[key] : undefined;
  if (!isObject(holder)) return 'there is nothing at this place';
  if (!isDeepStrictEqual(holder[last], erratum.was)) {
    return `expected ${JSON.stringify(erratum.was)}, found ${JSON.stringify(holder[last])}`;
  }
  if (erratum.now !== undefined) holder[last] = erratum.now;
  else if (Array.isArray(holder)) holder.splice(Number(last), 1);
  else delete holder[last];
  return undefined;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null;
}
