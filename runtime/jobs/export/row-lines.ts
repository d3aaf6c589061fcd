import { parseExact, parseStored } from '../../core/parse-stored.js';
import { openBinaries } from '../../core/binary/with-data.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import type { JsonObject, JsonValue, Resource } from '../../fhir/resource.js';
import { writeJson } from '../../format/write-json.js';
import { compileView, type CompiledView, type ViewRow } from '../../views/compile-view.js';
import { lineOf } from '../../views/formats.js';
import { readView } from '../../views/read-view.js';
import { RowError } from '../../views/view-error.js';
import type { ExportView } from './export-input.js';

/**
 * Makes lines of the text of a resource: one for each row, with its id. Most are there at once.
 *
 * @throws FhirError `view-invalid`
 */
export type RowLines = (json: string) => readonly string[] | Promise<readonly string[]>;

/** Compiles the view of a part, at the instant of the export. */
export function compileFor(
  { definition, format, isBelow }: ExportView,
  instant: number,
  { tables, own }: Pick<Services, 'tables' | 'own'>,
): CompiledView {
  const form = format === 'parquet' && isBelow !== true ? { form: format } : {};
  return compileView(readView(definition), tables, { now: new Date(instant), bases: own, ...form });
}

/** Returns what makes the lines of a view. */
export function createRowLines(view: ExportView, instant: number, services: Services): RowLines {
  const compiled = compileFor(view, instant, services);
  const withData = compiled.resource === 'Binary' ? openBinaries(services.store.blobs) : undefined;
  const { format } = view;
  const { columns } = compiled;
  const write = (head: string, row: ViewRow): string => {
    if (format === 'parquet') return `${head},"row":${textOf(row)}}`;
    const line = lineOf(row, columns, format);
    return line.includes('\n') ? `${head},"line":${JSON.stringify(line)}}` : `${head}}${BEHIND_ID}${line}`;
  };
  const linesOf = (resource: Resource): readonly string[] => {
    const head = `{"id":${JSON.stringify(resource['id'])}`;
    return asFailure(() => compiled.rowsOf(resource)).map((row) => write(head, row));
  };
  return (json) => {
    const stored = parseStored(json, services);
    if (withData !== undefined) return Promise.resolve(stored).then(withData).then(linesOf);
    return stored instanceof Promise ? stored.then(linesOf) : linesOf(stored);
  };
}

/** The JSON text of a row; most have no decimals that need our own writer. */
function textOf(row: ViewRow): string {
  const isPlain = row.every((cell) => typeof cell !== 'object' || cell === null);
  return isPlain ? JSON.stringify(row) : writeJson(row as JsonValue[]);
}

/** The text of a row follows the id as it is, unless it has newlines: JSON has no tabs in its texts. */
const BEHIND_ID = '\t';

/** Returns the line of a table in text that a line of a file has. */
export function textOfLine(line: string): string {
  const at = line.indexOf(BEHIND_ID);
  if (at >= 0) return line.slice(at + 1);
  return (JSON.parse(line) as { readonly line: string }).line;
}

/** Returns the id of the resource that a line of a file is of. */
export function idOfLine(line: string): unknown {
  const [head = ''] = line.split(BEHIND_ID, 1);
  return (JSON.parse(head) as { readonly id?: unknown }).id;
}

/** Returns the row that a line of a file has. */
export function rowOfLine(line: string): ViewRow {
  return (parseExact(line) as JsonObject)['row'] as JsonValue[];
}

/** What data do not allow ends the job: to try it again would not help. */
function asFailure<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof RowError) throw new FhirError('view-invalid', error.message);
    throw error;
  }
}
