import type { Call, Reply } from '../../core/call.js';
import type { Services } from '../../core/services.js';
import type { StoredPurpose } from '../../core/write/large-bodies.js';
import { readStored } from '../../core/read-stored.js';
import { FhirError } from '../../fhir/errors.js';
import { isId, whyNoId } from '../../fhir/id.js';
import type { Resource } from '../../fhir/resource.js';
import { execute } from '../../interactions/execute.js';
import { quote } from '../../fhir/quote.js';
import { invalidParameter } from '../../fhir/catalog/invalid-parameter.js';

/** A resource that an argument names, and perhaps one of its versions. */
export interface NamedResource {
  readonly type: string;
  readonly id: string;
  readonly versionId?: string;
}

/** The resource behind a reference, of the version that it names or of the current one. */
export interface ReadResource {
  readonly resource: Resource;
  readonly version: number;
}

/**
 * Reads `Type/id`, `Type/id/_history/n` or `Type/id/version/n`, below this server's base or relative.
 *
 * @param name of the parameter, for the message
 * @throws FhirError `parameter-invalid`
 */
export function parseNamed(text: string, name: string, services: Pick<Services, 'tables' | 'own'>): NamedResource {
  const relative = services.own.below(text) ?? text;
  const [type = '', id = '', word, versionId, ...rest] = relative.split('/');
  const hasForm = word === undefined || ((word === '_history' || word === 'version') && versionId !== undefined);
  if (!hasForm || rest.length > 0 || versionId === '' || !services.tables.resourceTypes.includes(type)) {
    throw invalidParameter(name, `is Type/id or Type/id/_history/version, not ${quote(text)}`);
  }
  if (!isId(id)) throw invalidParameter(name, `names no id: ${whyNoId(id) ?? 'it is missing'}`);
  return { type, id, ...(versionId !== undefined && { versionId }) };
}

/**
 * Reads a resource as a request of its own would: the token needs `r` on its type and must see it.
 *
 * @param purpose what else is done with one that is large
 * @throws FhirError `scope-missing`, `not-found`, `deleted`
 */
export async function readNamed(
  named: NamedResource,
  call: Call,
  services: Services,
  purpose: StoredPurpose = 'parse',
): Promise<ReadResource> {
  const reply = await execute(readCall(named, call), services);
  const json = reply.json ?? (await textOfContent(reply, services));
  return { resource: await readStored(json, services, purpose), version: Number(reply.versionId) };
}

/** The JSON text of a Binary whose content is kept apart. */
async function textOfContent({ content, around }: Reply, { limits }: Services): Promise<string> {
  if (content === undefined || around === undefined) throw new Error('a read without content');
  if (content.size > limits.resource) {
    throw new FhirError(
      'too-costly',
      `The content of the Binary has ${content.size} bytes, too many for this operation`,
    );
  }
  const pieces: Uint8Array[] = [];
  for await (const piece of await content.open()) pieces.push(Uint8Array.from(piece));
  return around.head + Buffer.concat(pieces).toString('base64') + around.tail;
}

/** The read, or the read of a version, behind a name. */
function readCall({ type, id, versionId }: NamedResource, call: Call): Call {
  const { principal, base, prefer, trace, signal } = call;
  return {
    interaction: versionId === undefined ? 'read' : 'vread',
    ...{ principal, base, prefer, type, id },
    ...(versionId !== undefined && { versionId }),
    ...(trace !== undefined && { trace }),
    ...(signal !== undefined && { signal }),
    params: new URLSearchParams(),
    conditions: {},
  };
}
