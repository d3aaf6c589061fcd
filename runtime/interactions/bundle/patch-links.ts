import { isObject, type JsonObject, type JsonValue } from '../../fhir/resource.js';
import { referenceTarget, type Link, type LinkFinder } from './links.js';

const REFERENCE = 'reference';

/**
 * References in the values of a JSON Patch. It does not say what types these have, so that only what is called `reference`
 * is taken for one: in a value, or at the end of a path.
 */
export function findPatchLinks(patch: JsonValue, finder: LinkFinder): Link[] {
  const links: Link[] = [];
  for (const operation of Array.isArray(patch) ? patch.filter(isObject) : []) {
    const { path, value } = operation;
    if (typeof path === 'string' && path.endsWith(`/${REFERENCE}`)) addLink(operation, 'value', finder, links);
    else if (value !== undefined) walk(value, finder, links);
  }
  return links;
}

function walk(value: JsonValue, finder: LinkFinder, out: Link[]): void {
  if (Array.isArray(value)) for (const each of value) walk(each, finder, out);
  else if (isObject(value)) {
    addLink(value, REFERENCE, finder, out);
    for (const each of Object.values(value)) walk(each, finder, out);
  }
}

function addLink(holder: JsonObject, key: string, finder: LinkFinder, out: Link[]): void {
  const text = holder[key];
  const to = typeof text === 'string' ? referenceTarget(holder, text, finder) : undefined;
  if (typeof text === 'string' && to !== undefined) out.push({ holder, key, text, to });
}
