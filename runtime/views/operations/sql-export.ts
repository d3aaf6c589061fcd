import { neededOn, uniteNeeded } from '../../auth/access/needed-scopes.js';
import type { Call, Reply } from '../../core/call.js';
import { VIEW_EXPORT } from '../../core/job-files/read-job-file.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import { invalidParameter } from '../../fhir/catalog/invalid-parameter.js';
import { isObject, objectsOf, type JsonObject, type JsonValue, type Resource } from '../../fhir/resource.js';
import type { ExportInput, ExportPart, ExportQuery, ExportView } from '../../jobs/export/export-input.js';
import { asksLinks } from '../../jobs/export/selection.js';
import { valueOf, type Arguments } from '../../operations/common/arguments.js';
import { Faults } from '../../operations/common/faults.js';
import { TABLE_FORMATS, type TableFormat } from '../formats.js';
import { instantOf } from '../../jobs/export/export-instant.js';
import { jobsOf, statusUrl } from '../../operations/common/jobs.js';
import { readFormat } from './choose-format.js';
import { partOf, readFilters, type ViewFilters } from './filters.js';
import { readNamedArguments } from './named-arguments.js';
import { Artifacts, isQuery, planQuery, type QueryPlan } from './query-plan.js';
import { compileSubject, FAULTS, readSubject } from './subject.js';

/** Views of one export, at most. */
const MOST = 100;

/** Forms of files. */
const FORMATS = TABLE_FORMATS.filter((format) => format !== 'fhir');

/** Names of tables, which are parts of the names of files. */
const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$/;

/**
 * `$sql-export`: starts a job that writes the tables of views to files, all of one instant. All faults of a request are in one answer.
 * definitions/operations/sql-export.json
 *
 * @throws FhirError `async-only`, `parameter-invalid`, `view-invalid`, `not-found`, `scope-missing`
 */
export async function sqlExport(call: Call, services: Services): Promise<Reply> {
  const faults = new Faults(FAULTS);
  if (call.prefer.respondAsync !== true)
    faults.take(new FhirError('async-only', 'Tables are exported after the answer to the request; send the header Prefer: respond-async', { issue: 'required' })); // prettier-ignore
  const { rest, inline, context } = withoutViews(call);
  const found = readNamedArguments(rest, services, [], faults);
  const format = faults.attempt(() => formatOf(call.params.get('_format') ?? valueOf(found, '_format'))) ?? 'ndjson';
  const subjects = (found.get('subject') ?? []).map((each): Arguments => ('parts' in each ? each.parts : new Map()));
  if (subjects.length > MOST)
    throw invalidParameter('subject', `may be given ${MOST} times`, { expression: 'subject' });
  const filters = (await faults.collect(() => readFilters(found, rest, services))) ?? {};
  const form = { format, hasHeader: valueOf(found, 'header') !== false };
  const artifacts = faults.attempt(() => new Artifacts(context, rest, services));
  const parts: ExportPart[] = [];
  const queries: ExportQuery[] = [];
  const plans: Planned[] = [];
  const names = new Set<string>();
  const given = new Set(subjects.map((each) => valueOf(each, 'name')));
  const add = async (subject: Arguments, i: number): Promise<void> => {
    const path = `subject[${i}].`;
    const read = await readSubject(subject, inline[i] ?? [], path, rest, services);
    const values = valueOf(subject, 'parameters');
    if (read === undefined) return;
    const name = (own: string | undefined): string => faults.attempt(() => nameOf(valueOf(subject, 'name'), own ?? madeUp(i, names, given), i, names)) ?? ''; // prettier-ignore
    if (isQuery(read)) {
      if (artifacts === undefined) return;
      const plan = await planQuery(read, values, path, artifacts, filters, new Date(), rest, services);
      const places = plan.views.map(({ definition, part }) => parts.push({ ...part, view: { name: '', definition, format: 'parquet', hasHeader: true, isBelow: true } }) - 1); // prettier-ignore
      queries.push({ ...form, name: name(plan.name), query: plan.query, parts: places });
      plans.push({ plan, parameter: read.parameter });
      return;
    }
    if (values !== undefined) faults.take(invalidParameter('parameters', 'is for queries; a view has none', { issue: 'invalid', expression: `${path}parameters` })); // prettier-ignore
    const compiled = compileSubject(read, services, { now: new Date(), ...(format === 'parquet' && { form: format }) });
    const view: ExportView = { ...form, name: name(compiled.name), definition: read.view };
    parts.push({ ...(await partOf(compiled, filters, rest, services)), view });
  };
  let areRead = true;
  for (const [i, subject] of subjects.entries())
    areRead = (await faults.collect(() => add(subject, i).then(() => true))) === true && areRead;
  faults.attempt(() => artifacts?.finish(areRead));
  faults.check();
  for (const { plan, parameter } of plans) await faults.collect(() => checkPlan(plan, parameter, call));
  faults.check();
  const clientTrackingId = valueOf(found, 'clientTrackingId');
  const input = await inputOf(parts, queries, filters, clientTrackingId, call, services);
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
  queries: readonly ExportQuery[],
  { since }: ViewFilters,
  trackingId: JsonValue | undefined,
  { base }: Call,
  { store }: Services,
): Promise<ExportInput> {
  return {
    ...{ transactionTime: await instantOf(store), request: `${base}/$sql-export`, base, asked: '', isHistory: false },
    ...{ types: [...new Set(parts.map(({ type }) => type))], parts },
    ...(queries.length > 0 && { queries }),
    ...(since !== undefined && { since }),
    ...(trackingId !== undefined && { exportId: String(trackingId) }),
  };
}

