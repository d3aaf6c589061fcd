import type { TypeRow } from '../../runtime/contract/index.js';
import type { Model, Structure } from '../model/model.js';
import { kebab } from '../model/names.js';
import { rowOf } from '../model/structures.js';
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
        value: structures.map((structure) => typeRow(structure, model)),
      },
    ];
    if (table !== undefined) {
      declarations.push({
        kind: 'constant',
        name: 'search',
        doc: `Search parameters of ${owner}.`,
        type: 'SearchTable',
        value: {
          type: table.type,
          ...(table.base === undefined ? {} : { base: table.base }),
          parameters: table.parameters.map(({ id: _id, description: _description, ...row }) => row),
          ...(table.aliases === undefined ? {} : { aliases: table.aliases.map(({ name, code }) => ({ name, code })) }),
        },
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

/** The row of a type: only what it adds to its base. */
function typeRow(structure: Structure, model: Model): TypeRow {
  const base = model.structures.find((candidate) => candidate.name === structure.base);
  const rules = structure.rules.filter((id) => base?.rules.includes(id) !== true);
  return {
    name: structure.name,
    kind: structure.kind,
    ...(structure.abstract === undefined ? {} : { abstract: structure.abstract }),
    ...(structure.base === undefined ? {} : { base: structure.base }),
    elements: structure.elements.slice(structure.inherited).map(rowOf),
    ...(rules.length === 0 ? {} : { rules }),
  };
}
