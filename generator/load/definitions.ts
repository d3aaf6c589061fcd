import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import type { ExchangeTable } from '../../runtime/contract/index.js';
import type { JsonObject } from '../../runtime/fhir/resource.js';
import { GeneratorError } from '../generator-error.js';
import { operationFaults } from './definitions-operations.js';
import { schemaCheck } from './definitions-schema.js';
import { expandScopes, type ScopePolicy, type ScopePolicyFile } from './definitions-scopes.js';
import type { Erratum } from './errata.js';
import type { OperationDefinition } from './fhir-json.js';
import type { TypeDefinition } from './types.js';

/** `definitions/settings.json`. Other definitions refer to its values by their names in braces. */
export interface Settings {
  /** Vendor part of operation names: `svc` of `$svc.fhir.reindex-status`. */
  readonly vendor: string;
  readonly publisher: string;
}

/** Name of the file with the packages. */
export const PACKAGES_FILE = 'packages.json';

/** A FHIR package that the generator reads. One object of `definitions/packages.json`. */
export interface PackagePin {
  readonly name: string;
  /** Exact version. */
  readonly version: string;
  readonly role: 'definitions' | 'expansions' | 'guide' | 'dependency';
  /** Expected counts, by name; of a guide its definitions, by type. */
  readonly expect: Readonly<Record<string, number>>;
}

/** A guide that the tables are made with, or a package that one needs. `kiln generate --guide` writes them. */
export interface GuidePin extends PackagePin {
  readonly role: 'guide' | 'dependency';
  /** The archive, relative to the checkout; absent: npm has installed it. */
  readonly file?: string;
  readonly sha256: string;
  /** Versions that it asks for, by package, where it gets another one. */
  readonly overridden?: Readonly<Record<string, string>>;
}

/** Another name of a search parameter. One object of `definitions/aliases.json`. */
export interface AliasDefinition {
  /** Name of the package with the parameter; the alias applies to no other package. */
  readonly package: string;
  /** Resource type. */
  readonly type: string;
  readonly name: string;
  /** Code of the parameter; absent if the package itself has a parameter of this name, so that no alias is added. */
  readonly code?: string;
  /** Why, for people. */
  readonly reason: string;
}

/** A ViewDefinition of SQL on FHIR, and its path below `definitions/`. */
export interface ViewFile {
  readonly file: string;
  readonly definition: JsonObject;
}

/** Everything in `definitions/`, checked. */
export interface Definitions {
  readonly settings: Settings;
  readonly packages: readonly (PackagePin | GuidePin)[];
  readonly errata: readonly Erratum[];
  readonly aliases: readonly AliasDefinition[];
  /** Custom operations, in code-point order of their files. */
  readonly operations: readonly OperationDefinition[];
  /** Resource types beside those of the package, in code-point order of their files. */
  readonly types: readonly TypeDefinition[];
  readonly scopes: ScopePolicy;
  readonly exchanges: ExchangeTable;
  /** Canonicals of the profiles that the CapabilityStatement claims, by resource type. */
  readonly profiles: Readonly<Record<string, readonly string[]>>;
  /** In code-point order of their files. */
  readonly views: readonly ViewFile[];
}

/**
 * Reads and checks the definitions.
 *
 * @param dir the folder `definitions`
 * @param schemas the folder of the schemas that they are checked against
 * @throws GeneratorError with all faults in `details`, each as `FILE POINTER: actual value; expected value`
 */
