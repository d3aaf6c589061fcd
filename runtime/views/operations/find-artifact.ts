import { neededOn } from '../../auth/access/needed-scopes.js';
import { scopeMissing } from '../../auth/access/refuse.js';
import type { Access } from '../../auth/scopes/access.js';
import { OPEN_ACCESS, Principal } from '../../auth/scopes/principal.js';
import type { Call } from '../../core/call.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import { quote } from '../../fhir/quote.js';
import type { Resource } from '../../fhir/resource.js';
import { findMatches } from '../../operations/common/find-matches.js';

/** The type of views. https://sql-on-fhir.org/ig/latest/StructureDefinition-ViewDefinition.html */
export const VIEW = 'ViewDefinition';

/** The type of queries. https://sql-on-fhir.org/ig/latest/StructureDefinition-SQLQuery.html */
export const QUERY = 'Library';

/** Versions of one canonical that are compared, at most. */
const MOST = 1000;

/** Versions as people count them: 10 comes after 9. */
const VERSIONS = new Intl.Collator('en', { numeric: true });

/**
 * Finds the stored view or query that a canonical names: of the version that it names; else the greatest, active ones before others.
 *
 * @throws FhirError `scope-missing` where the token gives neither type, `not-found`
 */
export async function findByCanonical(canonical: string, call: Call, services: Services): Promise<Resource> {
  const [url = '', version] = canonical.split('|');
  const params: [string, string][] = [['url', url.replaceAll(/[\\,$|]/g, '\\$&')]];
  if (version !== undefined) params.push(['version', version.replaceAll(/[\\,|$]/g, '\\$&')]);
  const found = await matchesOf([VIEW, QUERY], params, call, services);
  const [first] = found
    .filter((each) => version === undefined || each['version'] === version)
    .sort((a, b) => Number(isActive(b)) - Number(isActive(a)) || VERSIONS.compare(versionOf(b), versionOf(a)));
  if (first !== undefined) return first;
  throw new FhirError(
    'not-found',
    `There is no view and no query with the canonical ${quote(canonical.slice(0, 256))}`,
  );
}

/**
 * Finds the stored view or query that a reference names: relative, or below a base URL of this server.
 *
 * @throws FhirError `scope-missing` where the token gives neither type, `not-found`
 */
export async function findByReference(reference: unknown, call: Call, services: Services): Promise<Resource> {
  const named = services.own.readLocal(reference);
  const isArtifact = named !== undefined && (named.type === VIEW || named.type === QUERY);
  const [found] = await matchesOf(isArtifact ? [named.type] : [], [['_id', named?.id ?? '']], call, services);
  if (found !== undefined) return found;
  throw new FhirError('not-found', `There is no view and no query ${quote(String(reference).slice(0, 256))}`);
}

async function matchesOf(
  types: readonly string[],
  params: readonly [string, string][],
  call: Call,
  services: Services,
): Promise<Resource[]> {
  const { access } = call.principal;
  const isGiven = (type: string): boolean => access === OPEN_ACCESS || access.onAny(type, ['r', 's']) !== 'nothing';
  const known = [VIEW, QUERY].filter((type) => services.tables.resourceTypes.includes(type));
  if (!known.some(isGiven)) throw scopeMissing(neededOn(VIEW, 'r'), access);
  const found: Resource[] = [];
  for (const type of types.filter((each) => known.includes(each) && isGiven(each))) {
    for await (const each of findMatches(type, params, withReads(call), services)) {
      if (found.push(each) === MOST) return found;
    }
  }
  return found;
}

/** The call with `r` as good as `s`: who may read an artifact may run it, and who may search for it too. */
function withReads(call: Call): Call {
  const { access, ...known } = call.principal;
  if (access === OPEN_ACCESS) return call;
  const either: Access = {
    ...access,
    on: (type, letters) => access.onAny(type, letters === 's' ? ['r', 's'] : [letters]),
    isWhole: (type, letters) => access.onAny(type, letters === 's' ? ['r', 's'] : [letters]) === 'everything',
  };
  return { ...call, principal: Principal.ofClient({ ...known, access: either }) };
}

function isActive({ status }: Resource): boolean {
  return status === 'active';
}

function versionOf({ version }: Resource): string {
  return typeof version === 'string' ? version : '';
}
