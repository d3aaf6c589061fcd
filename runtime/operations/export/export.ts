import { createHash } from 'node:crypto';

import type { Content } from '../../auth/access/content.js';
import { neededOn, uniteNeeded, type NeededScopes } from '../../auth/access/needed-scopes.js';
import { scopeMissing } from '../../auth/access/refuse.js';
import { neededFor } from '../../search-execution/authorize/authorize.js';
import type { Call, Reply } from '../../core/call.js';
import { EXPORT, NDJSON } from '../../core/job-files/read-job-file.js';
import { ENDED, type Job } from '../../core/jobs.js';
import { isOwnJob } from '../../core/job-files/own-job.js';
import { isShown as isVersionShown, SHOWING } from '../../core/access/visibility.js';
import { readStored } from '../../core/read-stored.js';
import { isShown } from '../../search-execution/parse/check-view.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import { isObject, objectsOf, type JsonObject, type JsonValue } from '../../fhir/resource.js';
import { read } from '../../interactions/read/read.js';
import { asksLinks } from '../../jobs/export/selection.js';
import { patientTypes } from '../../jobs/export/compartment.js';
import type { ExportInput, ExportPart } from '../../jobs/export/export-input.js';
import type { Condition } from '../../search/query/query.js';
import { Faults } from '../common/faults.js';
import { jobsOf, statusUrl } from '../common/jobs.js';
import { readFilter, type TypeFilter } from './read-filter.js';
import { instantOf } from '../../jobs/export/export-instant.js';
import { readExportParameters, type ExportParameters } from './read-parameters.js';
import { quote } from '../../fhir/quote.js';
import type { LocalReference } from '../../path/own-bases.js';

/** Names under which clients ask for the only format of the files. */
const FORMATS: ReadonlySet<string> = new Set([NDJSON, 'application/ndjson', 'ndjson']);

/** The type whose contents are files of their own, which no export holds. */
const BINARY = 'Binary';

const PATIENT = 'Patient';

/** The types that the export of a group has besides those of the compartment: what these refer to. */
const REFERRED: ReadonlySet<string> = new Set(['Practitioner', 'Organization']);

const EXPORT_ID = /^[A-Za-z0-9._~-]{1,100}$/;

/**
 * `$export` of the system, of patients, of one patient, and of a group: starts a job that writes the resources to files. All faults
 * of a request are in one answer. https://hl7.org/fhir/uv/bulkdata/STU2/export.html
 *
 * @throws FhirError `async-only`, `parameter-invalid` and others of status 400, `scope-missing`, `not-found`, `deleted`
 */
export async function startExport(call: Call, services: Services): Promise<Reply> {
  const faults = new Faults();
  if (call.prefer.respondAsync !== true) {
    await faults.collect(() => Promise.reject(new FhirError('async-only', ASYNC_ONLY)));
  }
  const sent = readExportParameters(call, services, faults);
  checkValues(sent, call, faults);
  const types = chooseTypes(sent, call, services, faults);
  const isOrganized = sent.organizedBy === PATIENT;
  // Whether a token may is not hidden behind what else is wrong.
  if (types.length > 0 || sent.types.length === 0) checkScopes(sent, types, call, services);
  const patients = await choosePatients(sent, call, services, faults);
  const filters = await readFilters(sent.typeFilters, '_typeFilter', types, call, services, faults);
  const postFilters = await readFilters(sent.postFilters, '_typePostFetchFilterUrl', types, call, services, faults);
  const elements = chooseElements(sent, types, services, faults);
  faults.check();
  const partOf = (type: string): ExportPart => {
    const [filter, postFilter, own] = [eitherOf(type, filters), eitherOf(type, postFilters), elements.get(type)];
    return {
      type,
      ...(filter !== undefined && { filter }),
      ...(postFilter !== undefined && { postFilter }),
      ...(own !== undefined && { elements: own }),
    };
  };
  const isReferred = (type: string): boolean => call.level !== 'system' && REFERRED.has(type);
  const [referred, own] = [types.filter(isReferred), types.filter((type) => !isReferred(type))];
  const { since, until, isHistory, isPartial, exportId } = sent;
  const asked = {
    ...{ request: requestUrl(call), base: call.base, types, parts: own.map(partOf), isHistory },
    ...(referred.length > 0 && !isOrganized && { referred: referred.map(partOf) }),
    ...(patients !== undefined && { patients }),
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
    ...(exportId !== undefined && { exportId }),
    ...(isPartial && !isOrganized && { isPartial }),
    ...(isOrganized && ({ organizedBy: PATIENT } as const)),
  };
  const digest = createHash('sha256').update(JSON.stringify(asked)).digest('base64url');
  const same = call.prefer.isFresh === true ? undefined : await findRunning(digest, call, services);
  const input: ExportInput = { ...asked, asked: digest, transactionTime: await instantOf(services.store) };
  const { id } =
    same ?? (await jobsOf(services).start(EXPORT, input as unknown as JsonObject, call.principal, usesOf(asked)));
  return { status: 202, contentLocation: statusUrl('export-poll-status', id, services) };
}

