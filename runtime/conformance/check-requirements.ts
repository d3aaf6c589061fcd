import type { Tables } from '../contract/tables.js';
import { CONDITIONS, expect, expectBundle, idsOf, SYSTEM_INTERACTIONS, TYPE_INTERACTIONS, type CheckContext } from './check-interactions.js'; // prettier-ignore
import { createMinimalValues } from './minimal-resource.js';
import { NotTaken, Unmet, type MutableJson, type Probe } from './probe.js';
import type { Requirement } from './requirements.js';
import { createSearchData, type SearchData } from './search-data.js';

/** Result of the check of one requirement. */
export interface Finding {
  readonly requirement: Requirement;
  /** `unasked`: there is no way known to find out. */
  readonly result: 'works' | 'fails' | 'unasked';
  /** Answer that came instead, or request that was made instead; absent: none. */
  readonly note?: string;
}

/** There is no way known to find out. */
class Unasked extends Error {}

interface Context extends CheckContext {
  readonly data: SearchData['resource'];
  readonly searches: SearchData;
}

type CheckRequirement = (context: Context, requirement: Requirement, type: string) => Promise<string | void>;

/**
 * Asks a server for everything that a statement asks of it, one thing after the other.
 *
 * @param probe creates the data; the caller has them removed
 * @param examples by type, what data are made from instead of resources with just what they have to have
 */
export async function* checkRequirements(
  requirements: readonly Requirement[],
  probe: Probe,
  tables: Tables,
  examples: ReadonlyMap<string, MutableJson>,
): AsyncGenerator<Finding> {
  const byPatient = requirements.filter(({ kind, name }) => kind === 'search' && name === 'patient');
  const minimal = createMinimalValues(tables);
  const types = new Set(byPatient.flatMap(({ type }) => type ?? []));
  const searches = createSearchData(
    tables,
    { ...minimal, resource: (type) => structuredClone(examples.get(type)) ?? minimal.resource(type) },
    probe,
    types,
  );
  const context: Context = { probe, searches, data: searches.resource, narrowing: searches.narrowing };
  // What is asked of the whole server is tried with a type that it has.
  const some = requirements.find(({ type }) => type !== undefined)?.type ?? 'Basic';
  for (const requirement of requirements) {
    try {
      const note = await CHECKS[requirement.kind](context, requirement, requirement.type ?? some);
      yield { requirement, result: 'works', ...(typeof note === 'string' && { note }) };
    } catch (error) {
      if (error instanceof Unasked || error instanceof NotTaken)
        yield { requirement, result: 'unasked', note: error.message };
      else if (error instanceof Unmet) yield { requirement, result: 'fails', note: error.message };
      else throw error;
    }
  }
}

const CHECKS: Readonly<Record<Requirement['kind'], CheckRequirement>> = {
  interaction: async (context, { name, type: own }, type) => {
    const check = (own === undefined ? SYSTEM_INTERACTIONS : TYPE_INTERACTIONS)[name];
    if (check === undefined) throw new Unasked(`the interaction ${name} is not known`);
    await check(context, type);
  },
  condition: async (context, { name }, type) => {
    const check = CONDITIONS[name];
    if (check === undefined) throw new Unasked(`${name} is not known`);
    await check(context, type);
  },
  search: checkSearch,
  include: checkInclude,
  operation: checkOperation,
  profile: checkProfile,
  format: async ({ probe }, { name }) => {
    const accept = name.includes('/') ? name : `application/fhir+${name}`;
    const answer = await expect(probe.ask('GET', 'metadata', { headers: { accept } }), 200);
    const sent = answer.headers.get('content-type')?.split(';')[0];
    if (sent !== accept.split(';')[0]) throw new Unmet(`the answer is ${sent ?? 'of no type'}`);
  },
};

/** Parameters of results, by any value that changes nothing of what is found. */
const RESULT_VALUES: Readonly<Record<string, string>> = {
  _sort: '_lastUpdated',
  _count: '10',
  _total: 'accurate',
  _summary: 'false',
  _elements: 'id',
  _maxresults: '10',
  _format: 'json',
  _pretty: 'true',
  _contained: 'false',
  _containedType: 'container',
};

/** Parameters whose values name other things: what a statement says of those is asked for itself, or nothing is known to ask. */
const BY_NAME: ReadonlySet<string> = new Set([
  '_include',
  '_revinclude',
  '_graph',
  '_has',
  '_list',
  '_in',
  '_query',
  '_score',
  '_type',
]);

