import { Decimal } from '../../fhir/decimal.js';
import { equalJson } from '../../fhir/equal.js';
import { isObject, type JsonValue, type Resource } from '../../fhir/resource.js';
import type { Interaction } from '../../contract/index.js';
import type { Call } from '../call.js';
import type { Services } from '../services.js';

/** Parts of a call that describe its write. */
export type WrittenCall = Pick<Call, 'interaction'> & {
  readonly id?: string | undefined;
  readonly trace?: Call['trace'] | undefined;
  readonly principal: Pick<Call['principal'], 'clientId'>;
};

/** Interactions whose body is the resource that is written. */
const SENDING: ReadonlySet<Interaction> = new Set(['create', 'update', 'conditional-update']);

/** Whether the body of an interaction goes to the hooks. */
export function sendsResource(interaction: Interaction): boolean {
  return SENDING.has(interaction);
}

/**
 * A call with the resource that the hooks make of its body: they come before validation. Without hooks for the type it is the call
 * itself.
 *
 * @throws FhirError where a hook refuses
 */
export async function callToWrite(call: Call, services: Pick<Services, 'beforeWrite'>): Promise<Call> {
  const { beforeWrite } = services;
  const { body, interaction, type } = call;
  if (beforeWrite === undefined || type === undefined || !sendsResource(interaction)) return call;
  // The planner refuses what is no resource of the type.
  if (!isObject(body) || body['resourceType'] !== type) return call;
  const changed = await resourceToWrite(body as Resource, call, services);
  if (changed === body) return call;
  const { text: _text, ...rest } = call;
  return { ...rest, body: changed };
}

/**
 * Runs the hooks on a resource and returns the result. It is the same object where they change nothing, or its type has no
 * hooks.
 *
 * @throws FhirError where a hook refuses
 * @throws Error where a hook makes another resource of it, or what is no JSON
 */
export async function resourceToWrite(
  resource: Resource,
  { interaction, id, principal, trace }: WrittenCall,
  { beforeWrite }: Pick<Services, 'beforeWrite'>,
): Promise<Resource> {
  const { resourceType } = resource;
  if (beforeWrite?.has(resourceType) !== true) return resource;
  const originals: Originals = new WeakMap();
  const { clientId } = principal;
  const made = await beforeWrite.run(copyOf(resource, originals) as Resource, {
    interaction,
    ...(id !== undefined && { id }),
    ...(clientId !== '' && { clientId }),
    ...(trace !== undefined && { requestId: trace.requestId }),
  });
  const changed = restored(made, originals);
  if (!isObject(changed) || changed['resourceType'] !== resourceType || changed['id'] !== resource['id']) {
    throw new Error(`a beforeWrite hook made something else of a ${resourceType}: its type and id have to stay`);
  }
  return equalJson(changed, resource) ? resource : (changed as Resource);
}

/** By the objects and lists of a copy, those that they were made of. */
type Originals = WeakMap<object, JsonValue[] | { readonly [name: string]: JsonValue }>;

/** A copy with plain numbers, as the types of hooks have them. */
function copyOf(value: JsonValue, originals: Originals): unknown {
  if (value instanceof Decimal) return value.valueOf();
  if (typeof value !== 'object' || value === null) return value;
  const copy = Array.isArray(value)
    ? value.map((each) => copyOf(each, originals))
    : Object.fromEntries(Object.entries(value).map(([name, each]) => [name, copyOf(each, originals)]));
  originals.set(copy, value);
  return copy;
}

/**
 * JSON of what a hook returned. A number that is still where it was, in an object of the copy, has the text that was sent: the
 * precision of a decimal is significant. https://hl7.org/fhir/R5/datatypes.html#decimal
 *
 * @throws Error for what is no JSON
 */
function restored(value: unknown, originals: Originals): JsonValue {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value !== 'object') throw new Error(`a beforeWrite hook returned a ${typeof value}, which is no JSON`);
  const original = originals.get(value);
  const member = (name: string, each: unknown): JsonValue => {
    const before = original === undefined ? undefined : (original as { readonly [name: string]: JsonValue })[name];
    return before instanceof Decimal && before.valueOf() === each ? before : restored(each, originals);
  };
  if (Array.isArray(value)) return value.map((each, i) => member(String(i), each));
  const members = Object.entries(value).filter(([, each]) => each !== undefined);
  return Object.fromEntries(members.map(([name, each]) => [name, member(name, each)]));
}
