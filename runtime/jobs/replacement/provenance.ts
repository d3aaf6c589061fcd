import type { Principal } from '../../auth/scopes/principal.js';
import { formatInstant } from '../../fhir/instant.js';
import { isObject, type JsonObject, type JsonValue, listOf, type Resource } from '../../fhir/resource.js';
import type { ResourceKey } from '../../store/store.js';

/** The resource type that records changes. https://hl7.org/fhir/R5/provenance.html */
export const PROVENANCE = 'Provenance';

/** The resource type that shows how far a job is. https://hl7.org/fhir/R5/task.html */
export const TASK = 'Task';

/** Activity that a Provenance records: a code of the lifecycle of records. */
export type Activity = 'link' | 'merge';

/** https://terminology.hl7.org/CodeSystem-iso-21089-lifecycle.html */
export const LIFECYCLE = 'http://terminology.hl7.org/CodeSystem/iso-21089-lifecycle';

/** Why it was done: administration of patients. https://terminology.hl7.org/CodeSystem-v3-ActReason.html */
const REASON = { system: 'http://terminology.hl7.org/CodeSystem/v3-ActReason', code: 'PATADMIN' };

/** Says where a record comes from. https://hl7.org/fhir/R5/valueset-signature-type.html */
const SOURCE_SIGNATURE = { system: 'urn:iso-astm:E1762-95:2013', code: '1.2.840.10065.1.12.1.14' };

/** One version of a resource. */
export interface VersionKey extends ResourceKey {
  readonly version: number;
}

/** Replacement or merge that a Provenance records, with the versions that it is about. */
export interface Deed {
  readonly activity: Activity;
  /** Of a replacement the versions that stood then; of a merge those that it made. */
  readonly source: VersionKey;
  readonly target: VersionKey;
  /** The versions that it made of other resources, in any order. */
  readonly changed: readonly VersionKey[];
}

/** All versions that a replacement or merge made. */
export function madeBy({ activity, source, target, changed }: Deed): readonly VersionKey[] {
  return activity === 'merge' ? [target, source, ...changed] : changed;
}

/**
 * The record of a replacement or merge: the version of the target, that of the source, then each version that was made of other
 * resources.
 *
 * @param times when it began and ended: milliseconds since the epoch
 * @param seal by which the server knows that it wrote the record itself: Base64
 * @param task id of the Task, where a job did it in several steps of which this is one
 */
export function provenanceOf(
  { activity, source, target, changed }: Deed,
  times: { readonly start: number; readonly end: number },
  { clientId }: Pick<Principal, 'clientId'>,
  seal: string,
  task?: string,
): Resource {
  const [start, end] = [formatInstant(times.start), formatInstant(times.end)];
  const who = clientId === '' ? { display: 'A client without authorization' } : { identifier: { value: clientId } };
  return {
    resourceType: PROVENANCE,
    target: [target, source, ...changed].map((key) => ({ reference: referenceOf(key) })),
    ...(task !== undefined && { basedOn: [{ reference: `${TASK}/${task}` }] }),
    occurredPeriod: { start, end },
    recorded: end,
    authorization: [{ concept: { coding: [REASON] } }],
    activity: { coding: [{ system: LIFECYCLE, code: activity }] },
    agent: [{ who }],
    signature: [{ type: [SOURCE_SIGNATURE], when: end, data: seal }],
  } as Resource;
}

/** Id of the Provenance of one step of a job. They are numbered from 0 without gaps, so that none can be missed. */
export function stepRecordId(task: string, step: number): string {
  return `${task}-${step}`;
}

/** Id of the Task of the job that a Provenance records a step of. */
export function taskOf(resource: Resource): string | undefined {
  const [basedOn] = listOf(resource['basedOn']);
  const reference = isObject(basedOn) ? basedOn['reference'] : undefined;
  return typeof reference === 'string' ? /^Task\/([A-Za-z0-9.-]{1,64})$/.exec(reference)?.[1] : undefined;
}

/**
 * Reads the content of a Provenance; undefined: it records no replacement or merge. Its seal shows whether the server or a
 * client wrote it.
 */
export function readDeed(resource: Resource): Deed | undefined {
  const activity = activityOf(resource['activity']);
  const keys = listOf(resource['target']).map((each) => readVersionKey(isObject(each) ? each['reference'] : undefined));
  const [target, source, ...changed] = keys;
  if (activity === undefined || target === undefined || source === undefined) return undefined;
  const known = changed.filter((key) => key !== undefined);
  return known.length < changed.length ? undefined : { activity, source, target, changed: known };
}

/** The seal of a record, whether or not it is right. */
export function sealOf(resource: Resource): string | undefined {
  const [signature] = listOf(resource['signature']);
  const data = isObject(signature) ? signature['data'] : undefined;
  return typeof data === 'string' ? data : undefined;
}

/** `Type/id/_history/n`. */
export function referenceOf({ type, id, version }: VersionKey): string {
  return `${type}/${id}/_history/${version}`;
}

const VERSION = /^([A-Z][A-Za-z]+)\/([A-Za-z0-9.-]{1,64})\/_history\/([1-9][0-9]{0,14})$/;

function readVersionKey(reference: JsonValue | undefined): VersionKey | undefined {
  const [, type, id, version] = (typeof reference === 'string' && VERSION.exec(reference)) || [];
  return type === undefined || id === undefined ? undefined : { type, id, version: Number(version) };
}

function activityOf(concept: JsonValue | undefined): Activity | undefined {
  const codes = listOf(isObject(concept) ? concept['coding'] : undefined)
    .filter((coding): coding is JsonObject => isObject(coding) && coding['system'] === LIFECYCLE)
    .map(({ code }) => code);
  return codes.includes('link') ? 'link' : codes.includes('merge') ? 'merge' : undefined;
}
