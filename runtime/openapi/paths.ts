import type {
  Interaction,
  OperationParameterRow,
  OperationRow,
  RouteRow,
  ScopeNeed,
  ScopeRow,
} from '../contract/index.js';
import type { JsonObject } from '../fhir/resource.js';
import { describeExchange, inputsOf, levelOf } from './exchange.js';
import type { SearchKind } from '../search/control-parameters.js';
import { parameterName, queryParameter, type ControlGroup } from './controls.js';
import type { PathContext } from './path-context.js';
import { primitiveSchema } from './schemas.js';

/** The part of an operation that its definition tells, or the interaction. */
interface Described {
  readonly summary: string;
  readonly description?: string;
  readonly parameters: JsonObject[];
  readonly requestBody?: JsonObject;
}

/** What each interaction does, in short. */
const SUMMARIES: Readonly<Record<Exclude<Interaction, 'operation'>, string>> = {
  read: 'Read the current version',
  vread: 'Read a version',
  update: 'Update, or create with this id',
  patch: 'Change parts',
  delete: 'Delete',
  'delete-history': 'Delete the history',
  'delete-history-version': 'Delete a version',
  'history-instance': 'History of a resource',
  'history-type': 'History of a type',
  'history-system': 'History of all resources',
  create: 'Create',
  'search-type': 'Search',
  'search-system': 'Search over types',
  'search-compartment': 'Search in a compartment',
  'conditional-update': 'Update what criteria find, or create',
  'conditional-patch': 'Change parts of what criteria find',
  'conditional-delete': 'Delete what criteria find',
  capabilities: 'What the server supports',
  bundle: 'Execute a batch or a transaction',
};

const FORM_TYPE = 'application/x-www-form-urlencoded';

/** Path and operation of a route in a document. @param type in place of `[type]`; undefined: of the system */
export function pathOf(row: RouteRow, type: string | undefined): string {
  return `/${row.path
    .replace('[type]', type ?? '[type]')
    .replace('[id]', '{id}')
    .replace('[vid]', '{vid}')}`;
}

/** One operation of a document. https://spec.openapis.org/oas/v3.1.0#operation-object */
export function operationOf(row: RouteRow, type: string | undefined, context: PathContext): JsonObject {
  const operation =
    row.operation === undefined ? undefined : context.tables.operations.find(({ id }) => id === row.operation);
  const described = operation === undefined ? interactionOf(row, type, context) : callOf(row, operation, context);
  const { parameters, ...bodies } = describeExchange(row, type, operation, context);
  return {
    ...bodies,
    ...described,
    operationId: idOf(row, type),
    tags: [type ?? 'system'],
    parameters: distinct(
      [...placesIn(row), ...parameters, ...described.parameters, ...controls('form', context)],
      context,
    ),
    ...(context.isGuarded && securityOf(row, type, context)),
  };
}

/**
 * Without what an operation reads itself (`_format`), and without `_language` where there is `language`: generators of clients make one
 * name of both.
 */
function distinct(all: JsonObject[], { form }: PathContext): JsonObject[] {
  const given = all.map(parameterName);
  const parameters = all.filter((_, at) => given[at]?.startsWith('_') !== true || given.indexOf(given[at]) === at);
  if (form === 'full') return parameters;
  const names = parameters.map(parameterName);
  return parameters.filter((_, at) => names[at]?.startsWith('_') !== true || !names.includes(names[at].slice(1)));
}

function idOf({ interaction, operation, method, path }: RouteRow, type: string | undefined): string {
  const name = operation ?? interaction;
  const member = interaction === 'search-compartment' ? path.split('/')[2]?.replace('*', 'all') : undefined;
  const level = operation === undefined ? undefined : levelOf(path);
  const isOther = path.endsWith('_search') || (operation !== undefined && method !== 'GET');
  return [type ?? 'system', name, level, member, isOther ? method.toLowerCase() : undefined]
    .filter((each) => each !== undefined)
    .join('.');
}

function placesIn({ path }: RouteRow): JsonObject[] {
  const place = (name: string): JsonObject => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string', pattern: '^[A-Za-z0-9.-]{1,64}$' },
  });
  return [...(path.includes('[id]') ? [place('id')] : []), ...(path.includes('[vid]') ? [place('vid')] : [])];
}

