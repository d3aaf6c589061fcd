import type { PathRow } from '../../runtime/contract/index.js';
import type { SearchParameterModel } from './model.js';
import { byCodePoint } from './names.js';

/**
 * Says of each parameter of a type that has just the values of others of it together which these are: they have some of its paths each,
 * all of them together, and the same search type and components. Of several that have the same values (`name` and `phonetic`) all
 * are unions of one: of that which more types have. References stay as they are: includes and chains go by them.
 *
 * @param spread how many types have a parameter of this code
 */
export function findUnions(
  parameters: readonly SearchParameterModel[],
  spread: (code: string) => number,
): SearchParameterModel[] {
  const first = new Map<string, SearchParameterModel>();
  for (const each of parameters) {
    if (!isComparable(each)) continue;
    const before = first.get(valuesOf(each));
    if (before === undefined || spread(each.code) > spread(before.code)) first.set(valuesOf(each), each);
  }
  const others = [...first.values()];
  return parameters.map((parameter) => {
    if (!isComparable(parameter)) return parameter;
    const same = first.get(valuesOf(parameter))!;
    const codes = same === parameter ? unionOf(parameter, others) : [same.code];
    return codes === undefined ? parameter : { ...parameter, unionOf: codes };
  });
}

function isComparable({ type, paths }: SearchParameterModel): boolean {
  return type !== 'reference' && type !== 'special' && paths.length > 0;
}

/** Alike for parameters that have the same values. */
function valuesOf(parameter: SearchParameterModel): string {
  const paths = [...new Set(parameter.paths.map(keyOf))].sort();
  return JSON.stringify([parameter.type, paths, componentsOf(parameter)]);
}

/** @param all of those with the same values one */
function unionOf(parameter: SearchParameterModel, all: readonly SearchParameterModel[]): readonly string[] | undefined {
  const { type, paths } = parameter;
  const own = new Set(paths.map(keyOf));
  const parts = all.filter(
    (each) =>
      each !== parameter &&
      each.type === type &&
      each.paths.every((path) => own.has(keyOf(path))) &&
      componentsOf(each) === componentsOf(parameter),
  );
  const found = new Set(parts.flatMap((each) => each.paths.map(keyOf)));
  return found.size === own.size ? parts.map(({ code }) => code).sort(byCodePoint) : undefined;
}

/** Two paths with the same reach the same values, and make the same of them. */
function keyOf({ steps, types, system }: PathRow): string {
  return JSON.stringify([steps, types, system]);
}

function componentsOf({ components = [] }: SearchParameterModel): string {
  return JSON.stringify(components.map(({ type, paths }) => [type, paths.map(keyOf)]));
}
