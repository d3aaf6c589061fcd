import { readFile } from 'node:fs/promises';

import { ConfigError } from '../config/config-error.js';
import type { Flags } from '../config/read-config.js';
import { isObject, objectsOf, type JsonObject, type JsonValue } from '../fhir/resource.js';
import { parseCsv } from '../hfql/parse-csv.js';
import { printTable } from './tables/print-table.js';
import { textsOf, withOperations, type TargetOptions } from './tables/run-operation.js';
import { writeWhole } from './tables/write-whole.js';
import { messageOf, printable, type Terminal } from './terminal.js';

/** Forms that `kiln view run` writes to a file. */
export const VIEW_FORMATS = ['csv', 'json', 'ndjson', 'parquet'] as const;

/** Options of `kiln view run`. */
export interface ViewFlags extends TargetOptions, Partial<Readonly<Record<(typeof VIEW_FORMATS)[number], string>>> {
  readonly limit?: string;
}

/**
 * `kiln view run VIEW`: runs a view or a query of SQL on FHIR on a store, or on a server, and prints its table or writes it to a file.
 *
 * @param view a file with a ViewDefinition, a Library or the Parameters of `$sql-run`; `ViewDefinition/[id]`, `Library/[id]`, or the canonical URL of a stored one
 * @returns the exit code: 1 where the view failed
 * @throws ConfigError
 */
export async function runView(view: string, options: ViewFlags, flags: Flags, terminal: Terminal): Promise<number> {
  const [format, other] = VIEW_FORMATS.filter((each) => options[each] !== undefined);
  if (other !== undefined) throw new ConfigError(`--${format} and --${other} exclude each other`);
  const { limit } = options;
  if (limit !== undefined && !/^\d{1,9}$/.test(limit)) throw new ConfigError(`--limit ${limit}: has to be a number`);
  const file = format === undefined ? undefined : options[format];
  if (format === 'parquet' && file === '-') throw new ConfigError('--parquet needs a file: it is no text');
  const own = await parametersOf(view, terminal);
  const parameter: JsonValue[] = [
    ...own.filter(({ name }) => name !== '_format' && (limit === undefined || name !== '_limit')),
    { name: '_format', valueCode: format ?? 'csv' },
    ...(limit === undefined ? [] : [{ name: '_limit', valueInteger: Number(limit) }]),
  ];
  return withOperations(options, flags, terminal, async (run) => {
    const answer = await run('sql-run', { resourceType: 'Parameters', parameter });
    if (file === '-') {
      for await (const line of linesOf(textsOf(answer))) terminal.out(line);
    } else if (file !== undefined) {
      await writeWhole(file, answer);
      terminal.out(`written to ${printable(file)}`);
    } else {
      const rows = parseCsv(textsOf(answer));
      const { value: names } = await rows.next();
      await printTable({ names: (names ?? []) as readonly string[], rows }, terminal);
    }
  });
}

/** The subject of a run; of a file with Parameters all that it has. @throws ConfigError for a file that has no JSON object */
async function parametersOf(view: string, terminal: Terminal): Promise<readonly JsonObject[]> {
  if (/^(?:ViewDefinition|Library)\/[A-Za-z0-9.-]{1,64}$/.test(view))
    return [{ name: 'subjectReference', valueReference: { reference: view } }];
  if (/^(?:https?|urn):/.test(view)) return [{ name: 'subjectCanonical', valueCanonical: view }];
  let resource: JsonValue;
  try {
    resource = JSON.parse(await readFile(view, 'utf8')) as JsonValue;
  } catch (error) {
    throw new ConfigError(`${printable(view)}: ${messageOf(error)}`);
  }
  if (!isObject(resource))
    throw new ConfigError(`${printable(view)}: has to be a ViewDefinition or a Library, as JSON`);
  if (resource['resourceType'] === 'Parameters') return objectsOf(resource['parameter']);
  const names = resource['resourceType'] === 'Library' ? objectsOf(resource['parameter']).map(({ name }) => `:${String(name)}`) : []; // prettier-ignore
  if (names.length > 0) terminal.err(printable(`${names.join(', ')}: NULL, for a Library alone has no values; put it into a file with the Parameters of $sql-run`)); // prettier-ignore
  return [{ name: 'subjectResource', resource }];
}

async function* linesOf(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  for await (const text of texts) {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}
