import { splitBranches } from '../../runtime/path/expression/branches.js';
import { compileBranch, type CompiledPath } from '../../runtime/path/expression/compile.js';
import { ExpressionError } from '../../runtime/path/expression/expression-error.js';
import { branchesOf, toPathRow } from '../../runtime/path/expression/path-rows.js';
import type { TypeIndex } from '../../runtime/path/expression/type-index.js';
import type { CodeTable, ComponentRow, PathRow, SearchType } from '../../runtime/contract/index.js';
import { GeneratorError } from '../generator-error.js';
import type { AliasDefinition } from '../load/definitions.js';
import type { SearchParameter } from '../load/fhir-json.js';
import { aliasFaults, aliasesOf } from './aliases.js';
import { coverParts } from './covered-parts.js';
import type { SearchParameterModel, SearchTableModel, Structure } from './model.js';
import { byCodePoint } from './names.js';
import { searchTypeOf } from './search-type-of.js';
import { assignSlots } from './slots.js';
import { findUnions } from './unions.js';

/** Context for compiling search parameters. */
export interface SearchContext {
  readonly structures: readonly Structure[];
  readonly types: TypeIndex;
  readonly codes: readonly CodeTable[];
  /** Other names. */
  readonly aliases: readonly AliasDefinition[];
}

/**
 * The search parameters of each type that has or inherits any, in code-point order of codes.
 * https://hl7.org/fhir/R5/searchparameter.html
 *
 * @throws GeneratorError listing every expression that cannot be compiled, or every invalid alias
 */
export function buildSearch(parameters: readonly SearchParameter[], context: SearchContext): SearchTableModel[] {
  const faults: string[] = [];
  const byUrl = new Map(parameters.map((parameter) => [parameter.url, parameter]));
  // Some parameters have thirty bases: their expressions are split once, not once for each base.
  const branches = new Map(parameters.map((parameter) => [parameter, takeApart(parameter.expression ?? '')]));
  const spread = new Map<string, number>();
  for (const { code, base = [] } of parameters) spread.set(code, (spread.get(code) ?? 0) + base.length);
  const resources = context.structures.filter((structure) => structure.kind === 'resource');
  const searched = new Set(resources.map(({ name }) => name));
  const tables = resources.map((structure) => {
    const own = parameters
      .filter((parameter) => parameter.base?.includes(structure.name))
      .sort((a, b) => byCodePoint(a.code, b.code));
    const rows = own.flatMap((parameter) => {
      try {
        return [buildParameter(parameter, branches.get(parameter) ?? [], structure.name, byUrl, context)];
      } catch (error) {
        if (!(error instanceof GeneratorError || error instanceof ExpressionError)) throw error;
        faults.push(`${parameter.url}: ${error.message}`);
        return [];
      }
    });
    const aliases = aliasesOf(structure.name, context.aliases);
    return {
      type: structure.name,
      ...(structure.base !== undefined && searched.has(structure.base) ? { base: structure.base } : {}),
      parameters: coverParts(findUnions(rows, (code) => spread.get(code) ?? 0)),
      ...(aliases.length === 0 ? {} : { aliases }),
    };
  });
  if (faults.length > 0) {
    throw new GeneratorError(
      'search parameters that cannot be compiled; correct them in definitions/errata.json',
      faults,
    );
  }
  const lost = aliasFaults(context.aliases, tables);
  if (lost.length > 0) throw new GeneratorError('definitions/aliases.json does not fit the search parameters', lost);
  return assignSlots(tables);
}

/** @throws GeneratorError for what cannot be read */
function takeApart(expression: string): string[] {
  try {
    return splitBranches(expression);
  } catch (error) {
    throw error instanceof ExpressionError ? new GeneratorError(error.message) : error;
  }
}

function buildParameter(
  parameter: SearchParameter,
  all: readonly string[],
  type: string,
  byUrl: ReadonlyMap<string, SearchParameter>,
  context: SearchContext,
): SearchParameterModel {
  const branches = branchesOf(all, type, parameter.base?.length === 1, context.types);
  const compiled = branches.map((text) => ({ text, path: compileBranch(text, type, context.types) }));
  const paths = compiled.map(({ text, path }) => toPathRow(text, path, context.codes));
  const isHierarchy = parameter.type === 'reference' && leadsUp(compiled.map(({ path }) => path));
  const components = (parameter.component ?? []).map((component) =>
    buildComponent(component, byUrl.get(component.definition), paths, context),
  );
  return {
    id: parameter.id ?? '',
    code: parameter.code,
    type: parameter.type as SearchType,
    url: parameter.url,
    description: parameter.description ?? '',
    paths,
    ...(parameter.target === undefined ? {} : { targets: [...parameter.target].sort(byCodePoint) }),
    ...(components.length === 0 ? {} : { components }),
    ...(parameter.comparator === undefined ? {} : { comparators: parameter.comparator }),
    ...(parameter.modifier === undefined ? {} : { modifiers: parameter.modifier }),
    ...(isHierarchy ? { hierarchy: true as const } : {}),
  };
}

/** Whether a parameter's expression selects exactly one element, unfiltered, that is marked as a hierarchy. */
function leadsUp(paths: readonly CompiledPath[]): boolean {
  const [path] = paths;
  return paths.length === 1 && path?.element?.hierarchy === true && path.steps.every((step) => 'get' in step);
}

function buildComponent(
  component: { readonly definition: string; readonly expression: string },
  published: SearchParameter | undefined,
  composite: readonly PathRow[],
  context: SearchContext,
): ComponentRow {
  const roots = [...new Set(composite.flatMap((path) => path.types))];
  const texts = splitBranches(component.expression);
  const [first, ...others] = roots.map((root) =>
    texts.map((text) => toPathRow(text, compileBranch(text, root, context.types), context.codes)),
  );
  if (first === undefined) throw new GeneratorError('a composite without an expression');
  if (others.some((other) => JSON.stringify(other) !== JSON.stringify(first))) {
    throw new GeneratorError(`component ${component.expression} differs between ${roots.join(' and ')}`);
  }
  return {
    code: published?.code ?? component.expression,
    type: (published?.type as SearchType | undefined) ?? searchTypeOf(first.flatMap((path) => path.types)),
    paths: first,
  };
}