async function checkSearch(context: Context, { name, definition }: Requirement, type: string): Promise<string | void> {
  const { probe, searches } = context;
  const content = await searches.resource(type);
  const control = RESULT_VALUES[name];
  if (BY_NAME.has(name)) throw new Unasked('no data are known that would show it');
  if (control !== undefined || name === '_id') {
    const { id } = await probe.create(content);
    const narrowing = searches.narrowing(content);
    const query = name === '_id' ? '' : `&${name}=${control}`;
    expectBundle(await expect(search(probe, type, `${narrowing}_id=${id}${query}`), 200), 'searchset', id);
    return;
  }
  const searched = await searches.fill(content, name, definition);
  if (searched === undefined) {
    await expect(search(probe, type, `${searches.narrowing(content)}${criterion(name, '1')}`), 200);
    throw new Unasked('it is answered, and no data are known that would show what it finds');
  }
  const { id } = await probe.create(content);
  const narrowing = /^patient\b/.test(name) ? '' : searches.narrowing(content);
  const find = async (asked: string): Promise<void> => {
    const found = await expect(search(probe, type, `${narrowing}${criterion(asked, searched.finds)}&_count=1000`), 200);
    if (!idsOf(found.body).includes(id)) throw new Unmet(`${asked}=${searched.finds} does not find what has it`);
    const missed = await expect(search(probe, type, `${narrowing}${criterion(asked, searched.misses)}&_count=1000`), 200); // prettier-ignore
    if (idsOf(missed.body).includes(id)) throw new Unmet(`${asked}=${searched.misses} finds what has it not`);
  };
  try {
    await find(name);
  } catch (error) {
    const code = searches.codeOf(type, name, definition);
    if (!(error instanceof Unmet) || code === undefined) throw error;
    await find(code);
    return `asked as ${code}, the code of its definition: ${name} fails`;
  }
}

async function checkInclude(context: Context, { name }: Requirement, type: string): Promise<void> {
  const { probe, searches } = context;
  const [kind = '', value = ''] = name.split('=');
  if (value.startsWith('*')) throw new Unasked('all references at once');
  const [from = '', parameter = ''] = value.split(':');
  const content = await searches.resource(from);
  const searched = await searches.fill(content, parameter, undefined, kind === '_include' ? undefined : type);
  const [, led, target] = /^([A-Z]\w+)\/(.+)$/.exec(searched?.finds ?? '') ?? [];
  if (target === undefined || (kind === '_revinclude' && led !== type)) {
    throw new Unasked('no data are known that would show it');
  }
  const { id } = await probe.create(content);
  const [asked, wanted] = kind === '_include' ? [id, target] : [target, id];
  const found = await expect(
    search(probe, type, `${kind === '_include' ? searches.narrowing(content) : ''}_id=${asked}&${name}`),
    200,
  );
  expectBundle(found, 'searchset', wanted);
}

async function checkOperation(context: Context, { name, definition, type: own }: Requirement): Promise<string> {
  const { probe } = context;
  const described = definition === undefined ? undefined : await definitionOf(probe, 'OperationDefinition', definition);
  if (described?.['affectsState'] === true) {
    const { body } = await expect(probe.ask('GET', 'metadata'), 200);
    if (!JSON.stringify(body).includes(`"${name.slice(1)}"`)) throw new Unmet('/metadata does not name it');
    return 'named by /metadata; not called, because it changes data';
  }
  const isOnInstance = described?.['type'] !== true && described?.['instance'] === true;
  const at = own === undefined ? '' : isOnInstance ? `${own}/${(await probe.create(await context.data(own))).id}/` : `${own}/`; // prettier-ignore
  const answer = await probe.ask('POST', `${at}${name}`, { body: { resourceType: 'Parameters' } });
  if ([404, 405, 501].includes(answer.status)) throw new Unmet(`the answer is ${answer.summary}`);
  return `answers ${answer.status} without parameters`;
}

async function checkProfile({ probe, data }: Context, { name }: Requirement, type: string): Promise<string> {
  const [url = ''] = name.split('|');
  if ((await definitionOf(probe, 'StructureDefinition', url)) === undefined) {
    throw new Unmet('the server has no StructureDefinition with this url');
  }
  const content = await data(type);
  const path = `${type}/$validate?profile=${encodeURIComponent(name)}`;
  const { body, summary } = await probe.ask('POST', path, { body: content });
  if (body?.['resourceType'] !== 'OperationOutcome') throw new Unmet(`$validate answers ${summary}`);
  const codes = ((body['issue'] ?? []) as MutableJson[]).map(({ code }) => code);
  if (codes.includes('not-found') || codes.includes('not-supported')) throw new Unmet(`$validate answers ${summary}`);
  return 'is there, and $validate checks by it';
}

async function definitionOf(probe: Probe, type: string, url: string): Promise<MutableJson | undefined> {
  const { status, body } = await probe.ask('GET', `${type}?url=${encodeURIComponent(url)}`);
  if (status === 401 || status === 403) throw new Unasked(`the token may not read ${type}s (system/${type}.rs)`);
  return ((body?.['entry'] ?? []) as { resource?: MutableJson }[])[0]?.resource;
}

/** Searches; a parameter that the server does not know is to be refused, not passed over. */
function search(probe: Probe, type: string, query: string): ReturnType<Probe['ask']> {
  return probe.ask('GET', `${type}?${query}`, { headers: { prefer: 'handling=strict' } });
}

function criterion(name: string, value: string): string {
  return `${encodeURIComponent(name)}=${encodeURIComponent(value)}`;
}
