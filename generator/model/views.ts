import type { Tables } from '../../runtime/contract/index.js';
import { compileView } from '../../runtime/views/compile-view.js';
import { columnsOf, readView } from '../../runtime/views/read-view.js';
import { ViewError, type ViewFault } from '../../runtime/views/view-error.js';
import { indexRows, type TypeIndex } from '../../runtime/path/expression/type-index.js';
import { GeneratorError } from '../generator-error.js';
import type { ViewFile } from '../load/definitions.js';
import type { ViewModel } from './model.js';

/**
 * Compiles the views of `definitions/views/`: each path has to lead somewhere, and each column to declare the type that its path gives.
 *
 * @throws GeneratorError with all faults, each with its file and its place there
 */
export function buildViews(files: readonly ViewFile[], tables: Pick<Tables, 'types' | 'primitives'>): ViewModel[] {
  const index = indexRows(tables.types, tables.primitives);
  const names = new Map<string, string>();
  const faults: string[] = [];
  const views = files.flatMap(({ file, definition }): ViewModel[] => {
    const found: ViewFault[] = [];
    const name = String(definition['name']);
    const other = names.get(name);
    if (other !== undefined) found.push({ place: 'name', text: `${name} is the name of the view in ${other}, too` });
    names.set(name, file);
    const columns = compileColumns(definition, tables, index, found);
    faults.push(...found.map(({ place, text }) => `definitions/${file} ${place}: ${text}`));
    const text = (key: string): string => (typeof definition[key] === 'string' ? definition[key] : '');
    const { url, description } = { url: text('url'), description: text('description') || text('title') };
    return [{ ...{ file, name, url, description, resource: text('resource') }, columns }];
  });
  if (faults.length === 0) return views;
  throw new GeneratorError(`views: ${faults.length} ${faults.length === 1 ? 'fault' : 'faults'}`, faults);
}

function compileColumns(
  definition: ViewFile['definition'],
  tables: Pick<Tables, 'types' | 'primitives'>,
  index: TypeIndex,
  faults: ViewFault[],
): ViewModel['columns'] {
  try {
    const view = readView(definition);
    const { columns, warnings } = compileView(view, tables, { now: new Date(0) });
    faults.push(...warnings);
    const defined = columnsOf(view.selection);
    return columns.map((column, i): ViewModel['columns'][number] => {
      const { path, description = '' } = defined[i]!;
      const { pathType } = column;
      const place = path.place.replace(/path$/, 'type');
      const isDeclared = defined[i]?.type !== undefined;
      if (!isDeclared) {
        const known = pathType === undefined ? 'say which one its values have' : `its path gives ${pathType}`;
        faults.push({ place, text: `the column ${column.name} has no type; ${known}` });
      } else if (!index.isType(column.type)) {
        faults.push({ place, text: `there is no type ${column.type}${pathType ? `; did you mean ${pathType}?` : ''}` });
      } else if (pathType !== undefined && !index.ancestors(pathType).includes(column.type)) {
        faults.push({ place, text: `is ${column.type}, and the path of the column ${column.name} gives ${pathType}` });
      }
      return { ...column, description };
    });
  } catch (error) {
    if (!(error instanceof ViewError)) throw error;
    faults.push(...error.faults);
    return [];
  }
}
