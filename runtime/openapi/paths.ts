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
import type { PathContext } from './path-context.js';
import { primitiveSchema } from './schemas.js';

/** Parameters about the form of a search result, by name, with what they do. https://hl7.org/fhir/R5/search.html#modifyingresults */
export const RESULT_PARAMETERS: Readonly<Record<string, string>> = {
  _count: 'Matches of a page.',
  _sort: 'Parameters to sort by, separated by commas; a minus sorts descending.',
  _include: 'References to follow: type:parameter, and perhaps :type.',
  _revinclude: 'References to follow backwards: type:parameter.',
  _total: 'none, estimate or accurate.',
  _summary: 'true, text, data, count or false.',
  _elements: 'Names of elements of the first level, separated by commas.',
};

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
    parameters: [...placesIn(row), ...parameters, ...described.parameters],
    ...(context.isGuarded && securityOf(row, type, context)),
  };
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
    case 'capabilities':
      return { summary, parameters: viewParameters(context) };
    case 'conditional-update':
    case 'conditional-patch':
    case 'conditional-delete':
      return { summary, parameters: search() };
    case 'search-type':
    case 'search-system':
    case 'search-compartment': {
      // A list of them for each compartment would make the documents many times as large.
      const criteria = interaction === 'search-compartment' ? [anyCriteria(path)] : search();
      const parameters = [...criteria, ...resultParameters(context)];
      if (row.method === 'GET') return { summary, parameters };
      const requestBody = { content: { [FORM_TYPE]: { schema: { type: 'object', additionalProperties: true } } } };
      return { summary: `${summary}, parameters in the body`, parameters: [], requestBody };
    }
    case 'history-instance':
    case 'history-type':
    case 'history-system':
      return { summary, parameters: HISTORY };
    default:
      return { summary, parameters: [] };
  }
}

const HISTORY: JsonObject[] = [
  queryParameter('_since', 'Versions from this instant on.', { type: 'string', format: 'date-time' }),
  queryParameter('_at', 'Versions that were current at some time in this period.', { type: 'string' }),
  queryParameter('_count', 'Versions of a page.', { type: 'integer', minimum: 0 }),
];

/** A parameter of the query. */
export function queryParameter(name: string, description: string, schema: JsonObject, isRequired = false): JsonObject {
  return { name, in: 'query', description, ...(isRequired && { required: true }), schema };
}

/** The search parameters of the type that is searched in a compartment. */
function anyCriteria(path: string): JsonObject {
  const member = path.split('/')[2] ?? '';
  const [of, schema] = [member === '*' || member === '_search' ? 'all types' : member, { type: 'string' }];
  return {
    name: 'criteria',
    in: 'query',
    description: `Search parameters of ${of}, by name.`,
    style: 'form',
    explode: true,
    schema: { type: 'object', additionalProperties: schema },
  };
}

function viewParameters({ refTo }: PathContext): JsonObject[] {
  return ['_summary', '_elements'].map((name) => ({ $ref: refTo('parameters', name) }));
}

function resultParameters({ refTo }: PathContext): JsonObject[] {
  return Object.keys(RESULT_PARAMETERS).map((name) => ({ $ref: refTo('parameters', name) }));
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
  { tables }: PathContext,
): JsonObject[] {
  const primitive = tables.primitives.find((each) => each.name === type);
  if (primitive === undefined && searchType === undefined) return [];
  const one = primitive === undefined || searchType !== undefined ? { type: 'string' } : primitiveSchema(primitive);
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
