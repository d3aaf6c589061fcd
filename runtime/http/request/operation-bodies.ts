import {
  exchangeOf,
  type ExchangeBody,
  type ExchangeTable,
  type OperationRow,
  type RouteRow,
} from '../../contract/index.js';
import { isFormatName, parseMediaType } from '../../format/negotiate.js';

/** What is known of the bodies of an operation: the rows of `definitions/exchanges.json`. */
type Exchanges = Pick<ExchangeTable, 'rows' | 'headers'>;

/** Media types of bodies that an operation reads itself, besides the formats of FHIR: they come as `Call.content`. */
export function ownContent(row: RouteRow, exchanges: Exchanges): readonly string[] {
  return row.operation === undefined ? [] : foreign(exchangeOf(exchanges, row, undefined)?.request);
}

/** Media types that an operation answers with, beside the formats of FHIR. */
export function ownAnswers(row: RouteRow, exchanges: Exchanges): readonly string[] {
  return row.operation === undefined ? [] : foreign(answersOf(row, exchanges));
}

/** Whether `_format` is a parameter of the operation, which then reads it itself: it names forms of its own. */
export function readsFormat(
  { operation }: RouteRow,
  { operations }: { readonly operations: readonly OperationRow[] },
): boolean {
  const row = operations.find(({ id }) => id === operation);
  return row?.parameters.some(({ name, use }) => name === '_format' && use === 'in') === true;
}

/** Whether an operation answers without FHIR resources, in JSON of its own if at all: XML of it there is none. */
export function hasOnlyJson(row: RouteRow, exchanges: Exchanges): boolean {
  return row.operation !== undefined && answersOf(row, exchanges).every((body) => body === 'application/json');
}

function answersOf(row: RouteRow, exchanges: Exchanges): readonly ExchangeBody[] {
  return exchangeOf(exchanges, row, undefined)?.answers.flatMap(({ body = [] }) => body) ?? [];
}

function foreign(bodies: readonly ExchangeBody[] = []): readonly string[] {
  return bodies.filter((body) => body.includes('/') && !isFormatName(parseMediaType(body).name));
}
