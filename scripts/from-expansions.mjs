// What the official expansions say of code systems that the FHIR package lacks: those of terminology.hl7.org first of all.

/** Marks a code system whose codes are known, and how they are arranged is not: runtime/terminology/concepts.ts reads it. */
const IS_FLAT = 'urn:kiln:hierarchy-unknown';

/**
 * Gives value sets of the package their official expansion where it has codes of systems that the package lacks. An expansion that is
 * limited is of no use: it says of no code that it is not in.
 *
 * @param core resources of the FHIR package; value sets are given their expansion
 * @param official value sets of the package of expansions
 * @returns value sets that the package lacks, and the code systems of which an expansion has all codes
 */
export function fromExpansions(core, official) {
  const known = new Set(core.filter(isKnown).map(({ url }) => url));
  const byUrl = new Map(core.filter(({ resourceType }) => resourceType === 'ValueSet').map((each) => [each.url, each]));
  const added = [];
  const systems = new Map();
  for (const valueSet of official) {
    const codes = codesOf(valueSet.expansion?.contains);
    const foreign = new Set(codes.map(({ system }) => system).filter((system) => !known.has(system)));
    if (foreign.size === 0 || valueSet.expansion.total !== codes.length || isLimited(valueSet)) continue;
    const { contains, total, timestamp } = valueSet.expansion;
    const own = byUrl.get(valueSet.url);
    if (own === undefined) added.push({ ...valueSet, expansion: { timestamp, total, contains } });
    else own.expansion = { timestamp, total, contains };
    for (const system of foreign) if (hasAll(valueSet, system)) systems.set(system, codeSystem(system, valueSet));
  }
  return [...added, ...systems.values()];
}

function isKnown({ resourceType, content }) {
  return resourceType === 'CodeSystem' && content !== 'not-present';
}

function isLimited({ expansion }) {
  return expansion.parameter?.some(({ name }) => name === 'limitedExpansion') === true;
}

function codesOf(contains = []) {
  return contains.flatMap((each) => [...(each.code === undefined ? [] : [each]), ...codesOf(each.contains)]);
}

function hasAll({ compose }, url) {
  if (compose?.exclude !== undefined || compose?.inactive === false) return false;
  return compose?.include?.some((each) => each.system === url && !each.concept && !each.filter && !each.valueSet) === true; // prettier-ignore
}

function codeSystem(url, { expansion }) {
  const versions = expansion.parameter?.map(({ name, valueUri }) => (name === 'version' ? valueUri : undefined)) ?? [];
  const [, version] = versions.find((each) => each?.startsWith(`${url}|`))?.split('|') ?? [];
  const concept = codesOf(expansion.contains)
    .filter(({ system }) => system === url)
    .map(({ code, display, abstract, inactive }) => {
      const property = [
        ...(abstract ? [{ code: 'notSelectable', valueBoolean: true }] : []),
        ...(inactive ? [{ code: 'inactive', valueBoolean: true }] : []),
      ];
      return { code, display, ...(property.length > 0 && { property }) };
    });
  const head = { resourceType: 'CodeSystem', extension: [{ url: IS_FLAT, valueBoolean: true }], url, version };
  return { ...head, name: nameOf(url), status: 'active', caseSensitive: true, content: 'complete', concept };
}

/** `v3-MaritalStatus` is the name of http://terminology.hl7.org/CodeSystem/v3-MaritalStatus. */
function nameOf(url) {
  return url.slice(url.lastIndexOf('/') + 1);
}
