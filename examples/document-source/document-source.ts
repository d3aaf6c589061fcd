// Publishes a file as a document of a patient (ITI-105 of IHE MHD 5.1.0, Simplified Publish): one request, with the bytes in it.
// node dist/document-source.js BASE CLIENT KEY.jwk IDENTIFIER FILE MEDIA-TYPE [REPLACED-ID]
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

import { backendServices, FhirClient, FhirClientError } from 'kiln/client';
import type { DocumentReference } from 'kiln/types';

const [base = '', clientId = '', keyFile = '', identifier = '', file = '', contentType = '', replaced] =
  process.argv.slice(2);

// A publication that names its patient by an identifier looks him up; one that replaces a document changes that one.
const scope = ['system/DocumentReference.c', 'system/Patient.s', ...(replaced ? ['system/DocumentReference.ru'] : [])];
const key = JSON.parse(readFileSync(keyFile, 'utf8'));
const client = new FhirClient({ base, token: backendServices({ base, clientId, key, scope: scope.join(' ') }) });

try {
  const { id, content } = await client.create(publicationOf(readFileSync(file)));
  console.log(`${id} ${content[0]?.attachment.url}`);
} catch (error) {
  if (!(error instanceof FhirClientError)) throw error;
  for (const { details, expression } of error.outcome?.issue ?? [])
    console.error(`${expression?.[0] ?? ''} ${details?.text ?? error.message}`);
  process.exitCode = 1;
}

function publicationOf(bytes: Buffer): DocumentReference {
  const [system = '', value = ''] = identifier.split('|');
  const uniqueId = { system: 'urn:ietf:rfc:3986', value: `urn:uuid:${crypto.randomUUID()}` };
  const type = {
    coding: [{ system: 'https://profiles.ihe.net/ITI/MHD/CodeSystem/IHE.MHD.MHDIdentifierType', code: 'uniqueId' }],
  };
  return {
    resourceType: 'DocumentReference',
    meta: {
      profile: ['https://profiles.ihe.net/ITI/MHD/StructureDefinition/IHE.MHD.SimplifiedPublish.DocumentReference'],
    },
    status: 'current',
    identifier: [{ ...uniqueId, type, use: 'usual' }],
    subject: { identifier: { system, value } },
    date: new Date().toISOString(),
    ...(replaced && {
      relatesTo: [
        {
          code: { coding: [{ system: 'http://hl7.org/fhir/document-relationship-type', code: 'replaces' }] },
          target: { reference: `DocumentReference/${replaced}` },
        },
      ],
    }),
    content: [
      {
        attachment: {
          contentType,
          data: bytes.toString('base64'),
          // The server compares both, so that nothing is lost on the way.
          size: String(bytes.length),
          hash: createHash('sha1').update(bytes).digest('base64'),
        },
      },
    ],
  };
}
