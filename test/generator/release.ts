import type { CompartmentRow } from '../../runtime/contract/index.js';
import { GeneratorError } from '../../generator/generator-error.js';
import { makeModel } from '../../generator/generate.js';
import { loadDefinitions, type Definitions } from '../../generator/load/definitions.js';
import { applyErrata, type Erratum } from '../../generator/load/errata.js';
import { findPackage } from '../../generator/load/find-package.js';
import { loadPackage, type LoadedPackage } from '../../generator/load/package.js';
import { buildCodes } from '../../generator/model/codes.js';
import { buildCompartments } from '../../generator/model/compartments.js';
import { indexTypes } from '../../runtime/path/expression/type-index.js';
import type { Model, OperationModel, SearchParameterModel } from '../../generator/model/model.js';
import { tail } from '../../generator/model/names.js';
import { buildOperations } from '../../generator/model/operations.js';
import { buildRules } from '../../generator/model/invariants.js';
import { buildPrimitives } from '../../generator/model/primitives.js';
import { buildSearch } from '../../generator/model/search.js';
import { projectRoot } from '../../generator/project-root.js';

export const R5 = 'hl7.fhir.r5.core@5.0.0';
export const R5_EXPANSIONS = 'hl7.fhir.r5.expansions@5.0.0';
export const R4B = 'hl7.fhir.r4b.core@4.3.0';

type Rules = {
  readonly element: readonly { readonly constraint?: readonly { readonly key: string; readonly severity: string }[] }[];
};
/** The parts of a profile that have rules. */
type Profile = Partial<Record<'snapshot' | 'differential', Rules>>;

/** A release as published, and the model that the generator makes of it. */
export interface Release {
  readonly published: LoadedPackage;
  readonly definitions: Definitions;
  readonly model: Model;
}

/** Reads a package from where the generator finds it. */
export async function readPackage(name: string): Promise<LoadedPackage> {
  return loadPackage(await findPackage(name, projectRoot()));
}

export async function readRelease(name: string): Promise<Release> {
  return {
    published: await readPackage(name),
    definitions: loadDefinitions(`${projectRoot()}/definitions`),
    model: await makeModel({ package: name }),
  };
}

/**
 * The parts of a model that errata touch, each made when asked for: what a release would look like with these errata
 * and no others. A whole model for each erratum would take a minute.
 */
export class Remade {
  private readonly corrected: LoadedPackage;

  constructor(
    private readonly release: Release,
    private readonly expansions: LoadedPackage,
    private readonly errata: readonly Erratum[],
  ) {
    this.corrected = applyErrata(release.published, errata);
  }

  /** The search parameters that a type adds under this code; there should be one at most. */
  parameters(type: string, code: string): readonly SearchParameterModel[] {
    const { structures, codes } = this.release.model;
    const parents = new Map(
      this.corrected.structures
        .filter((definition) => definition.derivation !== 'constraint')
        .map((definition): [string, string] => [definition.type, tail(definition.baseDefinition ?? '')]),
    );
    const types = indexTypes(structures, parents);
    // The compiler looks all types up, but makes a table only for those it is given.
    const wanted = structures.filter(({ name }) => name === type);
    const tables = buildSearch(this.corrected.searchParameters, { structures: wanted, types, codes, aliases: [] });
    return tables.flatMap((table) => table.parameters).filter((parameter) => parameter.code === code);
  }

  operation(id: string): OperationModel | undefined {
    const operations = buildOperations(this.corrected.operations, [], (type) => [type]);
    return operations.find((operation) => operation.id === id);
  }

  compartments(type: string): readonly CompartmentRow[] {
    return buildCompartments(this.corrected.compartments).filter((row) => row.type === type);
  }

  /** Those of the texts that the pattern of a primitive lets pass, used as the contract says. */
  accepted(primitive: string, texts: readonly string[]): readonly string[] {
    const row = buildPrimitives(this.corrected.structures).find(({ name }) => name === primitive);
    const pattern = new RegExp(`^(?:${row?.pattern ?? ''})$`, 'u');
    return texts.filter((text) => pattern.test(text));
  }

  /** How severe a rule of a profile is, in one of the forms of its elements. */
  severity(profile: string, rule: string, form: 'snapshot' | 'differential'): string | undefined {
    const definition = this.corrected.structures.find(({ url }) => tail(url) === profile) as Profile | undefined;
    const constraints = definition?.[form]?.element.flatMap(({ constraint = [] }) => constraint) ?? [];
    return constraints.find(({ key }) => key === rule)?.severity;
  }

  /** Expressions of a rule of a type. */
  expressions(type: string, rule: string): readonly string[] {
    const rows = buildRules(this.corrected.structures.filter((definition) => definition.type === type)).rows;
    return rows.filter(({ id }) => id === rule).map(({ expression }) => expression);
  }

  /** Whether the code tables let a code pass for a required binding: without a table, syntax alone decides. */
  admits(valueSet: string, code: string): boolean {
    const left = new Set(this.errata.filter(({ omit }) => omit === true).map(({ target }) => target));
    const bound = this.release.model.structures.map((structure) => ({
      ...structure,
      elements: structure.elements.filter((element) => element.binding?.valueSet === valueSet),
    }));
    const tables = buildCodes(bound, (url) => (left.has(url) ? undefined : this.expansions.valueSet(url)));
    return tables.every(({ codes }) => Object.values(codes).some((list) => list.includes(code)));
  }
}

/** What a function returns, or what the generator refuses it with. */
export function outcomeOf<T>(run: () => T): T | string {
  try {
    return run();
  } catch (error) {
    if (error instanceof GeneratorError) return [...error.details, error.message][0] ?? '';
    if (error instanceof SyntaxError) return 'no regular expression';
    throw error;
  }
}