/** What the query of an interaction may have. */
function interactionOf(row: RouteRow, type: string | undefined, context: PathContext): Described {
  const { interaction, path } = row;
  const summary = SUMMARIES[interaction as keyof typeof SUMMARIES];
  const search = (): JsonObject[] => context.searchParameters(type);
  switch (interaction) {
    case 'read':
    case 'vread':
      return { summary, parameters: controls('view', context) };
    case 'capabilities':
      return { summary, parameters: [...controls('capabilities', context), ...controls('view', context)] };
    case 'conditional-update':
    case 'conditional-patch':
    case 'conditional-delete':
      return { summary, parameters: search() };
    case 'search-type':
    case 'search-system':
    case 'search-compartment': {
      // A list of them for each compartment would make the documents many times as large.
      const criteria = interaction === 'search-compartment' ? [anyCriteria(path)] : search();
      const parameters = [...criteria, ...controls(kindOf(row), context)];
      if (row.method === 'GET') return { summary, parameters };
      const requestBody = { content: { [FORM_TYPE]: { schema: { type: 'object', additionalProperties: true } } } };
      return { summary: `${summary}, parameters in the body`, parameters: [], requestBody };
    }
    case 'history-instance':
    case 'history-type':
    case 'history-system':
      return { summary, parameters: controls('history', context) };
    default:
      return { summary, parameters: [] };
  }
}

/** The search parameters of the type that is searched in a compartment. */
function anyCriteria(path: string): JsonObject {
  const member = path.split('/')[2] ?? '';
  return {
    name: 'criteria',
    in: 'query',
    description: `Search parameters of ${isOfAll(path) ? 'all types' : member}, by name.`,
    style: 'form',
    explode: true,
    schema: { type: 'object', additionalProperties: { type: 'string' } },
  };
}

function kindOf({ interaction, path }: RouteRow): SearchKind {
  if (interaction === 'search-compartment') return isOfAll(path) ? 'system' : 'compartment';
  return interaction === 'search-type' ? 'type' : 'system';
}

/** Whether a path of a compartment names no type that is searched in it. */
function isOfAll(path: string): boolean {
  const member = path.split('/')[2];
  return member === '*' || member === '_search';
}

function controls(group: ControlGroup, { controls: components, refTo }: PathContext): JsonObject[] {
  return components[group].map((name) => ({ $ref: refTo('parameters', name) }));
}

/** What the query of a `$operation` may have, and what its parameters are for. https://hl7.org/fhir/R5/operations.html */
function callOf(row: RouteRow, operation: OperationRow, context: PathContext): Described {
  const inputs = inputsOf(operation, levelOf(row.path));
  const summary = operation.title;
  if (row.method !== 'POST') return { summary, parameters: inputs.flatMap((each) => inQuery(each, context)) };
  const listed = inputs.map(
    ({ name, type, documentation }) => `- \`${name}\`${type === undefined ? '' : ` (${type})`}: ${documentation ?? ''}`,
  );
  return { summary, parameters: [], ...(listed.length > 0 && { description: listed.join('\n') }) };
}

function inQuery(
  { name, type = '', searchType, min, max, documentation = '' }: OperationParameterRow,
  { tables, form }: PathContext,
): JsonObject[] {
  const primitive = tables.primitives.find((each) => each.name === type);
  if (primitive === undefined && searchType === undefined) return [];
  const one =
    primitive === undefined || searchType !== undefined ? { type: 'string' } : primitiveSchema(primitive, form);
  const schema: JsonObject = max === 1 ? one : { type: 'array', items: one };
  return [queryParameter(name, documentation, schema, min > 0)];
}

/** What a token needs. https://hl7.org/fhir/smart-app-launch/scopes-and-launch-context.html */
function securityOf(row: RouteRow, type: string | undefined, { tables }: PathContext): JsonObject {
  const level = row.operation === undefined ? undefined : levelOf(row.path);
  const scopeRow = tables.scopes.rows.find(
    ({ interaction, operation, levels }) =>
      interaction === row.interaction &&
      operation === row.operation &&
      (levels === undefined || level === undefined || levels.includes(level)),
  );
  if (scopeRow === undefined) return {};
  if (scopeRow.open === true) return { security: [] };
  const member = row.interaction === 'search-compartment' ? row.path.split('/')[2] : undefined;
  const searched = member === undefined || member === '*' || member === '_search' ? type : member;
  return { security: alternatives(scopeRow, searched, type).map((scopes) => ({ smart: [...new Set(scopes)] })) };
}

/** Sets of scopes, each of which is enough, as far as the URL alone tells. */
function alternatives(row: ScopeRow, searched: string | undefined, type: string | undefined): string[][] {
  const own = row.admin === undefined ? [] : [row.admin];
  return row.needs
    .filter(({ when, letters, anyOf }) => when === undefined && (letters ?? anyOf) !== undefined)
    .reduce<string[][]>(
      (made, need) =>
        made.flatMap((each) =>
          lettersOf(need).map((letters) => [...each, `system/${onType(need, searched, type)}.${letters}`]),
        ),
      [own],
    );
}

function lettersOf({ letters, anyOf = [] }: ScopeNeed): readonly string[] {
  return letters === undefined ? anyOf : [letters];
}

function onType({ on }: ScopeNeed, searched: string | undefined, type: string | undefined): string {
  if (on === 'type') return searched ?? '*';
  if (on === 'compartment') return type ?? '*';
  return on === 'each' || on === 'any' || on === 'filter' ? '*' : on;
}
