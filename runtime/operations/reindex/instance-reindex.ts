import type { Call, Reply } from '../../core/call.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import { formatInstant } from '../../fhir/instant.js';
import type { JsonObject } from '../../fhir/resource.js';
import { yieldToEventLoop } from '../../fhir/yield-to-event-loop.js';
import { read } from '../../interactions/read/read.js';
import { reindexPage, type ReindexPageJob } from '../../jobs/reindex/reindex.js';
import type { IndexEntry } from '../../indexing/entry.js';
import { searchDefinitions } from '../../indexing/definitions.js';
import { unionOf } from '../../search/parse/parse-union.js';
import type { Store } from '../../store/store.js';
import { readArguments, valuesOf } from '../common/arguments.js';

/**
 * `$reindex` of one resource: makes its index entries anew before it answers, and shows them.
 * definitions/operations/instance-reindex.json
 *
 * @throws FhirError `not-found`, `deleted`
 */
export async function reindexInstance(call: Call, services: Services): Promise<Reply> {
  readArguments(call, services);
  const { entries, replaced } = await makeEntries(call, services, (items) => services.store.reindex(items));
  const message =
    replaced > 0 ? 'The index entries were made anew' : 'The resource was written meanwhile, with new entries';
  return show(call, [message], entries);
}

/**
 * `$reindex-dryrun`: shows the index entries that the present definitions make of a resource, and changes nothing. The stored ones
 * are not compared, so that each is UNKNOWN. definitions/operations/reindex-dryrun.json
 *
 * @throws FhirError `not-found`, `deleted`, `parameter-invalid`
 */
export async function reindexDryrun(call: Call, services: Services): Promise<Reply> {
  const codes = valuesOf(readArguments(call, services), 'code').map(String);
  const { type = '' } = call;
  const rows = searchDefinitions(services.tables).rowsOf(type);
  const unknown = codes.find((code) => !rows.has(code));
  if (unknown !== undefined) {
    throw new FhirError('parameter-invalid', `${type} has no search parameter ${JSON.stringify(unknown.slice(0, 64))}`);
  }
  const { entries } = await makeEntries(call, services, () => Promise.resolve(0));
  const having = codes.flatMap((code) => unionOf(rows.get(code)!, rows) ?? [code]);
  const wanted = codes.length === 0 ? entries : entries.filter(({ param }) => having.includes(param));
  return show(call, ['Nothing was changed: this is a dry run'], wanted);
}

/**
 * Makes the index entries of a resource that the client may read.
 *
 * @param reindex what is done with them
 */
async function makeEntries(
  call: Call,
  services: Services,
  reindex: Store['reindex'],
): Promise<{ readonly entries: readonly IndexEntry[]; readonly replaced: number }> {
  await read({ ...call, params: new URLSearchParams(), conditions: {} }, services);
  const { type = '', id = '' } = call;
  let entries: readonly IndexEntry[] = [];
  const store: ReindexPageJob['store'] = {
    find: (query, signal) => services.store.find(query, signal),
    reindex(items) {
      entries = items.flatMap((item) => item.entries);
      return reindex(items);
    },
  };
  const signal = call.signal ?? new AbortController().signal;
  const place = { type, size: 1, after: undefined, where: { ids: [id] } };
  const job = { ...services, store, signal, breathe: yieldToEventLoop() };
  const { replaced } = await reindexPage(place, job);
  return { entries, replaced };
}

/** Names of the groups in the answer, by kind of entry. */
const GROUPS: Readonly<Record<Exclude<IndexEntry['kind'], 'words'>, string>> = {
  position: 'CoordinateIndexes',
  region: 'CoordinateIndexes',
  date: 'DateIndexes',
  number: 'NumberIndexes',
  quantity: 'QuantityIndexes',
  uri: 'UriIndexes',
  string: 'StringIndexes',
  token: 'TokenIndexes',
  reference: 'ResourceLinks',
  composite: 'NonUniqueIndexes',
};

/** Entries that are shown. */
const MOST_SHOWN = 5000;

function show({ type, id }: Call, messages: readonly string[], entries: readonly IndexEntry[]): Reply {
  const groups = new Map<string, JsonObject[]>();
  let count = 0;
  for (const entry of entries) {
    if (entry.kind === 'words' || ++count > MOST_SHOWN) continue;
    const parts = groups.get(GROUPS[entry.kind]);
    if (parts === undefined) groups.set(GROUPS[entry.kind], [partOf(entry)]);
    else parts.push(partOf(entry));
  }
  const narrative = `<div xmlns="http://www.w3.org/1999/xhtml"><p>${type}/${id}: ${count} index entries</p></div>`;
  const parameter: JsonObject[] = [
    { name: 'Narrative', valueString: narrative },
    ...[...messages, ...(count > MOST_SHOWN ? [`Of ${count} index entries ${MOST_SHOWN} are shown`] : [])].map(
      (valueString) => ({ name: 'Message', valueString }),
    ),
    ...[...groups].map(([name, part]) => ({ name, part })),
  ];
  return { status: 200, resource: { resourceType: 'Parameters', parameter } };
}

function partOf(entry: IndexEntry): JsonObject {
  const part: JsonObject[] = [
    { name: 'Action', valueCode: 'UNKNOWN' },
    { name: 'Type', valueString: entry.kind },
  ];
  for (const [name, value] of valuesOfEntry(entry)) part.push({ name, valueString: value });
  return { name: entry.param, part };
}

function valuesOfEntry(entry: IndexEntry): [string, string][] {
  switch (entry.kind) {
    case 'token':
      return present({ System: entry.system, Value: entry.code });
    case 'string':
      return present({ ValueNormalized: entry.folded, ValueExact: entry.text });
    case 'date':
      return present({ High: instant(entry.high), Low: instant(entry.low) });
    case 'number':
      return [['Value', String(entry.value)]];
    case 'quantity':
      return present({ Value: String(entry.value), System: entry.system, Units: entry.code ?? entry.unit });
    case 'uri':
      return [['Value', entry.value]];
    case 'reference':
      return present({ Reference: referenceOf(entry), Identifier: entry.identifier?.value });
    case 'position':
      return present({ Latitude: String(entry.latitude), Longitude: String(entry.longitude) });
    case 'composite':
      return entry.parts
        .flat()
        .flatMap((each) =>
          valuesOfEntry(each).map(([name, value]): [string, string] => [`${each.param}.${name}`, value]),
        );
    default:
      return [];
  }
}

function referenceOf({ base, type, id, version, url }: Extract<IndexEntry, { kind: 'reference' }>): string | undefined {
  if (type === undefined || id === undefined) return url;
  const local = version === undefined ? `${type}/${id}` : `${type}/${id}/_history/${version}`;
  return base === undefined ? local : `${base}/${local}`;
}

function instant(milliseconds: number | undefined): string | undefined {
  return milliseconds === undefined || Math.abs(milliseconds) > 8.64e15 ? undefined : formatInstant(milliseconds);
}

function present(values: Readonly<Record<string, string | undefined>>): [string, string][] {
  return Object.entries(values).filter((each): each is [string, string] => each[1] !== undefined && each[1] !== '');
}
