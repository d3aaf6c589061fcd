// Finds the documents of a patient, and fetches them (ITI-67 and ITI-68 of IHE MHD 5.1.0).
// node dist/document-consumer.js BASE CLIENT KEY.jwk IDENTIFIER FOLDER
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { backendServices, FhirClient } from 'kiln/client';
import type { Attachment } from 'kiln/types';

const [base = '', clientId = '', keyFile = '', identifier = '', folder = ''] = process.argv.slice(2);
const key = JSON.parse(readFileSync(keyFile, 'utf8'));
const scope = 'system/DocumentReference.rs system/Patient.rs system/Binary.r system/Bundle.r';
const token = backendServices({ base, clientId, key, scope });
const client = new FhirClient({ base, token });

mkdirSync(folder, { recursive: true });
const criteria = { 'patient.identifier': identifier, status: 'current', _sort: '-date' } as const;
for await (const { id, content } of client.search('DocumentReference', criteria)) {
  for (const { attachment } of content) {
    const bytes = await fetchDocument(attachment);
    writeFileSync(join(folder, `${id}`), bytes);
    console.log(`${id} ${attachment.contentType} ${bytes.length}`);
  }
}

/** @throws Error where the bytes are not those that were published */
async function fetchDocument({ url = '', contentType = '*/*', size, hash }: Attachment): Promise<Buffer> {
  // The token is for this server alone.
  if (!url.startsWith(`${base}/`)) throw new Error(`the document is on another server: ${url}`);
  const headers = { accept: contentType, authorization: `Bearer ${await token()}` };
  const answer = await fetch(url, { headers, redirect: 'error' });
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
  const bytes = Buffer.from(await answer.arrayBuffer());
  if (size !== undefined && Number(size) !== bytes.length)
    throw new Error(`${url} has ${bytes.length} bytes of ${size}`);
  if (hash !== undefined && createHash('sha1').update(bytes).digest('base64') !== hash) {
    throw new Error(`${url} has another hash than was published`);
  }
  return bytes;
}
