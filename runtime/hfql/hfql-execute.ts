import { scopeMissing } from '../auth/access/refuse.js';
import { OPEN_ACCESS } from '../auth/scopes/principal.js';
import { neededFor } from '../search-execution/authorize/authorize.js';
import type { Call, Reply } from '../core/call.js';
import type { Services } from '../core/services.js';
import { introspectColumns, introspectTables, type StaticResult } from './introspect.js';
import { parseStatement, type RawStatement } from './parse-statement.js';
import { errorCsv, runStatement, staticCsv, type Wanted } from './run.js';
import { StatementError, statementOfJson } from './statement.js';
import { readArguments, valueOf, type Arguments } from '../operations/common/arguments.js';
import { invalidParameter } from '../fhir/catalog/invalid-parameter.js';

/** What the answer is. */
const HFQL_ANSWER_TYPE = 'text/csv';

/** Rows of one answer: where the client does not say, where it says 0, and at most. */
const FETCH = { initial: 1000, zero: 10_000, most: 10_000 };

/**
 * `[base]/$hfql-execute`: runs a statement over the resources of one type, or lists tables and columns, as CSV. What is wrong with a
 * statement is a row of the answer; what is wrong with the request is an OperationOutcome. definitions/operations/hfql-execute.json
 *
 * @throws FhirError `parameter-invalid`, `scope-missing`, `too-costly`
 */
export async function hfqlExecute(call: Call, services: Services): Promise<Reply> {
  const found = readArguments(call, services);
  const action = String(valueOf(found, 'action'));
  if (action === 'introspectTables' || action === 'introspectColumns') {
    return csvReply(staticCsv(introspect(action, found, call, services)));
  }
  if (action !== 'search' && action !== 'searchContinuation') {
    const text = 'is search, searchContinuation, introspectTables or introspectColumns';
    throw invalidParameter('action', `${text}, not ${JSON.stringify(action.slice(0, 64))}`);
  }
  const read = action === 'search' ? readSearch(found, services) : readContinuation(found, services);
  try {
    const raw = read.statement();
    checkScope(raw, call, services);
    const reads = services.audit.notes?.();
    const reply = csvReply(await runStatement(raw, read.wanted, call, services, reads));
    return reads === undefined ? reply : { ...reply, reads };
  } catch (error) {
    if (error instanceof StatementError) return csvReply(errorCsv(error));
    throw error;
  }
}

interface Read {
  /** @throws StatementError */
  readonly statement: () => RawStatement;
  readonly wanted: Wanted;
}

function readSearch(found: Arguments, { tables }: Services): Read {
  const query = required(found, 'query');
  return {
    statement: () => parseStatement(query, tables.resourceTypes),
    wanted: { limit: limitOf(found), fetchSize: fetchSizeOf(found) },
  };
}

function readContinuation(found: Arguments, { tables }: Services): Read {
  const statement = required(found, 'statement');
  const searchId = required(found, 'continuation');
  const offset = valueOf(found, 'offset');
  if (offset === undefined) throw invalidParameter('offset', 'is required for searchContinuation');
  if (Number(offset) < 0) throw invalidParameter('offset', `is a number from 0, not ${Number(offset)}`);
  return {
    statement: () => statementOfJson(statement, tables.resourceTypes),
    wanted: {
      limit: limitOf(found),
      fetchSize: fetchSizeOf(found),
      from: { searchId: searchId.slice(0, 64), offset: Number(offset) },
    },
  };
}

function required(found: Arguments, name: string): string {
  const value = valueOf(found, name);
  if (value === undefined) throw invalidParameter(name, `is required for ${String(valueOf(found, 'action'))}`);
  return String(value);
}

/** A negative limit is none: answers say so, and clients send it back. */
function limitOf(found: Arguments): number | undefined {
  const value = valueOf(found, 'limit');
  return value === undefined || Number(value) < 0 ? undefined : Number(value);
}

function fetchSizeOf(found: Arguments): number {
  const value = Number(valueOf(found, 'fetchSize') ?? FETCH.initial);
  if (value < 0 || value > FETCH.most)
    throw invalidParameter('fetchSize', `is a number from 0 to ${FETCH.most}, not ${value}`);
  return value === 0 ? FETCH.zero : value;
}

function checkScope({ fromResourceName }: RawStatement, call: Call, { scopeRows }: Services): void {
  const { access } = call.principal;
  if (access === OPEN_ACCESS) return;
  const needed = neededFor(call, { 'hfql-statement': [fromResourceName] }, access, scopeRows);
  if (needed !== undefined) throw scopeMissing(needed, access);
}

/** Tables, or their columns, of the types that the token covers in any way. */
function introspect(action: string, found: Arguments, call: Call, services: Services): StaticResult {
  const { tables, scopeRows } = services;
  const { access } = call.principal;
  if (access !== OPEN_ACCESS) {
    const needed = neededFor(call, { 'hfql-introspection': tables.resourceTypes }, access, scopeRows);
    if (needed !== undefined) throw scopeMissing(needed, access);
  }
  const types = tables.resourceTypes.filter((type) => access.onAny(type, ['c', 'r', 'u', 'd', 's']) !== 'nothing');
  const [table, column] = ['introspectTableName', 'introspectColumnName'].map((name) => valueOf(found, name));
  const filter = {
    ...(table !== undefined && { table: String(table) }),
    ...(column !== undefined && { column: String(column) }),
  };
  return action === 'introspectTables' ? introspectTables(types, filter) : introspectColumns(types, filter, tables);
}

function csvReply(content: AsyncIterable<string>): Reply {
  return { status: 200, body: { contentType: `${HFQL_ANSWER_TYPE}; charset=UTF-8`, content } };
}
