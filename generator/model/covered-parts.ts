import type { ComponentRow, PathRow } from '../../runtime/contract/index.js';
import type { SearchParameterModel } from './model.js';

/**
 * Says of each part of the composites of a type which parameter of it has all of its values: one of the same search type, of whose paths
 * one leads wherever the composite's path and then the part's do, and that is no union of others. Parts without such a parameter
 * stay as they are.
 */
export function coverParts(parameters: readonly SearchParameterModel[]): SearchParameterModel[] {
  return parameters.map((parameter) => {
    const { components, paths } = parameter;
    if (components === undefined) return parameter;
    return { ...parameter, components: components.map((part) => cover(part, paths, parameters)) };
  });
}

function cover(
  part: ComponentRow,
  starts: readonly PathRow[],
  parameters: readonly SearchParameterModel[],
): ComponentRow {
  const ways = starts.flatMap((start) =>
    part.paths.map((path) => ({ ...path, steps: [...start.steps, ...path.steps] })),
  );
  const covers = ({ type, paths, unionOf }: SearchParameterModel): boolean =>
    unionOf === undefined && type === part.type && ways.every((way) => paths.some((path) => holds(path, way)));
  // The one that the definition names, if it does.
  const named = parameters.find((each) => each.code === part.code && covers(each));
  const found = named ?? parameters.find(covers);
  return found === undefined ? part : { ...part, coveredBy: found.code };
}

/** Whether one path has all values of another, and makes the same of them. */
function holds(path: PathRow, way: PathRow): boolean {
  return (
    JSON.stringify(path.steps) === JSON.stringify(way.steps) &&
    path.system === way.system &&
    way.types.every((type) => path.types.includes(type))
  );
}
