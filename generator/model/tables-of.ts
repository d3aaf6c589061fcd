import type { SearchTable, Tables, TypeRow } from '../../runtime/contract/index.js';
import type { Model, SearchTableModel, Structure } from './model.js';
import { rowOf } from './structures.js';

/** Tables that definitions are checked and compiled by. */
export type CheckTables = Pick<Tables, 'types' | 'resourceTypes' | 'primitives' | 'invariants' | 'codes' | 'search'>;

/** Returns the tables of a model that definitions of guides are checked and compiled by. */
export function tablesOf(model: Model): CheckTables {
  const { structures, primitives, invariants, codes } = model;
  const byName = new Map(structures.map((structure) => [structure.name, structure]));
  return {
    types: structures.map((structure) => typeRowOf(structure, byName.get(structure.base ?? ''))),
    resourceTypes: structures.filter(({ kind, abstract }) => kind === 'resource' && abstract !== true).map(({ name }) => name), // prettier-ignore
    ...{ primitives, invariants, codes },
    search: model.search.map(searchTableOf),
  };
}

/** The row of a type: only what it adds to its base. */
export function typeRowOf(structure: Structure, base: Structure | undefined): TypeRow {
  const rules = structure.rules.filter((id) => base?.rules.includes(id) !== true);
  return {
    name: structure.name,
    kind: structure.kind,
    ...(structure.abstract === undefined ? {} : { abstract: structure.abstract }),
    ...(structure.additional === undefined ? {} : { additional: structure.additional }),
    ...(structure.base === undefined ? {} : { base: structure.base }),
    elements: structure.elements.slice(structure.inherited).map(rowOf),
    ...(rules.length === 0 ? {} : { rules }),
  };
}

/** The search parameters of a type without their texts. */
export function searchTableOf(table: SearchTableModel): SearchTable {
  return {
    type: table.type,
    ...(table.base === undefined ? {} : { base: table.base }),
    parameters: table.parameters.map(({ id: _id, description: _description, ...row }) => row),
    ...(table.aliases === undefined ? {} : { aliases: table.aliases.map(({ name, code }) => ({ name, code })) }),
  };
}
