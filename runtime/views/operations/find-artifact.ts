import { neededOn, printNeeded, uniteNeeded, type NeededScopes } from '../../auth/access/needed-scopes.js';
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
 * @throws FhirError `scope-missing` where the token gives neither type, `not-found`, which names the type that it does not give
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
  throw notFound(`with the canonical ${quote(canonical.slice(0, 256))}`, [VIEW, QUERY], call, services);
}

/**
 * Finds the stored view or query that a reference names: relative, or below a base URL of this server.
 *
 * @throws FhirError as `findByCanonical`
 */
export async function findByReference(reference: unknown, call: Call, services: Services): Promise<Resource> {
  const named = services.own.readLocal(reference);
  const types = [VIEW, QUERY].filter((type) => named?.type === type);
  const [found] = await matchesOf(types, [['_id', named?.id ?? '']], call, services);
  if (found !== undefined) return found;
  throw notFound(quote(String(reference).slice(0, 256)), types, call, services);
}

async function matchesOf(
  types: readonly string[],
  params: readonly [string, string][],
  call: Call,
  services: Services,
): Promise<Resource[]> {
  const known = knownOf([VIEW, QUERY], services);
  // No type is named: any would do.
  const asked = types.length === 0 ? known : knownOf(types, services);
  if (hiddenOf(known, call).length === known.length) throw scopeMissing(readsOf(asked), call.principal.access);
  const hidden = hiddenOf(types, call);
  const found: Resource[] = [];
  for (const type of knownOf(types, services).filter((each) => !hidden.includes(each))) {
    for await (const each of findMatches(type, params, withReads(call), services)) {
      if (found.push(each) === MOST) return found;
    }
  }
  return found;
}

function knownOf(types: readonly string[], { tables }: Services): readonly string[] {
  return types.filter((type) => tables.resourceTypes.includes(type));
}

/** The types of which a token shows nothing. */
function hiddenOf(types: readonly string[], { principal: { access } }: Call): readonly string[] {
  return types.filter((type) => access !== OPEN_ACCESS && access.onAny(type, ['r', 's']) === 'nothing');
}

/** The scopes that show artifacts of types; `s` does as well. */
function readsOf(types: readonly string[]): NeededScopes {
  return uniteNeeded(types.map((type) => neededOn(type, 'r')));
}

/** That there is none, with the scopes that could show one: alike whether one is hidden or not. */
function notFound(what: string, types: readonly string[], call: Call, services: Services): FhirError {
  const lacked = printNeeded(readsOf(hiddenOf(knownOf(types, services), call)));
  const why = lacked === '' ? '' : ` that the token shows; it lacks ${lacked}`;
  return new FhirError('not-found', `There is no view and no query ${what}${why}`);
}

/** The call with `r` as good as `s`: a client that may read a resource may name it here, and one that may search for it too. */
export function withReads(call: Call): Call {
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
