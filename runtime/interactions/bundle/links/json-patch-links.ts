import { isObject, type JsonObject, type JsonValue } from '../../../fhir/resource.js';
import { childSpot, rootSpot, spotTarget, type Spot } from './link-spot.js';
import { visit, walkResource, type Link, type LinkFinder } from './links.js';

/** Operations that have a value. https://www.rfc-editor.org/rfc/rfc6902#section-4 */
const VALUED: ReadonlySet<unknown> = new Set(['add', 'replace', 'test']);
const INDEX = /^(?:[0-9]+|-)$/;

/**
 * Links in the values of a JSON Patch, by the types of the elements that its paths lead to. Malformed operations have none:
 * applying the patch reports them.
 *
 * @param type of the resource that is patched
 */
export function findJsonPatchLinks(patch: JsonValue, type: string, finder: LinkFinder): Link[] {
  const links: Link[] = [];
  const root = rootSpot(type, finder);
  for (const operation of Array.isArray(patch) ? patch.filter(isObject) : []) {
    const { op, path, value } = operation;
    if (!VALUED.has(op) || typeof path !== 'string' || value === undefined) continue;
    // Names of elements have no "~" or "/", so the pointer needs no unescaping.
    const names = path
      .split('/')
      .slice(1)
      .filter((token) => !INDEX.test(token));
    const spot = names.reduce((at: Spot, name) => childSpot(at, name), root);
    visitSpot(operation, 'value', value, spot, names.at(-1) ?? '', finder, links);
  }
  return links;
}

function visitSpot(
  holder: JsonObject | JsonValue[],
  key: string | number,
  value: JsonValue,
  spot: Spot,
  name: string,
  finder: LinkFinder,
  out: Link[],
): void {
  const { place } = spot;
  if (place === undefined) return;
  if (Array.isArray(value)) value.forEach((each, i) => visitSpot(value, i, each, spot, name, finder, out));
  else if (place !== 'unknown') visit(holder, key, value, place, finder, out);
  else if (isObject(value)) {
    if (typeof value['resourceType'] === 'string') walkResource(value, finder, out);
    else for (const [inner, each] of Object.entries(value)) visitSpot(value, inner, each, spot, inner, finder, out);
  } else if (typeof value === 'string') {
    const to = spotTarget(holder, key, value, spot, name, finder);
    if (to !== undefined) out.push({ holder, key, text: value, to });
  }
}
