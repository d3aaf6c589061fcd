import type { ComponentRow, PathRow } from '../../runtime/contract/index.js';
import type { SearchParameterModel, SearchTableModel } from './model.js';

/**
 * Says of each part of a composite which parameter of the same type has all of its values: one of the same search type, of whose paths
 * one leads wherever the composite's path and then the part's do, and that is no union of others. Parts without such a parameter
 * stay as they are.
 */
export function coverParts(tables: readonly SearchTableModel[]): SearchTableModel[] {
  return tables.map((table) => ({
    ...table,
    parameters: table.parameters.map((parameter) => {
      const { components } = parameter;
      if (components === undefined) return parameter;
      return { ...parameter, components: components.map((part) => cover(part, parameter.paths, table.parameters)) };
    }),
  }));
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
