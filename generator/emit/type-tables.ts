import type { Model, Structure } from '../model/model.js';
import { kebab } from '../model/names.js';
import { searchTableOf, typeRowOf } from '../model/tables-of.js';
import type { Artefact, Declaration } from './artefact.js';

/** The types of one file: a resource or datatype with its backbone types. */
export function owners(model: Model): Map<string, Structure[]> {
  const files = new Map<string, Structure[]>();
  for (const structure of model.structures) {
    files.set(structure.owner, [...(files.get(structure.owner) ?? []), structure]);
  }
  return files;
}

/** One file for each resource type and datatype: its rows, and for resource types its search parameters. */
export function emitTypeTables(model: Model): Artefact[] {
  return [...owners(model)].map(([owner, structures]) => {
    const table = model.search.find((search) => search.type === owner);
    const declarations: Declaration[] = [
      {
        kind: 'constant',
        name: 'types',
        doc: `Elements of ${owner}.`,
        type: 'readonly TypeRow[]',
        value: structures.map((structure) =>
          typeRowOf(
            structure,
            model.structures.find(({ name }) => name === structure.base),
          ),
        ),
      },
    ];
    if (table !== undefined) {
      declarations.push({
        kind: 'constant',
        name: 'search',
        doc: `Search parameters of ${owner}.`,
        type: 'SearchTable',
        value: searchTableOf(table),
      });
    }
    return {
      kind: 'typescript',
      path: `tables/${kebab(owner)}.ts`,
      source: structures[0]?.url ?? '',
      imports: [{ names: table === undefined ? ['TypeRow'] : ['SearchTable', 'TypeRow'], from: 'kiln/contract' }],
      declarations,
    };
  });
}
