import type { Call, Reply } from '../../core/call.js';
import { createCallOf } from '../../core/create-call.js';
import type { Services } from '../../core/services.js';
import { referenceFrom } from '../../exchange/header/document-header.js';
import { findDocumentPatient } from '../../exchange/header/find-patient.js';
import { readHeader } from '../../exchange/header/read-header.js';
import { FhirError } from '../../fhir/errors.js';
import { newId } from '../../fhir/id.js';
import type { Resource } from '../../fhir/resource.js';
import { writeJson } from '../../format/write-json.js';
import { execute } from '../../interactions/execute.js';
import { readArguments, valueOf } from '../common/arguments.js';

const REFERENCE = 'DocumentReference';
const WHOLE = { return: 'representation' } as const;

/**
 * `DocumentReference/$generate-metadata`: publishes a structured document by the metadata in its header. The document, the
 * DocumentReference that is made of it and a submission set are stored, or nothing. IHE MHD 5.1.0, 2:3.106 (Generate Metadata)
 *
 * @throws FhirError `document-invalid`, `patient-unknown`, and as a publication
 */
export async function generateMetadata(call: Call, services: Services): Promise<Reply> {
  const document = valueOf(readArguments(call, services), 'document') as Resource;
  const { header, attachment } = await readHeader(document, services);
  const publishFor = (subject: string): Promise<Reply> =>
    execute(createCallOf(call, referenceFrom(header, attachment, subject, document['meta']), WHOLE), services);
  const subject = await findDocumentPatient(header.subject, call, services).catch(async (error: unknown) => {
    // A constraint on what may be created is judged first, so that the answer does not tell whether a patient outside of it is there.
    await publishFor(`Patient/${newId()}`).catch((refused: unknown) => {
      if (!(refused instanceof FhirError) || refused.code !== 'patient-unknown') throw refused;
    });
    throw error;
  });
  const reply = await publishFor(subject);
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
