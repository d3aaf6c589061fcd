import { isObject, type JsonObject, type JsonValue, type Resource } from '../fhir/resource.js';
import { rememberParsed } from '../core/write/parsed-bodies.js';
import type { Whole } from './messages.js';

/** Returns a body that a thread read, with what is known of it beside it. */
export function takeBody(found: JsonValue): JsonValue {
  const whole = found as unknown as Whole;
  const { tree } = whole;
  if (isObject(tree)) keep(tree as Resource, whole);
  return tree;
}

/** Keeps what was found of the body, of the resources in its entries, or of the one in a parameter beside each of these. */
function keep(body: Resource, { prepared, entries = [], judged }: Whole): void {
  if (prepared !== undefined) {
    const { faults, content } = prepared;
    const entryBytes = content?.entryBytes ?? Infinity;
    rememberParsed(body, {
      faults,
      ...(content && { content: { ...content, entryBytes, members: content.members.join('') } }),
    });
  }
  const bundled = body['entry'];
  for (const [index, faults] of entries) {
    const entry = Array.isArray(bundled) ? bundled[index] : undefined;
    const resource = isObject(entry) ? entry['resource'] : undefined;
    if (isObject(resource)) rememberParsed(resource as Resource, { faults });
  }
  if (judged === undefined) return;
  const { at, judgement } = judged;
  const subject = at === undefined ? body : (body['parameter'] as readonly JsonObject[])[at]?.['resource'];
  if (isObject(subject)) rememberParsed(subject as Resource, { faults: judgement.structure, judgement });
}
