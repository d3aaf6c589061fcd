import { CONTRACT_VERSION, type ScopeTable } from '../../runtime/contract/index.js';
import type { Model } from '../model/model.js';
import { kebab } from '../model/names.js';
import type { Artefact, ImportLine } from './artefact.js';
import { Code } from './artefact.js';
import { owners } from './type-tables.js';

/** Tables shared by all types, one file each: file, constant, row type, contents, doc. */
function shared(model: Model): readonly (readonly [string, string, string, unknown, string])[] {
  return [
    [
      'capabilities',
      'capabilities',
      'CapabilityRow',
      model.capabilities,
      'What each type claims in the CapabilityStatement.',
    ],
    ['codes', 'codes', 'CodeTable', model.codes, 'Codes of value sets with a required binding.'],
    ['compartments', 'compartments', 'CompartmentRow', model.compartments, 'Compartments and what is in them.'],
    [
      'exchanges',
      'exchanges',
      'ExchangeTable',
      model.exchanges,
      'The table of what requests carry and how they are answered, by interaction and operation.',
    ],
    ['invariants', 'invariants', 'InvariantRow', model.invariants, 'Rules in FHIRPath.'],
    [
      'operations',
      'operations',
      'OperationRow',
      operationRows(model),
      'Operations of the specification and of this server.',
    ],
    ['primitives', 'primitives', 'PrimitiveRow', primitiveRows(model), 'Primitive types.'],
    ['scopes', 'scopes', 'ScopeTable', scopeTable(model), 'What each interaction and operation requires of a token.'],
  ];
}

/** The shared tables, and `tables.ts`, which collects all tables for the composition root. */
export function emitTables(model: Model): Artefact[] {
  const files = shared(model).map(([file, name, type, value, doc]): Artefact => ({
    kind: 'typescript',
    path: `tables/${file}.table.ts`,
    source: model.package,
    imports: [{ names: [type], from: 'kiln/contract' }],
    declarations: [{ kind: 'constant', name, doc, type: Array.isArray(value) ? `readonly ${type}[]` : type, value }],
  }));
  return [...files, emitIndex(model)];
}

function operationRows(model: Model): unknown[] {
  return model.operations.map(({ description: _description, own: _own, ...row }) => row);
}

/** The scope rows without their notes, and without rows of operations that are not in the package. */
function scopeTable(model: Model): ScopeTable {
  const ids = new Set(model.operations.map(({ id }) => id));
  const { rows, custom, withheld, ownChains } = model.scopes;
  const bare = <T extends object>(list: readonly T[]): T[] => list.map((row) => ({ ...row, note: undefined }));
  return {
    rows: bare(rows.filter(({ operation }) => operation === undefined || ids.has(operation))),
    custom: bare(custom),
    withheld: bare(withheld),
    ownChains: bare(ownChains),
  };
}

function primitiveRows(model: Model): unknown[] {
  return model.primitives.map(({ url: _url, definition: _definition, ...row }) => row);
}

function emitIndex(model: Model): Artefact {
  const stems = [...owners(model).keys()];
  const searched = new Set(model.search.map((table) => table.type));
  const imports: ImportLine[] = stems.map((owner) => ({
    names: [`types as ${alias(owner)}Types`, ...(searched.has(owner) ? [`search as ${alias(owner)}Search`] : [])],
    from: `./tables/${kebab(owner)}.js`,
    values: true,
  }));
  const tables = [...shared(model).map(([file, name]) => [file, name] as const), ['routes', 'routes'] as const];
  const concrete = model.structures.filter((structure) => structure.kind === 'resource' && structure.abstract !== true);
  return {
    kind: 'typescript',
    path: 'tables.ts',
    source: model.package,
    imports: [
      { names: ['Tables'], from: 'kiln/contract' },
      ...imports,
      ...tables.map(([file, name]) => ({ names: [name], from: `./tables/${file}.table.js`, values: true as const })),
    ],
    declarations: [
      {
        kind: 'constant',
        name: 'tables',
        doc: 'All generated tables.',
        type: 'Tables',
        value: {
          origin: { contract: CONTRACT_VERSION, package: model.package, fhirVersion: model.fhirVersion },
          resourceTypes: concrete.map((structure) => structure.name),
          types: stems.map((owner) => new Code(`...${alias(owner)}Types`)),
          search: stems.filter((owner) => searched.has(owner)).map((owner) => new Code(`${alias(owner)}Search`)),
          ...Object.fromEntries(tables.map(([, name]) => [name, new Code(name)])),
          ...(model.guides.length > 0 && {
            guides: model.guides.map(({ sha256: _sha256, file: _file, ...row }) => row),
          }),
        },
      },
    ],
  };
}

/** Import names start in lower case: `humanName`. */
function alias(type: string): string {
  return type.charAt(0).toLowerCase() + type.slice(1);
}