/** @throws FhirError `parameter-invalid` */
function formatOf(value: JsonValue | undefined): Exclude<TableFormat, 'fhir'> {
  return readFormat(String(value ?? 'ndjson'), FORMATS);
}

/** Makes up the name of a table that has none. @param given names of others */
function madeUp(at: number, before: ReadonlySet<string>, given: ReadonlySet<unknown>): string {
  let number = at + 1;
  while (before.has(`view_${number}`) || given.has(`view_${number}`)) number++;
  return `view_${number}`;
}

/** The name of a table: the one that is given, or that of the view. */
function nameOf(given: JsonValue | undefined, own: string, at: number, before: Set<string>): string {
  const name = given === undefined ? own : String(given);
  if (!NAME.test(name)) {
    throw invalidParameter('name', 'is up to 100 letters, digits, "_", "-" and "."', {
      expression: `subject[${at}].name`,
    });
  }
  if (before.has(name)) {
    const text = `Two tables have the name ${JSON.stringify(name)}; give each its own by the part name`;
    throw new FhirError('parameter-invalid', text, { issue: 'invalid', expression: 'subject' });
  }
  before.add(name);
  return name;
}

interface Planned {
  readonly plan: QueryPlan;
  readonly parameter: string;
}

/** Lets SQLite look at the statements of a query. @throws FhirError `view-invalid` */
async function checkPlan({ query, views }: QueryPlan, parameter: string, { signal }: Call): Promise<void> {
  const { checkQuery } = await import('../query/run-query.js');
  const columns = views.map(({ compiled }) => compiled);
  await checkQuery(query, columns, signal).catch((error: unknown) => {
    throw error instanceof FhirError ? error.map((issue) => ({ expression: parameter, ...issue })) : error;
  });
}

/** Takes the views out of the subjects of a body: they are judged when they are compiled. */
function withoutViews(call: Call): {
  readonly rest: Call;
  readonly inline: readonly (readonly Resource[])[];
  readonly context: readonly Resource[];
} {
  const { body, text: _text, ...others } = call;
  if (!isObject(body) || !Array.isArray(body['parameter'])) return { rest: call, inline: [], context: [] };
  const inline: Resource[][] = [];
  const context: Resource[] = [];
  const parameter = body['parameter'].flatMap((each): JsonValue => {
    if (isObject(each) && each['name'] === 'context' && isObject(each['resource'])) {
      context.push(each['resource'] as Resource);
      return [];
    }
    if (!isObject(each) || each['name'] !== 'subject') return each;
    const parts = objectsOf(each['part']);
    const isView = ({ name, resource }: JsonObject): boolean => name === 'subjectResource' && isObject(resource);
    inline.push(parts.filter(isView).map(({ resource }) => resource as Resource));
    const kept = parts.filter((part) => !isView(part));
    const { part: _part, ...rest } = each;
    return kept.length === 0 ? rest : { ...rest, part: kept };
  });
  const { parameter: _parameter, ...bare } = body;
  return { rest: { ...others, body: parameter.length === 0 ? bare : { ...bare, parameter } }, inline, context };
}
