import { neededOn, uniteNeeded } from '../../auth/access/needed-scopes.js';
import { scopeMissing } from '../../auth/access/refuse.js';
import { neededFor } from '../../search-execution/authorize/authorize.js';
import { BINARY, blobKey, pointerOf } from '../../core/binary/binary-content.js';
import type { Call, Reply } from '../../core/call.js';
import { IMPORT, NDJSON } from '../../core/job-files/read-job-file.js';
import { readStored } from '../../core/read-stored.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import type { JsonObject } from '../../fhir/resource.js';
import { read } from '../../interactions/read/read.js';
import type { ImportFile, ImportInput } from '../../jobs/import/import-input.js';
import { readArguments, valueOf } from '../common/arguments.js';
import { Faults } from '../common/faults.js';
import { jobsOf, statusUrl } from '../common/jobs.js';

const FORMATS: ReadonlySet<string> = new Set([NDJSON, 'application/ndjson', 'ndjson']);

/**
 * `$import`: starts a job that puts the resources of NDJSON files into the server. definitions/operations/import.json
 *
 * @throws FhirError `async-only`, `parameter-invalid`, `scope-missing`
 */
export async function startImport(call: Call, services: Services): Promise<Reply> {
  const { access } = call.principal;
  if (!services.tables.resourceTypes.some((type) => access.on(type, 'cu') === 'everything')) {
    throw scopeMissing(neededOn('*', 'cu'), access);
  }
  const found = readArguments(call, services);
  const faults = new Faults();
  if (call.prefer.respondAsync !== true) await faults.collect(() => Promise.reject(new FhirError('async-only')));
  const format = valueOf(found, 'inputFormat') ?? NDJSON;
  if (!FORMATS.has(String(format)))
    faults.add('inputFormat', `The parameter "inputFormat" is one of ${[...FORMATS].join(', ')}`);
  const asked = (found.get('input') ?? []).map((each) => {
    const parts = 'parts' in each ? each.parts : new Map();
    return { url: String(valueOf(parts, 'url')), type: valueOf(parts, 'type') as string | undefined };
  });
  for (const { type } of asked) {
    if (type !== undefined && !services.tables.resourceTypes.includes(type)) {
      faults.add('input', `The part "type" names no resource type with ${JSON.stringify(type.slice(0, 64))}`);
    }
  }
  const types = typesOf(asked, call, services);
  const files: ImportFile[] = [];
  for (const { url, type } of asked) {
    const file = await faults.collect(() => openFile(url, call, services));
    if (file !== undefined) files.push({ ...file, ...(type !== undefined && { type }) });
  }
  faults.check();
  const input: ImportInput = { request: `${call.base}/$import`, base: call.base, files, types };
  // What lines refer to is read by all scopes that there are.
  const uses = uniteNeeded([...types.map((type) => neededOn(type, 'cu')), neededOn('*', 'rs')]);
  const { id } = await jobsOf(services).start(IMPORT, input as unknown as JsonObject, call.principal, uses);
  return { status: 202, contentLocation: statusUrl('import-poll-status', id, services) };
}

/** The types that may be in the files. @throws FhirError `scope-missing` */
function typesOf(
  asked: readonly { readonly type: string | undefined }[],
  call: Call,
  { tables, scopeRows }: Services,
): readonly string[] {
  const { access } = call.principal;
  const named = [...new Set(asked.flatMap(({ type }) => type ?? []))].filter((type) =>
    tables.resourceTypes.includes(type),
  );
  const isOpen = asked.some(({ type }) => type === undefined);
  const content = {
    'types-named': named.length > 0 && named,
    'types-unnamed': isOpen && tables.resourceTypes,
  } as const;
  const needed = named.length > 0 || isOpen ? neededFor(call, content, access, scopeRows) : undefined;
  if (needed !== undefined) throw scopeMissing(needed, access);
  return isOpen ? tables.resourceTypes.filter((type) => access.on(type, 'cu') === 'everything') : named;
}

/** @throws FhirError `parameter-invalid`, `scope-missing` */
async function openFile(url: string, call: Call, services: Services): Promise<ImportFile> {
  const [, id] = /^Binary\/([A-Za-z0-9.-]{1,64})$/.exec(services.own.below(url) ?? url) ?? [];
  if (id !== undefined) return openBinary(url, id, call, services);
  const fault =
    services.fetchFile === undefined
      ? 'is on no server that the configuration allows (import.allow)'
      : services.fetchFile.fault(url);
  if (fault === undefined) return { url };
  throw invalid(`${JSON.stringify(url.slice(0, 200))} ${fault}; upload it as a Binary, or have the operator allow it`);
}

async function openBinary(url: string, id: string, call: Call, services: Services): Promise<ImportFile> {
  const { access } = call.principal;
  if (access.on(BINARY, 'r') === 'nothing') throw scopeMissing(neededOn(BINARY, 'r'), access);
  const { body: _body, text: _text, ...rest } = call;
  const plain: Call = { ...rest, interaction: 'read', type: BINARY, id, params: new URLSearchParams(), conditions: {} };
  const { json } = await read(plain, services).catch((error: unknown) => {
    if (!(error instanceof FhirError) || (error.status !== 404 && error.status !== 410)) throw error;
    throw invalid(`There is no ${BINARY}/${id}`);
  });
  const pointer = json === undefined ? undefined : pointerOf(await readStored(json, services));
  if (pointer === undefined) throw invalid(`${BINARY}/${id} has no content`);
  return { url, key: blobKey(id, pointer.name) };
}

function invalid(text: string): FhirError {
  return new FhirError('parameter-invalid', text, { parameter: 'input' });
}
