import { withinReach, type Reach } from '../../auth/scopes/reach.js';
import { FhirError } from '../../fhir/errors.js';
import { isId } from '../../fhir/id.js';
import type { Resource } from '../../fhir/resource.js';
import type { OwnBases } from '../../path/own-bases.js';
import type { Condition } from '../../search/query/query.js';
import type { Call } from '../../core/call.js';
import { readStored } from '../../core/read-stored.js';
import type { Services } from '../../core/services.js';
import { GRAPH } from './read-graph.js';
import { quote } from '../../fhir/quote.js';

/** Longest name, in characters. */
const LONGEST = 2048;

/**
 * The GraphDefinition that `_graph` names by id, reference or canonical URL. One that the token does not show is missing.
 * https://hl7.org/fhir/R5/search.html#_graph
 *
 * @throws FhirError `parameter-invalid`
 */
export async function findGraph(
  named: string,
  reach: Reach,
  { signal }: Pick<Call, 'signal'>,
  services: Pick<Services, 'store' | 'largeTexts' | 'own'>,
): Promise<Resource> {
  const where = withinReach(conditionOf(named, services.own), reach);
  const { versions } = await services.store.find({ type: GRAPH, where, sort: [], count: 2, total: 'none' }, signal);
  const [found, second] = versions;
  if (found?.json === undefined) throw wrong(`names ${quote(named)}, and there is no such ${GRAPH}`);
  if (second !== undefined) throw wrong(`names ${quote(named)}, and there are several; name one by its id or version`);
  return readStored(found.json, services);
}

function conditionOf(named: string, own: OwnBases): Condition {
  if (named.length > LONGEST) throw wrong(`has ${named.length} characters, and may have ${LONGEST}`);
  if (isId(named)) return { ids: [named] };
  const read = own.readLocal(named);
  if (read !== undefined) {
    if (read.type !== GRAPH) throw wrong(`names a ${GRAPH}, not ${quote(named)}`);
    if (read.version === undefined) return { ids: [read.id] };
    throw wrong(`goes by the current version of a ${GRAPH}, not by ${quote(named)}`);
  }
  const [url = '', version] = named.split('|', 2);
  if (!/^[a-z][a-z0-9+.-]*:./i.test(url))
    throw wrong(`is ${GRAPH}/42, its id or its canonical URL, not ${quote(named)}`);
  const byUrl: Condition = { param: 'url', any: [{ is: 'uri-equals', value: url }] };
  if (version === undefined) return byUrl;
  return { all: [byUrl, { param: 'version', any: [{ is: 'token', code: version }] }] };
}

function wrong(what: string): FhirError {
  return new FhirError('parameter-invalid', `The parameter "_graph" ${what}`);
}
