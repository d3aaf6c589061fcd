import { neededOn, uniteNeeded } from '../../auth/access/needed-scopes.js';
import type { Call, Reply } from '../../core/call.js';
import { VIEW_EXPORT } from '../../core/export-files.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import { invalidParameter } from '../../fhir/invalid-parameter.js';
import { isObject, objectsOf, type JsonObject, type JsonValue, type Resource } from '../../fhir/resource.js';
import type { ExportInput, ExportPart, ExportView } from '../../jobs/export/export-input.js';
import { asksLinks } from '../../jobs/export/selection.js';
import { readArguments, valueOf, type Arguments } from '../arguments.js';
import { instantOf } from '../../jobs/export/export-instant.js';
import { jobsOf, statusUrl } from '../jobs.js';
import { readFormat } from './choose-format.js';
import { partOf, readFilters, type ViewFilters } from './filters.js';
import { compileSubject, readSubject } from './subject.js';

/** Views of one export, at most. */
const MOST = 100;

/** Names of tables, which are parts of the names of files. */
const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$/;

/**
 * `$sql-export`: starts a job that writes the tables of views to files, all of one instant. definitions/operations/sql-export.json
 *
 * @throws FhirError `async-only`, `parameter-invalid`, `view-invalid`, `not-found`, `scope-missing`
 */
export async function sqlExport(call: Call, services: Services): Promise<Reply> {
  if (call.prefer.respondAsync !== true)
    throw new FhirError('async-only', 'Tables are exported after the answer to the request; send the header Prefer: respond-async'); // prettier-ignore
  const { rest, inline } = withoutViews(call);
  const found = readArguments(rest, services);
  const format = readFormat(String(call.params.get('_format') ?? valueOf(found, '_format') ?? 'ndjson'));
  if (format === 'fhir') throw invalidParameter('_format', 'is ndjson, json, csv or parquet for an export', { expression: '_format' }); // prettier-ignore
  const subjects = (found.get('subject') ?? []).map((each): Arguments => ('parts' in each ? each.parts : new Map()));
  if (subjects.length > MOST)
    throw invalidParameter('subject', `may be given ${MOST} times`, { expression: 'subject' });
  const filters = await readFilters(found, rest, services);
  const hasHeader = valueOf(found, 'header') !== false;
  const parts: ExportPart[] = [];
  for (const [i, subject] of subjects.entries()) {
    const read = await readSubject(subject, inline[i] ?? [], `subject[${i}].`, rest, services);
    const { name, resource } = compileSubject(read, services, new Date());
    const output = nameOf(valueOf(subject, 'name'), name, i, parts);
    const view: ExportView = { name: output, definition: read.view, format, hasHeader };
    parts.push({ ...(await partOf(resource, filters, rest, services)), view });
  }
  const clientTrackingId = valueOf(found, 'clientTrackingId');
  const input = await inputOf(parts, filters, clientTrackingId, call, services);
  const needed = input.types.map((type) => neededOn(type, 's'));
  const asksOthers = parts.some(({ filter }) => filter !== undefined && asksLinks(filter));
  const uses = uniteNeeded(asksOthers ? [neededOn('*', 'rs')] : needed);
  const { id } = await jobsOf(services).start(VIEW_EXPORT, input as unknown as JsonObject, call.principal, uses);
  const url = statusUrl('sql-export-poll-status', id, services);
  const parameter = describeExport(id, clientTrackingId, 'accepted');
  parameter.push({ name: 'location', valueUri: `${call.base}/${url}` });
  return { status: 202, contentLocation: url, resource: { resourceType: 'Parameters', parameter } };
}

/** The parameters that each answer about an export begins with. */
export function describeExport(id: string, trackingId: unknown, status: string): JsonObject[] {
  return [
    { name: 'exportId', valueString: id },
    ...(typeof trackingId === 'string' ? [{ name: 'clientTrackingId', valueString: trackingId }] : []),
    { name: 'status', valueCode: status },
  ];
}

async function inputOf(
  parts: readonly ExportPart[],
  { since }: ViewFilters,
  trackingId: JsonValue | undefined,
  { base }: Call,
  { store }: Services,
): Promise<ExportInput> {
  return {
    ...{ transactionTime: await instantOf(store), request: `${base}/$sql-export`, base, asked: '', isHistory: false },
    ...{ types: [...new Set(parts.map(({ type }) => type))], parts },
    ...(since !== undefined && { since }),
    ...(trackingId !== undefined && { exportId: String(trackingId) }),
  };
}

/** The name of a table: the one that is given, that of the view, or one that is made up. */
function nameOf(
  given: JsonValue | undefined,
  own: string | undefined,
  at: number,
  before: readonly ExportPart[],
): string {
  const name = given === undefined ? (own ?? `view_${at + 1}`) : String(given);
  if (!NAME.test(name)) {
    throw invalidParameter('name', 'is up to 100 letters, digits, "_", "-" and "."', {
      expression: `subject[${at}].name`,
    });
  }
  if (before.some(({ view }) => view?.name === name)) {
    const text = `Two tables have the name ${JSON.stringify(name)}; give each its own by the part name`;
    throw new FhirError('parameter-invalid', text, { issue: 'invalid', expression: 'subject' });
  }
  return name;
}

/** Takes the views out of the subjects of a body: they are judged when they are compiled. */
function withoutViews(call: Call): { readonly rest: Call; readonly inline: readonly (readonly Resource[])[] } {
  const { body, text: _text, ...others } = call;
  if (!isObject(body) || !Array.isArray(body['parameter'])) return { rest: call, inline: [] };
  const inline: Resource[][] = [];
  const parameter = body['parameter'].map((each): JsonValue => {
    if (!isObject(each) || each['name'] !== 'subject') return each;
    const parts = objectsOf(each['part']);
    const isView = ({ name, resource }: JsonObject): boolean => name === 'subjectResource' && isObject(resource);
    inline.push(parts.filter(isView).map(({ resource }) => resource as Resource));
    const kept = parts.filter((part) => !isView(part));
    const { part: _part, ...rest } = each;
    return kept.length === 0 ? rest : { ...rest, part: kept };
  });
  return { rest: { ...others, body: { ...body, parameter } }, inline };
}
