import type { CapabilityRow, ExchangeTable, ScopeTable } from '../../runtime/contract/index.js';
import type { AliasDefinition } from '../load/definitions.js';
import type { OperationDefinition, StructureDefinition, ValueSet } from '../load/fhir-json.js';
import type { LoadedPackage } from '../load/package.js';
import { buildCodes } from './codes.js';
import { buildCompartments } from './compartments.js';
import { indexTypes } from '../../runtime/path/expression/type-index.js';
import { buildRules } from './invariants.js';
import type { Model } from './model.js';
import { tail } from './names.js';
import { buildOperations } from './operations.js';
import { buildPrimitives } from './primitives.js';
import { buildProfiles } from './profiles.js';
import { buildSearch } from './search.js';
import { buildStructures } from './structures.js';

const IMPLEMENTS = 'http://hl7.org/fhir/StructureDefinition/structuredefinition-implements';

/** Input of the model. */
export interface ModelSources {
  /** The definitions, errata applied. */
  readonly package: LoadedPackage;
  /** Expanded value sets by canonical. */
  readonly expansion: (url: string) => ValueSet | undefined;
  /** The packages with the definitions. */
  readonly inputs: Model['inputs'];
  readonly corrections: Model['corrections'];
  /** Our own definitions. */
  readonly operations: readonly OperationDefinition[];
  readonly scopes: ScopeTable;
  /** Headers and bodies of requests and answers. */
  readonly exchanges: ExchangeTable;
  /** Other names of search parameters. */
  readonly aliases: readonly AliasDefinition[];
  /** Profiles claimed, by type. */
  readonly profiles: Readonly<Record<string, readonly string[]>>;
}

/**
 * Makes the model.
 *
 * @throws GeneratorError naming the definitions that cannot be interpreted
 */
export function buildModel(sources: ModelSources): Model {
  const { package: loaded } = sources;
  const rules = buildRules(loaded.structures);
  const structures = buildStructures(loaded.structures, rules);
  const primitives = buildPrimitives(loaded.structures);
  const codes = buildCodes(structures, sources.expansion);
  const concrete = structures.filter((structure) => structure.kind === 'resource' && structure.abstract !== true);
  const typeNames = concrete.map((structure) => structure.name);
  const parents = new Map(
    loaded.structures
      .filter((definition) => definition.derivation !== 'constraint')
      .map((definition): [string, string] => [definition.type, tail(definition.baseDefinition ?? '')]),
  );
  const types = indexTypes(structures, parents);
  return {
    package: `${loaded.name}@${loaded.version}`,
    fhirVersion: loaded.fhirVersion,
    inputs: sources.inputs,
    structures,
    primitives,
    invariants: rules.rows,
    search: buildSearch(loaded.searchParameters, { structures, types, codes, aliases: sources.aliases }),
    compartments: buildCompartments(loaded.compartments),
    operations: buildOperations(loaded.operations, sources.operations, (type) =>
      concreteTypes(type, typeNames, loaded.structures),
    ),
    scopes: sources.scopes,
    exchanges: sources.exchanges,
    codes,
    profiles: buildProfiles(loaded.structures, Object.values(sources.profiles).flat(), {
      structures,
      primitives,
      invariants: rules.rows,
    }),
    capabilities: concrete.map((structure) => capabilityOf(structure.name, structure.url, sources.profiles)),
    ...{ guides: [], guideProfiles: [], views: [] },
    corrections: sources.corrections,
  };
}

/** Concrete types of a type. Implementers of an interface such as CanonicalResource name it in an extension, not as base. */
export function concreteTypes(
  type: string,
  concrete: readonly string[],
  definitions: readonly StructureDefinition[],
): string[] {
  if (concrete.includes(type)) return [type];
  const implementers = (name: string): string[] =>
    definitions
      .filter((definition) => definition.derivation !== 'constraint')
      .filter((definition) =>
        [definition.baseDefinition, ...implemented(definition)].some((url) => url !== undefined && tail(url) === name),
      )
      .map((definition) => definition.type);
  return implementers(type).flatMap((name) => concreteTypes(name, concrete, definitions));
}

function implemented(definition: StructureDefinition): string[] {
  return (definition.extension ?? [])
    .filter((extension) => extension.url === IMPLEMENTS)
    .flatMap((extension) => extension.valueUri ?? []);
}

function capabilityOf(type: string, profile: string, profiles: ModelSources['profiles']): CapabilityRow {
  const supported = profiles[type];
  return { type, profile, ...(supported === undefined ? {} : { supportedProfiles: supported }) };
}
