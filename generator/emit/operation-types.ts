import type { Model, OperationModel } from '../model/model.js';
import { byCodePoint, kebab } from '../model/names.js';
import type { Artefact, InterfaceDeclaration } from './artefact.js';

/** What a parameter in a query takes: `types/search-parameters.ts`. */
const VALUE = 'SearchValues';

/**
 * What each operation takes and gives, for clients: `types/operations.ts`. Operations of one name on several types are one member,
 * with the parameters of all. https://hl7.org/fhir/R5/operations.html
 */
export function emitOperationTypes(model: Model): Artefact {
  const concrete = new Set(
    model.structures.filter(({ kind, abstract }) => kind === 'resource' && abstract !== true).map(({ name }) => name),
  );
  const primitives = new Set(model.primitives.map(({ name }) => name));
  const byName = new Map<string, OperationModel[]>();
  for (const each of model.operations) byName.set(each.name, [...(byName.get(each.name) ?? []), each]);
  const names = [...byName.keys()].sort(byCodePoint);
  const results = new Map(names.map((name) => [name, resultsOf(byName.get(name) ?? [], concrete)]));
  const called = new Map(names.map((name) => [name, typesOf(byName.get(name) ?? [])]));
  const used = [...new Set([...results.values()].flat())].filter((type) => concrete.has(type)).sort(byCodePoint);
  const unions = [
    ...([...results.values()].flat().includes(ANY) ? [ANY] : []),
    ...([...called.values()].includes(ALL) ? [ALL] : []),
  ];
  return {
    kind: 'typescript',
    path: 'types/operations.ts',
    source: model.package,
    imports: [
      ...used.map((name) => ({ names: [name], from: `./${kebab(name)}.js` })),
      ...(unions.length === 0 ? [] : [{ names: unions, from: './resource-union.js' }]),
      { names: [VALUE], from: './search-parameters.js' },
    ].sort((a, b) => byCodePoint(a.from, b.from)),
    declarations: [
      ...names.map((name) => queryOf(name, byName.get(name) ?? [], primitives)),
      {
        kind: 'interface',
        name: 'Operations',
        doc: 'The operations by name: the types that they are called on, their parameters in a query, and what they give.',
        properties: names.map((name) => ({
          name: `'${name}'`,
          type: `{ type: ${called.get(name)}; query: ${interfaceName(name)}; result: ${results.get(name)?.join(' | ')} }`,
          optional: false,
          doc: byName.get(name)?.[0]?.title ?? '',
        })),
      },
    ],
  };
}

/** `validate-code` -> `ValidateCodeQuery`. */
function interfaceName(name: string): string {
  const words = name.split(/[^A-Za-z0-9]+/).map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return `${words.join('')}Query`;
}

/** Parameters that fit into a query: those of a primitive type, and of a type of search parameters. */
function queryOf(
  name: string,
  operations: readonly OperationModel[],
  primitives: ReadonlySet<string>,
): InterfaceDeclaration {
  const fitting = operations
    .flatMap(({ parameters }) => parameters)
    .filter(({ use, type, searchType }) => use === 'in' && (searchType !== undefined || primitives.has(type ?? '')));
  const one = new Map(fitting.map((each) => [each.name, each]));
  return {
    kind: 'interface',
    name: interfaceName(name),
    doc: `Parameters that $${name} takes in a query.`,
    properties: [...one.values()]
      .sort((a, b) => byCodePoint(a.name, b.name))
      .map(({ name: parameter, type = '', searchType }) => ({
        name: `'${parameter}'`,
        type: VALUE,
        optional: true,
        doc: searchType ?? type,
      })),
  };
}

function typesOf(operations: readonly OperationModel[]): string {
  if (operations.some(({ types }) => types === undefined)) return ALL;
  const types = [...new Set(operations.flatMap((operation) => operation.types ?? []))];
  return types.length === 0 ? 'never' : types.map((type) => `'${type}'`).join(' | ');
}

/** The one resource that an operation gives, or Parameters. https://hl7.org/fhir/R5/operations.html#response */
function resultsOf(operations: readonly OperationModel[], concrete: ReadonlySet<string>): string[] {
  const results = operations.map(({ parameters }) => {
    const [only, ...others] = parameters.filter(({ use }) => use === 'out');
    if (only?.type === 'Resource' && others.length === 0) return ANY;
    return only?.type !== undefined && others.length === 0 && concrete.has(only.type) ? only.type : PARAMETERS;
  });
  return [...new Set(results.map((type) => (type === PARAMETERS && !concrete.has(type) ? ANY : type)))];
}

const PARAMETERS = 'Parameters';
/** Names of `types/resource-union.ts`: a resource of any type, and all types. */
const ANY = 'AnyResource';
const ALL = 'ResourceType';