/** The scopes that an export needs. A filter that asks for other resources may ask for any. */
function usesOf({ parts, types, patients }: Pick<ExportInput, 'parts' | 'types' | 'patients'>): NeededScopes {
  const asksOthers = parts.some(({ filter }) => filter !== undefined && asksLinks(filter));
  const read = asksOthers ? ['*'] : patients === undefined ? types : [...types, PATIENT];
  return uniteNeeded(read.map((type) => neededOn(type, 'rs')));
}

const ASYNC_ONLY = 'An export is done after the answer to its request; send the header Prefer: respond-async';

/** The URL of the request; of a POST without its parameters, as the specification has it. */
function requestUrl({ base, type, id, params }: Call): string {
  const path = [type, id, '$export'].filter((each) => each !== undefined).join('/');
  const query = params.toString();
  return `${base}/${path}${query === '' ? '' : `?${query}`}`;
}

/** An export of the same client that asks for the same, by scopes that the token has too, and has not ended. */
async function findRunning(digest: string, call: Call, services: Services): Promise<Job | undefined> {
  const all = await jobsOf(services).list();
  return all.find(
    (job) =>
      job.type === EXPORT && job.input['asked'] === digest && !ENDED.has(job.state) && isOwnJob(job, call, services),
  );
}

function checkValues(sent: ExportParameters, { prefer }: Call, faults: Faults): void {
  const { outputFormat = NDJSON, exportId, since, until, associated, organizedBy, isPartial } = sent;
  if (!FORMATS.has(outputFormat)) {
    const text = `The parameter "_outputFormat" is one of ${[...FORMATS].join(', ')}, not ${quote(outputFormat)}`;
    faults.add('_outputFormat', text);
  }
  if (exportId !== undefined && !EXPORT_ID.test(exportId)) {
    faults.add('_exportId', 'The parameter "_exportId" is 1 to 100 letters, digits, "-", ".", "_" and "~"');
  }
  if (since !== undefined && until !== undefined && since >= until) {
    faults.add('_until', 'The parameter "_until" is later than "_since"');
  }
  if (organizedBy !== undefined && organizedBy !== PATIENT && prefer.handling !== 'lenient') {
    const text = `The parameter "organizeOutputBy" is Patient, not ${quote(organizedBy)}; or send Prefer: handling=lenient`;
    faults.add('organizeOutputBy', text, 'not-supported');
  }
  if (organizedBy === PATIENT && isPartial && prefer.handling !== 'lenient') {
    const text =
      'Files that are organized by patients are whole at the end: leave out allowPartialManifests or organizeOutputBy';
    faults.add('allowPartialManifests', text, 'not-supported');
  }
  if (associated.length > 0 && prefer.handling !== 'lenient') {
    const text =
      'The parameter "includeAssociatedData" is not supported; ask for Provenance in _type, or send Prefer: handling=lenient';
    faults.add('includeAssociatedData', text, 'not-supported');
  }
}

