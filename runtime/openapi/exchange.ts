import {
  exchangeOf,
  type ExchangeAnswer,
  type ExchangeBody,
  type Level,
  type OperationParameterRow,
  type OperationRow,
  type RouteRow,
} from '../contract/index.js';
import type { JsonObject } from '../fhir/resource.js';
import type { PathContext } from './path-context.js';

/** The part of an operation object that the rows of `tables.exchanges` tell. */
export interface DescribedExchange {
  /** The headers of the request. */
  readonly parameters: JsonObject[];
  readonly requestBody?: JsonObject;
  readonly responses: JsonObject;
}

/** The level of an operation's path. */
export function levelOf(path: string): Level {
  if (path.includes('[vid]')) return 'version';
  if (path.includes('[id]')) return 'instance';
  return path.startsWith('$') ? 'system' : 'type';
}

/** The parameters that an operation takes at a level. */
export function inputsOf({ parameters }: OperationRow, level: Level): readonly OperationParameterRow[] {
  return parameters.filter(({ use, scope }) => use === 'in' && (scope === undefined || scope.includes(level)));
}

/** Headers, bodies and statuses of a route. https://spec.openapis.org/oas/v3.1.0#operation-object */
export function describeExchange(
  row: RouteRow,
  type: string | undefined,
  operation: OperationRow | undefined,
  context: PathContext,
): DescribedExchange {
  const { exchanges } = context.tables;
  const { headers = [], request, answers = [] } = exchangeOf(exchanges, row, type) ?? {};
  const seat: Seat = { resource: type ?? ANY, level: levelOf(row.path), operation, context };
  const parameters = headers.map((each): JsonObject => {
    const name = each.replace('!', '');
    const text = exchanges.headers[name] ?? '';
    return { name, in: 'header', description: text, ...(each.endsWith('!') && { required: true }), schema: TEXT };
  });
  const hasBody = request !== undefined && row.method !== 'GET' && row.method !== 'DELETE';
  // An operation without parameters needs no body.
  const isRequired = operation === undefined || inputsOf(operation, seat.level).some(({ min }) => min > 0);
  const error = { $ref: context.refTo('responses', 'Error') };
  return {
    parameters,
    ...(hasBody && { requestBody: { ...(isRequired && { required: true }), content: contentOf(request, seat) } }),
    responses: {
      ...Object.fromEntries(answers.map((answer) => [String(answer.status), describeAnswer(answer, seat)])),
      ...{ '4XX': error, '5XX': error },
    },
  };
}

const ANY = 'AnyResource';
const TEXT: JsonObject = { type: 'string' };

/** A route, and what bodies of it are. */
interface Seat {
  readonly resource: string;
  readonly level: Level;
  readonly operation: OperationRow | undefined;
  readonly context: PathContext;
}

function describeAnswer({ text, body, isOptional, headers }: ExchangeAnswer, seat: Seat): JsonObject {
  const about = seat.context.tables.exchanges.headers;
  const outputs = seat.operation?.parameters.filter(({ use }) => use === 'out') ?? [];
  const result =
    body?.includes('result') === true && outputs.length > 0 ? outputs.map(({ name }) => name).join(', ') : text;
  return {
    description: isOptional === true ? `${result}; without a body for Prefer: return=minimal` : result,
    ...(headers !== undefined && {
      headers: Object.fromEntries(headers.map((name) => [name, { description: about[name] ?? '', schema: TEXT }])),
    }),
    ...(body !== undefined && { content: contentOf(body, seat) }),
  };
}

/** The media types of bodies with their schemas. Resources of several types have one media type: that of FHIR. */
function contentOf(bodies: readonly ExchangeBody[], seat: Seat): JsonObject {
  const { context } = seat;
  const isPlain = context.form === 'plain';
  const resources = [...new Set(bodies.flatMap((each) => resourcesOf(each, seat)))];
  const types = isPlain ? resources.slice(0, 1) : resources;
  const others = bodies.filter((each) => each.includes('/'));
  const plain = isPlain && types.length > 0 ? [] : others;
  const allPatches = bodies.includes('patch') ? context.patchTypes : [];
  const patches = isPlain ? allPatches.slice(0, 1) : allPatches;
  const formats = isPlain ? context.formats.slice(0, 1) : context.formats;
  const [first, ...more] = types.map((name): JsonObject => ({ $ref: context.refTo('schemas', name) }));
  const schema = more.length === 0 || first === undefined ? first : { anyOf: [first, ...more] };
  return {
    ...(schema !== undefined &&
      Object.fromEntries(formats.map((name) => [name, { schema: name.endsWith('json') ? schema : TEXT }]))),
    ...Object.fromEntries(patches.map((name) => [name, { schema: {} }])),
    ...Object.fromEntries(plain.map((name) => [name, { schema: plainSchema(name) }])),
  };
}

function plainSchema(mediaType: string): JsonObject {
  if (mediaType === '*/*') return { type: 'string', format: 'binary' };
  return mediaType.endsWith('json') ? { type: 'object', additionalProperties: true } : TEXT;
}

/** The schemas of the resources that a body can be. */
function resourcesOf(body: ExchangeBody, seat: Seat): string[] {
  if (body === 'patch' || body.includes('/')) return [];
  if (body === 'resource') return [seat.resource];
  if (body === 'result') return [resultOf(seat)];
  return body === 'parameters' ? ['Parameters', ...bareInput(seat)] : [body];
}

/** The resource that may be sent without Parameters around it: the only one that the operation takes. */
function bareInput({ operation, level, context }: Seat): string[] {
  const inputs = operation === undefined ? [] : inputsOf(operation, level);
  const [only, ...others] = inputs.filter(({ type }) => isResource(type, context));
  return only?.type !== undefined && others.length === 0 ? [schemaName(only.type)] : [];
}

function resultOf({ operation, context }: Seat): string {
  const [only, ...others] = operation?.parameters.filter(({ use }) => use === 'out') ?? [];
  return only?.type !== undefined && others.length === 0 && isResource(only.type, context)
    ? schemaName(only.type)
    : 'Parameters';
}

function isResource(type: string | undefined, { tables }: PathContext): boolean {
  return type !== undefined && (type === 'Resource' || tables.resourceTypes.includes(type));
}

function schemaName(type: string): string {
  return type === 'Resource' ? ANY : type;
}
