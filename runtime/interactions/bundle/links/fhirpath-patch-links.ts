import { type JsonObject, objectsOf, type Resource } from '../../../fhir/resource.js';
import { fhirPathSpot, type NamedSpot } from './fhirpath-spot.js';
import { childSpot, rootSpot, spotTarget, type Spot } from './link-spot.js';
import { visit, walkResource, type Link, type LinkFinder } from './links.js';

const VALUE = 'value';

/**
 * Links in the values of a FHIRPath Patch. A primitive has the type of the element that it is assigned to, whatever type the
 * patch states: `valueString` may be a reference. Paths and malformed parts have no links; applying the patch reports the
 * latter. https://hl7.org/fhir/R5/fhirpatch.html
 *
 * @param type of the resource that is patched
 */
export function findFhirPathPatchLinks(parameters: Resource, type: string, finder: LinkFinder): Link[] {
  const links: Link[] = [];
  for (const { part } of objectsOf(parameters['parameter'])) {
    const parts = new Map(objectsOf(part).map((each) => [each['name'], each]));
    const value = parts.get(VALUE);
    if (value === undefined) continue;
    const { spot, name } = targetSpot(parts, value, type, finder);
    walkPart(value, spot, name, finder, links);
  }
  return links;
}

function targetSpot(
  parts: ReadonlyMap<unknown, JsonObject>,
  value: JsonObject,
  type: string,
  finder: LinkFinder,
): NamedSpot {
  const path = textOf(parts.get('path'));
  const root = rootSpot(type, finder);
  if (textOf(parts.get('type')) !== 'add') return fhirPathSpot(path, type, root, suffixOf(value), finder);
  const name = textOf(parts.get('name'));
  const { spot } = fhirPathSpot(path, type, root, undefined, finder);
  return { spot: childSpot(spot, name, suffixOf(value)), name };
}

function walkPart(part: JsonObject, spot: Spot, name: string, finder: LinkFinder, out: Link[]): void {
  const places = finder.plans('Parameters.parameter')?.places;
  for (const [key, value] of Object.entries(part)) {
    const place = places?.get(key);
    if (key === 'resource') walkResource(value, finder, out);
    else if (key === 'part') {
      for (const each of objectsOf(value)) {
        const own = typeof each['name'] === 'string' ? each['name'] : '';
        walkPart(each, childSpot(spot, own, suffixOf(each)), own, finder, out);
      }
    } else if (key.startsWith(VALUE) && typeof value === 'string') {
      const to = spotTarget(part, key, value, spot, name, finder);
      if (to !== undefined) out.push({ holder: part, key, text: value, to });
    } else if (/^_?value/.test(key) && typeof place === 'object') visit(part, key, value, place, finder, out);
  }
}

/** The type of a part's value, taken from the name `value[x]`. */
function suffixOf(part: JsonObject): string | undefined {
  const key = Object.keys(part).find((each) => each.startsWith(VALUE));
  return key?.slice(VALUE.length);
}

function textOf(part: JsonObject | undefined): string {
  const value = part?.[`${VALUE}${suffixOf(part) ?? ''}`];
  return typeof value === 'string' ? value : '';
}