/** The types that are exported: those that are asked for, else those that the token covers. */
function chooseTypes(
  { types: asked, organizedBy }: ExportParameters,
  { level, type: owner, principal: { access } }: Call,
  { tables }: Services,
  faults: Faults,
): readonly string[] {
  const isOfSystem = level === 'system' && organizedBy !== PATIENT;
  // What the resources of a group refer to has a place only in files by type.
  const more =
    owner === 'Group' && organizedBy !== PATIENT ? tables.resourceTypes.filter((type) => REFERRED.has(type)) : [];
  const ofPatients = patientTypes(tables);
  for (const type of new Set(asked)) {
    if (!tables.resourceTypes.includes(type)) {
      faults.add('_type', `The parameter "_type" names no resource type with ${quote(type)}`);
    } else if (type === BINARY) {
      faults.add('_type', 'Binary cannot be exported; read each by its id', 'not-supported');
    } else if (!isOfSystem && ![...ofPatients, ...more].includes(type)) {
      const advice = level === 'system' ? 'without organizeOutputBy' : 'at system level: [base]/$export';
      faults.add('_type', `${type} is not in the compartment of patients; export it ${advice}`);
    }
  }
  if (asked.length > 0 && asked.every((type) => more.includes(type))) {
    const text = `${asked.join(', ')}: exported with what refers to it; name types of the compartment of patients in "_type" too`;
    faults.add('_type', text);
  }
  const possible = isOfSystem ? tables.resourceTypes.filter((type) => type !== BINARY) : ofPatients;
  if (asked.length > 0) return [...possible, ...more].filter((type) => asked.includes(type));
  return [...possible, ...more].filter((type) => access.on(type, 'rs') === 'everything');
}

/** The patients whose resources are exported; undefined: everything is. */
async function choosePatients(
  { patients: asked, organizedBy }: ExportParameters,
  call: Call,
  services: Services,
  faults: Faults,
): Promise<'all' | readonly string[] | undefined> {
  const { level, type, id } = call;
  const named = asked.flatMap((each): string[] => {
    const patient = patientOf(each, services);
    if (patient === undefined) {
      faults.add('patient', 'The parameter "patient" is a reference to a Patient here: Patient/[id]');
      return [];
    }
    return [patient];
  });
  const distinct = [...new Set(named)];
  if (level === 'instance') {
    const members = await membersOf(call, services);
    const wanted = distinct.length === 0 ? members : members.filter((each) => distinct.includes(each));
    for (const each of distinct) {
      const owner = `${type}/${id}`;
      if (!members.includes(each)) faults.add('patient', `Patient/${each} is not in the export of ${owner}`);
    }
    return wanted;
  }
  if (distinct.length > 0) {
    const missing = await findMissing(distinct, call, services);
    if (missing.length === 0 || call.prefer.handling === 'lenient') return distinct;
    for (const each of missing) faults.add('patient', `Patient/${each} does not exist; leave it out`, 'not-found');
  }
  return level === 'type' || organizedBy === PATIENT ? 'all' : undefined;
}

/** Patients that one query looks for. */
const LOOKED_FOR = 200;

/** Finds those of the patients that do not exist, as far as the token shows Patients: to others nothing is said. */
async function findMissing(ids: readonly string[], call: Call, services: Services): Promise<readonly string[]> {
  const { access } = call.principal;
  if (SHOWING.every((letter) => access.on(PATIENT, letter) === 'nothing')) return [];
  const there = new Set<string>();
  for (let at = 0; at < ids.length; at += LOOKED_FOR) {
    const some = ids.slice(at, at + LOOKED_FOR);
    const query = { type: PATIENT, where: { ids: some }, sort: [], count: some.length, total: 'none' } as const;
    for (const version of (await services.store.find(query)).versions) {
      if (await isVersionShown(version, call, services)) there.add(version.id);
    }
  }
  return ids.filter((id) => !there.has(id));
}

