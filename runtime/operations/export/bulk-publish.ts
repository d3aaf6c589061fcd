import { createHash } from 'node:crypto';

import { OPEN_ACCESS } from '../../auth/scopes/principal.js';
import type { Call, Reply } from '../../core/call.js';
import { exportFileId, NDJSON } from '../../core/job-files/read-job-file.js';
import { checkMayRead, readPublication, type Publication } from '../../core/bulk-data/publication.js';
import type { Services } from '../../core/services.js';
import { isKnown } from '../../core/write/preconditions.js';
import { FhirError } from '../../fhir/errors.js';
import { formatInstant } from '../../fhir/instant.js';

const MANIFEST_TYPE = 'http://hl7.org/fhir/uv/bulkdata/StructureDefinition/BulkPublishManifest';

/** Seconds after which the first files may be there. */
const SOON = 10;

/**
 * `$bulk-publish`: the manifest of what the server publishes. Who reads it may read every resource of the types in it.
 * https://build.fhir.org/ig/HL7/bulk-data/publish.html
 *
 * @throws FhirError `scope-missing`; `not-open` as long as no file is made
 */
export async function bulkPublish(call: Call, services: Services): Promise<Reply> {
  const { publish, store } = services;
  const publication = (await readPublication(store))?.publication;
  checkMayRead(publication?.types ?? publish?.types ?? services.tables.resourceTypes, call.principal.access);
  if (publication?.epoch === undefined) {
    const headers = { 'Retry-After': String(SOON) };
    throw new FhirError('not-open', 'The first files of what is published are being made; ask again', { headers });
  }
  const content = JSON.stringify(manifestOf(publication, publication.epoch, call, services));
  const versionId = createHash('sha256').update(content).digest('base64url').slice(0, 22);
  const headers = { 'Cache-Control': 'private, no-cache' };
  const { ifNoneMatch } = call.conditions;
  if (ifNoneMatch !== undefined && isKnown(ifNoneMatch, versionId)) return { status: 304, versionId, headers };
  return { status: 200, versionId, headers, body: { contentType: 'application/json', content, isJson: true } };
}

function manifestOf(
  { time, files }: Publication,
  epoch: number,
  { base, principal }: Call,
  { publish }: Services,
): object {
  const items = files.map(({ job, at, type, count, isOfDeleted }) => {
    return { isOfDeleted, item: { type, url: `${base}/Binary/${exportFileId(job, at)}`, count } };
  });
  return {
    manifestType: MANIFEST_TYPE,
    transactionTime: formatInstant(time),
    epochStartTime: formatInstant(epoch),
    ...(publish !== undefined && { updateCadence: `PT${publish.every / 1000}S` }),
    request: `${base}/$bulk-publish`,
    requiresAccessToken: principal.access !== OPEN_ACCESS,
    outputFormat: NDJSON,
    output: items.filter(({ isOfDeleted }) => isOfDeleted !== true).map(({ item }) => item),
    deleted: items.filter(({ isOfDeleted }) => isOfDeleted === true).map(({ item }) => item),
    error: [],
  };
}
