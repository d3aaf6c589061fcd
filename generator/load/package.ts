import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GeneratorError } from '../generator-error.js';
import type {
  CodeSystem,
  CompartmentDefinition,
  Definition,
  OperationDefinition,
  SearchParameter,
  StructureDefinition,
  ValueSet,
} from './fhir-json.js';
import type { FoundPackage } from './find-package.js';
import { DEFINITION_KINDS, digestPackage, filesOf, kindOf } from './package-digest.js';

/** The definitions of one package that the generator reads, each list in code-point order of file names. */
export interface LoadedPackage {
  readonly name: string;
  readonly version: string;
  /** FHIR release: `5.0.0`. */
  readonly fhirVersion: string;
  readonly structures: readonly StructureDefinition[];
  readonly searchParameters: readonly SearchParameter[];
  readonly operations: readonly OperationDefinition[];
  readonly compartments: readonly CompartmentDefinition[];
  /** sha256 over names and bytes of the files of which anything ends up in the product. */
  readonly integrity: string;
  /** The value set of a canonical (without version), if it is in the package. */
  readonly valueSet: (url: string) => ValueSet | undefined;
  /** Whether the code system of a url is in the package with all its codes. */
  readonly isCompleteCodeSystem: (url: string) => boolean;
}

/**
 * Reads a package's definitions. Value sets are read on demand: they are most of the bytes, and few are needed.
 */
export function loadPackage(found: FoundPackage): LoadedPackage {
  const files = filesOf(found.dir);
  const byKind = new Map<string, Definition[]>(DEFINITION_KINDS.map((kind) => [kind, []]));
  const integrity = digestPackage(found.dir, files, (file, bytes) =>
    byKind.get(kindOf(file))?.push(parse<Definition>(bytes, join(found.name, file))),
  );
  const meta = parse<{ fhirVersions?: string[]; 'fhir-version-list'?: string[] }>(
    readFileSync(join(found.dir, 'package.json')),
    join(found.name, 'package.json'),
  );
  const codeSystem = reader<CodeSystem>('CodeSystem', found, files);
  return {
    name: found.name,
    version: found.version,
    fhirVersion: meta.fhirVersions?.[0] ?? meta['fhir-version-list']?.[0] ?? found.version,
    structures: byKind.get('StructureDefinition') as StructureDefinition[],
    searchParameters: byKind.get('SearchParameter') as SearchParameter[],
    operations: byKind.get('OperationDefinition') as OperationDefinition[],
    compartments: byKind.get('CompartmentDefinition') as CompartmentDefinition[],
    integrity,
    valueSet: reader<ValueSet>('ValueSet', found, files),
    isCompleteCodeSystem: (url) => codeSystem(url)?.content === 'complete',
  };
}

/**
 * Reads definitions of one kind by url. Packages name a file after the id, which is nearly always the last segment of
 * the url: that one is tried first.
 */
function reader<T extends Definition>(
  kind: string,
  found: FoundPackage,
  files: readonly string[],
): (url: string) => T | undefined {
  const names = files.filter((file) => file.startsWith(`${kind}-`));
  const known = new Set(names);
  const read = (file: string): T => parse(readFileSync(join(found.dir, file)), join(found.name, file));
  let byUrl: Map<string, string> | undefined;
  return (url) => {
    const guess = `${kind}-${url.slice(url.lastIndexOf('/') + 1)}.json`;
    if (known.has(guess)) {
      const definition = read(guess);
      if (definition.url === url) return definition;
    }
    byUrl ??= new Map(names.map((file) => [read(file).url, file]));
    const file = byUrl.get(url);
    return file === undefined ? undefined : read(file);
  };
}

function parse<T>(bytes: Buffer, file: string): T {
  try {
    return JSON.parse(bytes.toString('utf8')) as T;
  } catch (cause) {
    throw new GeneratorError(`${file}: not readable as JSON (${(cause as Error).message})`);
  }
}
