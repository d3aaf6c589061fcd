import type { Interaction, Level, Method, RouteRow } from '../../runtime/contract/index.js';
import type { Model, OperationModel } from '../model/model.js';
import type { Artefact } from './artefact.js';

/** The interactions of https://hl7.org/fhir/R5/http.html: method, path below the type (or the base), name. */
const OF_TYPE: readonly (readonly [Method, string, Interaction])[] = [
  ['GET', '', 'search-type'],
  ['POST', '', 'create'],
  ['PUT', '', 'conditional-update'],
  ['PATCH', '', 'conditional-patch'],
  ['DELETE', '', 'conditional-delete'],
  ['POST', '/_search', 'search-type'],
  ['GET', '/_history', 'history-type'],
  ['GET', '/[id]', 'read'],
  ['PUT', '/[id]', 'update'],
  ['PATCH', '/[id]', 'patch'],
  ['DELETE', '/[id]', 'delete'],
  ['GET', '/[id]/_history', 'history-instance'],
  ['DELETE', '/[id]/_history', 'delete-history'],
  ['GET', '/[id]/_history/[vid]', 'vread'],
  ['DELETE', '/[id]/_history/[vid]', 'delete-history-version'],
];

const OF_SYSTEM: readonly (readonly [Method, string, Interaction])[] = [
  ['GET', 'metadata', 'capabilities'],
  ['POST', '', 'bundle'],
  ['GET', '', 'search-system'],
  ['POST', '_search', 'search-system'],
  ['DELETE', '', 'conditional-delete'],
  ['GET', '_history', 'history-system'],
];

/** Every method on every path, so that the dispatcher needs one lookup. */
export function emitRoutes(model: Model): Artefact {
  return {
    kind: 'typescript',
    path: 'tables/routes.table.ts',
    source: model.package,
    imports: [{ names: ['RouteRow'], from: 'kiln/contract' }],
    declarations: [
      {
        kind: 'constant',
        name: 'routes',
        doc: 'Every method on every path.',
        type: 'readonly RouteRow[]',
        value: routesOf(model),
      },
    ],
  };
}

/** The routes of a model: those of the system, those of every type, then those of some types. */
export function routesOf(model: Model): RouteRow[] {
  const types = model.structures
    .filter((structure) => structure.kind === 'resource' && structure.abstract !== true)
    .map((structure) => structure.name);
  return [
    ...OF_SYSTEM.map(([method, path, interaction]) => ({ method, path, interaction })),
    ...model.operations.flatMap((operation) => operationRoutes(operation, undefined)),
    ...OF_TYPE.map(([method, path, interaction]) => ({ method, path: `[type]${path}`, interaction })),
    ...model.operations
      .filter((operation) => operation.types === undefined)
      .flatMap((operation) => operationRoutes(operation, '[type]')),
    ...types.flatMap((type) => [
      ...compartmentRoutes(type, model),
      ...model.operations
        .filter((operation) => operation.types?.includes(type) === true)
        .flatMap((operation) => operationRoutes(operation, type)),
    ]),
  ];
}

/** `GET Patient/[id]/Observation`: each type that the compartment has members of, and `*` for all of them (which a search that is posted may leave out). */
function compartmentRoutes(type: string, model: Model): RouteRow[] {
  const compartment = model.compartments.find((row) => row.type === type);
  if (compartment === undefined) return [];
  const whole: RouteRow = { method: 'POST', path: `${type}/[id]/_search`, interaction: 'search-compartment' };
  const members = ['*', ...Object.keys(compartment.members)].flatMap((member): RouteRow[] => [
    { method: 'GET', path: `${type}/[id]/${member}`, interaction: 'search-compartment' },
    { method: 'POST', path: `${type}/[id]/${member}/_search`, interaction: 'search-compartment' },
  ]);
  return [whole, ...members];
}

const PLACE: Readonly<Record<Level, string>> = {
  system: '',
  type: '/',
  instance: '/[id]/',
  version: '/[id]/_history/[vid]/',
};

function operationRoutes(operation: OperationModel, type: string | undefined): RouteRow[] {
  return operation.levels
    .filter((level) => (level === 'system') === (type === undefined))
    .flatMap((level) =>
      operation.methods.map((method) => ({
        method,
        path: `${type ?? ''}${PLACE[level]}$${operation.name}`,
        interaction: 'operation' as const,
        operation: operation.id,
      })),
    );
}