/** The patient that the URL names, or the members of the group. */
async function membersOf(call: Call, services: Services): Promise<readonly string[]> {
  const { type, id = '' } = call;
  const plain: Call = { ...call, params: new URLSearchParams(), conditions: {} };
  const { json } = await read(plain, services);
  if (type === PATIENT) return [id];
  const group = json === undefined ? undefined : await readStored(json, services);
  const patients = membersOfGroup(group, services).filter((member) => member.type === PATIENT);
  return [...new Set(patients.map((member) => member.id))];
}

/** The active members of a group that are resources here. */
export function membersOfGroup(
  group: JsonObject | undefined,
  { own }: Pick<Services, 'own'>,
): readonly LocalReference[] {
  return objectsOf(group?.['member']).flatMap(({ entity, inactive }) => {
    const named = inactive === true || !isObject(entity) ? undefined : own.readLocal(entity['reference']);
    return named === undefined ? [] : [named];
  });
}

/** Id of the patient here that a Reference, or its text, names. */
function patientOf(value: JsonValue, { own }: Services): string | undefined {
  const text = isObject(value) ? value['reference'] : value;
  const named = own.readLocal(text);
  return named?.type === PATIENT ? named.id : undefined;
}

async function readFilters(
  texts: readonly string[],
  parameter: '_typeFilter' | '_typePostFetchFilterUrl',
  types: readonly string[],
  call: Call,
  services: Services,
  faults: Faults,
): Promise<readonly TypeFilter[]> {
  const filters: TypeFilter[] = [];
  for (const text of texts) {
    const filter = await faults.collect(() => readFilter(text, parameter, call, services));
    if (filter === undefined) continue;
    filters.push(filter);
    if (!types.includes(filter.type)) {
      faults.add(parameter, `${quote(text)} filters ${filter.type}, which is not exported; name it in _type`);
    }
    if (parameter === '_typePostFetchFilterUrl' && asksLinks(filter.where)) {
      const what = `${quote(text)} asks for other resources, which cannot be decided on the resource itself; use _typeFilter`;
      faults.add(parameter, what, 'not-supported');
    }
  }
  return filters;
}

/** Several filters of a type: one match is enough. */
function eitherOf(type: string, filters: readonly TypeFilter[]): Condition | undefined {
  const own = filters.filter((each) => each.type === type).map(({ where }) => where);
  return own.length > 1 ? { some: own } : own[0];
}

/** The elements that each type has of those that are asked for; a type that is not there is exported whole. */
function chooseElements(
  { elements }: ExportParameters,
  types: readonly string[],
  { subset }: Services,
  faults: Faults,
): ReadonlyMap<string, readonly string[]> {
  const chosen = new Map<string, string[]>();
  if (elements.length === 0) return chosen;
  if (subset === undefined) {
    faults.add('_elements', 'The parameter "_elements" is not supported', 'not-supported');
    return chosen;
  }
  for (const element of elements) {
    const [owner] = element.includes('.') ? element.split('.', 1) : [];
    const having = types.filter(
      (type) =>
        (owner === undefined || !types.includes(owner) || owner === type) &&
        isShown(type, { elements: [element] }, subset),
    );
    if (having.length === 0)
      faults.add('_elements', `None of the types that are exported has an element ${quote(element)}`);
    for (const type of having) chosen.set(type, [...(chosen.get(type) ?? []), element]);
  }
  return chosen;
}

/** @throws FhirError `scope-missing` where the token does not cover all types whole */
function checkScopes(
  { types: named, patients }: ExportParameters,
  types: readonly string[],
  call: Call,
  { scopeRows }: Services,
): void {
  const { access } = call.principal;
  const isNamed = named.length > 0;
  const content: Content = {
    // What filters ask about was checked as for a search.
    ...{ chain: false, 'untyped-chain': false, list: false, in: false },
    'types-named': isNamed && types,
    'types-unnamed': !isNamed && types,
    'patient-named': patients.length > 0 && true,
  };
  const needed = neededFor(call, content, access, scopeRows);
  if (needed !== undefined) throw scopeMissing(needed, access);
}
