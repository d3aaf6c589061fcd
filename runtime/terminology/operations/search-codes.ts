import { searchAccess } from '../../auth/access/search-access.js';
import { withinReach } from '../../auth/scopes/reach.js';
import { MOST_SEARCHED_CODES, type CodeReader, type FoundCode } from '../../core/search-services/code-finder.js';
import { readStored } from '../../core/read-stored.js';
import type { CodeFinder, Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import type { Resource } from '../../fhir/resource.js';
import { ancestorsOf, descendantsOf, type CodeSystemIndex } from '../concepts.js';
import { Effort } from '../effort.js';
import { TerminologyFault } from '../fault.js';
import { keptMembers } from '../kept-members.js';
import { ANY_VERSION, createResolver, type Resolver } from '../resolver.js';
import { storedFinder } from '../stored.js';

/** The codes behind `:in`, `:not-in`, `:above` and `:below`. */
export const findCodes: CodeFinder = async (set, reader, services) => {
  const resolver = createResolver(storedFinder(reader, services));
  const effort = new Effort(reader.signal);
  const codes = set.is === 'in' ? await codesIn(set.valueSet, resolver, reader, services, effort) : await codesAround(set, resolver, effort); // prettier-ignore
  if (codes.length <= MOST_SEARCHED_CODES) return codes;
  const what = set.is === 'in' ? set.valueSet : `what is ${set.is} ${set.system}|${set.code}`;
  throw new FhirError('expansion-too-costly', `A search may look for ${MOST_SEARCHED_CODES} codes, and ${what} has ${codes.length}`); // prettier-ignore
};

async function codesIn(
  canonical: string,
  resolver: Resolver,
  reader: CodeReader,
  services: Parameters<CodeFinder>[2],
  effort: Effort,
): Promise<readonly FoundCode[]> {
  const relative = services.own.below(canonical);
  const [, id] = /^ValueSet\/([A-Za-z0-9\-.]{1,64})$/.exec(relative ?? canonical) ?? [];
  // The URL of a resource here may be the canonical of another one.
  const named = id === undefined || relative !== undefined ? await resolver.valueSet(canonical) : undefined;
  const valueSet = named ?? (id === undefined ? undefined : await readById(id, reader, services));
  if (valueSet === undefined) throw unknown(`The server does not know the value set ${JSON.stringify(canonical)}`);
  const used = { systems: new Set<string>(), valueSets: new Set<string>() };
  try {
    const { members } = await keptMembers(valueSet, {
      resolver,
      versions: ANY_VERSION,
      signal: reader.signal,
      used,
      effort,
    });
    const anyCase = new Set<string>();
    for (const [system, version] of new Map(members.map((each) => [each.system, each.version]))) {
      const index = await resolver.codeSystem(system, version);
      if (index !== undefined && saysNoCase(index)) anyCase.add(system);
    }
    return members.map(({ system, code }) => ({ system, code, ignoresCase: anyCase.has(system) }));
  } catch (error) {
    throw error instanceof TerminologyFault ? unknown(error.message) : error;
  }
}

async function codesAround(
  { is, system, code }: Extract<Parameters<CodeFinder>[0], { readonly is: 'above' | 'below' }>,
  resolver: Resolver,
  effort: Effort,
): Promise<readonly FoundCode[]> {
  const index = await resolver.codeSystem(system);
  if (index === undefined) throw unknown(`The server does not know the code system ${JSON.stringify(system)}`);
  const concept = index.find(code);
  if (concept === undefined) throw unknown(`The code system ${system} has no code ${JSON.stringify(code)}`);
  try {
    const others = is === 'below' ? descendantsOf(index, code, effort) : ancestorsOf(index, code, effort);
    const ignoresCase = saysNoCase(index);
    return [concept.code, ...others].map((each) => ({ system, code: each, ignoresCase }));
  } catch (error) {
    throw error instanceof TerminologyFault ? unknown(error.message) : error;
  }
}

/** Whether a code system says that case does not count. One that says nothing is searched as it is written: that takes an index. */
function saysNoCase({ resource }: CodeSystemIndex): boolean {
  return resource['caseSensitive'] === false;
}

async function readById(
  id: string,
  { access, signal }: CodeReader,
  services: Pick<Services, 'store' | 'tables' | 'largeTexts'>,
): Promise<Resource | undefined> {
  const seen = searchAccess(access, services.tables.resourceTypes);
  const reach = seen.onAny('ValueSet', ['r', 's']);
  if (reach === 'nothing') return undefined;
  const query = { type: 'ValueSet', where: withinReach({ ids: [id] }, reach), sort: [], count: 1, total: 'none' } as const; // prettier-ignore
  const [found] = (await services.store.find(query, signal)).versions;
  return found?.json === undefined ? undefined : readStored(found.json, services);
}

function unknown(text: string): FhirError {
  return new FhirError('parameter-invalid', text);
}
