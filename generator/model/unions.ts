import type { PathRow } from '../../runtime/contract/index.js';
import type { SearchParameterModel } from './model.js';

/**
 * Says of each parameter of a type that has just the values of others of it together which these are: they have some of its paths each,
 * all of them together, and the same search type and components. References stay as they are: includes and chains go by them.
 */
export function findUnions(parameters: readonly SearchParameterModel[]): SearchParameterModel[] {
  return parameters.map((parameter) => {
    const codes = unionOf(parameter, parameters);
    return codes === undefined ? parameter : { ...parameter, unionOf: codes };
  });
}

function unionOf(parameter: SearchParameterModel, all: readonly SearchParameterModel[]): readonly string[] | undefined {
  const { type, paths } = parameter;
  if (type === 'reference' || type === 'special' || paths.length < 2) return undefined;
  const own = new Set(paths.map(keyOf));
  const parts = all.filter(
    (each) =>
      each.type === type &&
      each.paths.length > 0 &&
      each.paths.length < paths.length &&
      each.paths.every((path) => own.has(keyOf(path))) &&
      componentsOf(each) === componentsOf(parameter),
  );
  const found = new Set(parts.flatMap((each) => each.paths.map(keyOf)));
  return found.size === own.size ? parts.map(({ code }) => code) : undefined;
}

/** Two paths with the same reach the same values, and make the same of them. */
function keyOf({ steps, types, system }: PathRow): string {
  return JSON.stringify([steps, types, system]);
}

function componentsOf({ components = [] }: SearchParameterModel): string {
  return JSON.stringify(components.map(({ type, paths }) => [type, paths.map(keyOf)]));
}
