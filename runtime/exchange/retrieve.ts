import type { Call, Reply } from '../core/call.js';
import type { InteractionHandler, Services } from '../core/services.js';
import { FhirError } from '../fhir/errors.js';
import { admits, namesFormat } from '../format/negotiate.js';

const REFERENCE = 'DocumentReference';

/** Types that documents are stored as. */
export const DOCUMENT_TYPES: ReadonlySet<string> = new Set(['Binary', 'Bundle']);

/**
 * Makes of a read one that finds out whose document it gives, which the audit of a retrieval says (ITI-68), and that refuses clients who
 * accept neither the document's type nor a form of FHIR. The look is the server's act, so that it needs no scope, and nothing of it is in
 * the answer. https://profiles.ihe.net/ITI/MHD/ITI-68.html
 *
 * @throws FhirError `not-acceptable`
 */
export function withDocumentReference(read: InteractionHandler): InteractionHandler {
  return async (call, services) => {
    const reply = await read(call, services);
    const isRetrieval = services.exchange.actors.transactions.has('ITI-68') && DOCUMENT_TYPES.has(call.type ?? '');
    const refused = isRetrieval ? refusedType(call, reply) : undefined;
    const isAudited = services.audit.notes !== undefined;
    if (!isRetrieval || reply.status !== 200 || (!isAudited && refused === undefined)) return reply;
    const about = await findReference(call, services);
    if (about !== undefined && refused !== undefined) {
      throw new FhirError('not-acceptable', `The document is ${refused}; accept that, or application/fhir+json`);
    }
    return about === undefined ? reply : { ...reply, about: [about] };
  };
}

/** The type of the bytes that the answer gives, where the client accepts no such thing. */
function refusedType({ accept = '' }: Call, { content, around }: Reply): string | undefined {
  if (content === undefined || around !== undefined) return undefined;
  const isTaken = admits(accept, content.contentType) || namesFormat(accept);
  return isTaken ? undefined : content.contentType;
}

/** The DocumentReference with the URL of what is read; undefined: there is none. */
async function findReference(
  { base, type = '', id = '', signal }: Call,
  { store }: Services,
): Promise<NonNullable<Reply['about']>[number] | undefined> {
  const where = { param: 'location', any: [{ is: 'uri-equals', value: `${base}/${type}/${id}` }] } as const;
  const query = { type: REFERENCE, where, sort: [], count: 1, total: 'none' } as const;
  const [found] = (await store.find(query, signal)).versions;
  if (found === undefined) return undefined;
  return { type: REFERENCE, id: found.id, ...(found.json !== undefined && { json: found.json }) };
}
