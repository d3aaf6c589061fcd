import type { Call, Reply } from '../core/call.js';
import type { InteractionHandler, Services } from '../core/services.js';

const REFERENCE = 'DocumentReference';

/** Types that documents are stored as. */
export const DOCUMENT_TYPES: ReadonlySet<string> = new Set(['Binary', 'Bundle']);

/**
 * Makes of a read one that finds out whose document it gives, which the audit of a retrieval says (ITI-68). The look is the server's act, so
 * that it needs no scope, and nothing of it is in the answer.
 */
export function withDocumentReference(read: InteractionHandler): InteractionHandler {
  return async (call, services) => {
    const reply = await read(call, services);
    const isAudited = services.audit.notes !== undefined && services.exchange.actors.transactions.has('ITI-68');
    if (!isAudited || reply.status !== 200 || !DOCUMENT_TYPES.has(call.type ?? '')) return reply;
    const about = await findReference(call, services);
    return about === undefined ? reply : { ...reply, about: [about] };
  };
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
