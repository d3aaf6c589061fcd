import type { Call, Reply } from '../../core/call.js';
import type { Services } from '../../core/services.js';
import { referenceFrom } from '../../exchange/header/document-header.js';
import { findDocumentPatient } from '../../exchange/header/find-patient.js';
import { readHeader } from '../../exchange/header/read-header.js';
import type { Resource } from '../../fhir/resource.js';
import { writeJson } from '../../format/write-json.js';
import { execute } from '../../interactions/execute.js';
import { readArguments, valueOf } from '../arguments.js';

const REFERENCE = 'DocumentReference';

/**
 * `DocumentReference/$generate-metadata`: publishes a structured document by the metadata in its header. The document, the
 * DocumentReference that is made of it and a submission set are stored, or nothing. IHE MHD 5.1.0, 2:3.106 (Generate Metadata)
 *
 * @throws FhirError `document-invalid`, `patient-unknown`, and as a publication
 */
export async function generateMetadata(call: Call, services: Services): Promise<Reply> {
  const document = valueOf(readArguments(call, services), 'document') as Resource;
  const { header, attachment } = await readHeader(document, services);
  const subject = await findDocumentPatient(header.subject, call, services);
  const reply = await publish(referenceFrom(header, attachment, subject, document['meta']), call, services);
  const { location = '' } = reply;
  const id = /^DocumentReference\/([^/]+)/.exec(location)?.[1] ?? '';
  const reference = { reference: `${REFERENCE}/${id}` };
  const answer = { resourceType: 'Parameters', parameter: [{ name: REFERENCE, valueReference: reference }] };
  return {
    status: 200,
    json: writeJson(answer),
    about: [{ type: REFERENCE, id, ...(reply.json !== undefined && { json: reply.json }) }],
    ...(reply.location !== undefined && { contentLocation: reply.location }),
  };
}

/** Published as a request of its own would. */
function publish(body: Resource, call: Call, services: Services): Promise<Reply> {
  const { principal, base, trace, signal } = call;
  const create: Call = {
    interaction: 'create',
    ...{ principal, base, type: REFERENCE, body },
    ...(trace !== undefined && { trace }),
    ...(signal !== undefined && { signal }),
    params: new URLSearchParams(),
    conditions: {},
    prefer: { return: 'representation' },
  };
  return execute(create, services);
}