export function loadDefinitions(dir: string, schemas = join(dir, 'schemas')): Definitions {
  const check = schemaCheck(schemas);
  const faults: string[] = [];
  const report = (file: string, found: readonly string[]): void => {
    // Forward slashes on every platform: the message is the same everywhere.
    faults.push(...found.map((fault) => `${basename(resolve(dir))}/${file} ${fault}`));
  };

  /** The file's content if it is valid. Placeholders are replaced first, so that the schema checks the final values. */
  const read = <T>(file: string, schema: string, settings?: Settings): T | undefined => {
    const found: string[] = [];
    const text = readText(join(dir, file), found);
    const value = text === undefined ? undefined : parse(settings ? fillIn(text, settings, found) : text, found);
    if (value !== undefined) found.push(...check(schema, value));
    report(file, found);
    return found.length === 0 ? (value as T) : undefined;
  };

  const packages = read<{ packages: PackagePin[] }>(PACKAGES_FILE, 'packages');
  const exchanges = read<ExchangeTable>('exchanges.json', 'exchanges');
  if (exchanges !== undefined) report('exchanges.json', headerFaults(exchanges));
  const profiles = read<Definitions['profiles']>('profiles.json', 'profiles');
  const settings = read<Settings>('settings.json', 'settings');
  // The other files cannot be checked before their placeholders are replaced.
  if (settings === undefined) return refuse(faults);

  const errata = read<{ errata: Erratum[] }>('errata.json', 'errata', settings);
  const aliases = read<{ aliases: AliasDefinition[] }>('aliases.json', 'aliases', settings);
  const operations = listFiles(dir, 'operations').map((file) => ({
    file,
    value: read<OperationDefinition>(file, 'operation', settings),
  }));
  for (const { file, fault } of operationFaults(operations)) report(file, [fault]);

  const views = listFiles(dir, 'views').flatMap((file): ViewFile[] => {
    const definition = read<JsonObject>(file, 'view');
    return definition === undefined ? [] : [{ file, definition }];
  });

  const types = listFiles(dir, 'types').map((file) => read<TypeDefinition>(file, 'type'));

  const policy = read<ScopePolicyFile>('policy/scopes.json', 'scopes', settings);
  const unsound: string[] = [];
  const scopes = policy && expandScopes(policy, unsound);
  report('policy/scopes.json', unsound);

  if (faults.length > 0 || !packages || !profiles || !errata || !aliases || !scopes || !exchanges)
    return refuse(faults);
  return {
    settings,
    packages: packages.packages,
    errata: errata.errata,
    aliases: aliases.aliases,
    operations: operations.flatMap(({ value }) => value ?? []),
    types: types.flatMap((value) => value ?? []),
    scopes,
    exchanges,
    profiles,
    views,
  };
}

/** The JSON files of a folder, in code-point order. */
function listFiles(dir: string, folder: string): string[] {
  if (!existsSync(join(dir, folder))) return [];
  return readdirSync(join(dir, folder))
    .filter((file) => file.endsWith('.json'))
    .sort((a, b) => (a < b ? -1 : 1))
    .map((file) => `${folder}/${file}`);
}

/** Headers that are described nowhere, or that nothing has. */
function headerFaults({ headers, rows }: ExchangeTable): string[] {
  const named = rows.flatMap((row) => [...row.headers, ...row.answers.flatMap((answer) => answer.headers ?? [])]);
  const used = new Set(named.map((name) => name.replace('!', '')));
  return [
    ...[...used].filter((name) => headers[name] === undefined).map((name) => `/headers/${name}: is missing`),
    ...Object.keys(headers)
      .filter((name) => !used.has(name))
      .map((name) => `/headers/${name}: no row has this header`),
  ];
}

function refuse(faults: readonly string[]): never {
  throw new GeneratorError(`definitions: ${faults.length} ${faults.length === 1 ? 'fault' : 'faults'}`, faults);
}

function readText(file: string, faults: string[]): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    faults.push(`: cannot be read (${(cause as NodeJS.ErrnoException).code ?? (cause as Error).message})`);
    return undefined;
  }
}

function parse(text: string, faults: string[]): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    faults.push(`: is not JSON (${(cause as Error).message})`);
    return undefined;
  }
}

function fillIn(text: string, settings: Settings, faults: string[]): string {
  const known = Object.keys(settings);
  return text.replace(/\{([a-z]+)\}/g, (whole, name: string) => {
    if (known.includes(name)) return settings[name as keyof Settings];
    faults.push(`: ${whole} is not known; expected ${known.map((each) => `{${each}}`).join(', ')}`);
    return whole;
  });
}
