import { append } from '../../fhir/lists.js';
import { includeReach } from '../../auth/access/narrow-includes.js';
import { searchAccess } from '../../auth/access/search-access.js';
import type { Access } from '../../auth/scopes/access.js';
import { withinReach } from '../../auth/scopes/reach.js';
import { FhirError } from '../../fhir/errors.js';
import { checkAborted } from '../../fhir/yield-until.js';
import type { Yield } from '../../fhir/yield-to-event-loop.js';
import type { Resource } from '../../fhir/resource.js';
import { isMembership } from '../../indexing/parameter-kinds.js';
import { splitAt } from '../../search/parse/parse-value.js';
import type { UsedParameter } from '../../search/parse/used-by.js';
import type { FindQuery, Store, StoredVersion } from '../../store/store.js';
import type { Call } from '../../core/call.js';
import { checkConstraintIndexes, recordConstraints } from '../../core/access/constraint-index-status.js';
import { findAll } from '../../core/search-services/find-all.js';
import { findPage } from '../execute/find-page.js';
import { isInclude } from '../parse/read-include.js';
import { RESULT_PARAMETERS } from '../../search/control-parameters.js';
import { constrainSearch } from '../authorize/constrain-search.js';
import { readSearchRequest, type SearchRequest } from '../parse/search-request.js';
import type { Services } from '../../core/services.js';
import { findGraph } from './find-graph.js';
import type { FollowPath } from './graph-path.js';
import { ANY, GRAPH, readGraph, REF, standsAt, type GraphLink, type GraphNode } from './read-graph.js';

type Signal = AbortSignal | undefined;

/** A graph within the constraints of a token. */
export interface GraphPlan {
  readonly starts: readonly GraphNode[];
  readonly links: readonly PlannedLink[];
  /** The parameters of the links' searches. */
  readonly used: readonly UsedParameter[];
}

/** A link and the search for its targets. */
export interface PlannedLink extends Pick<GraphLink, 'source' | 'target' | 'rules'> {
  /** Number of resources from which it can be followed at once. */
  readonly most: number;
  /** The targets that the token shows; a target may appear several times. */
  follow(sources: readonly StoredVersion[], signal: Signal): AsyncIterable<StoredVersion>;
}

/** Parts that following a graph works with. */
export interface GraphSource {
  readonly call: Call;
  readonly services: Services;
  /** Milliseconds since the epoch, for `ap` of dates. */
  readonly now: number;
  readonly readContent: (version: StoredVersion) => Promise<Resource>;
  readonly pace: Yield;
}

/** Resources that one query returns, and references that one criterion has. */
const CHUNK = 200;

/**
 * Reads the graph that a search names, before the search runs: its errors and its scopes do not depend on the stored resources.
 * A link to resources that the token does not show is left out, as with `_include`.
 *
 * @param types that are searched
 * @throws FhirError `parameter-invalid`, `parameter-unknown`, `scope-missing`, `index-not-current`, `too-costly`
 */
export async function planGraph(
  named: string,
  types: readonly string[],
  source: GraphSource,
  signal: Signal,
): Promise<GraphPlan> {
  const { call, services, pace } = source;
  const { tables } = services;
  const given = call.principal.access;
  const access = recordConstraints(searchAccess(given, tables.resourceTypes));
  const reach = access.on(GRAPH, 'r');
  // Errors reveal parts of the graph, so the constraints are checked first.
  await checkConstraintIndexes(access.constraints, services);
  const graph = readGraph(await findGraph(named, reach, signal === undefined ? {} : { signal }, services), tables);
  if (!types.some((type) => graph.starts.some((start) => standsAt(start, type)))) {
    const starts = [...new Set(graph.starts.map((start) => start.type))].join(', ');
    const what = `starts at resources of ${starts === '' ? 'no type' : `the type ${starts}`}, and what is searched are others`;
    throw new FhirError('parameter-invalid', `The graph ${graph.name} ${what}`);
  }
  const links: PlannedLink[] = [];
  const used: UsedParameter[] = [];
  for (const link of graph.links) {
    await pace();
    checkAborted(signal);
    const planned = 'follow' in link.way ? planPath(link, link.way.follow, access, source) : await planSearch(link);
    if (planned !== undefined) links.push(planned);
  }
  await checkConstraintIndexes(access.constraints, services);
  return { starts: graph.starts, links, used };

  async function planSearch(link: GraphLink): Promise<PlannedLink | undefined> {
    const { type } = link.target;
    if (includeReach(access, type, true) === 'nothing') return undefined;
    const most = takesMany(link) ? Math.min(CHUNK, services.search.values) : 1;
    const open = (references: readonly string[]) => openSearch(link, references, graph.name, source);
    const reads = await sourcesOf(link, most, open);
    append(used, reads.used);
    return {
      ...link,
      most,
      async *follow(sources, within) {
        await pace();
        const references: string[] = [];
        for (const each of sources) if (await reads.from(each.type)) references.push(`${each.type}/${each.id}`);
        if (references.length === 0) return;
        const { find } = await open(references);
        yield* findAll({ type, where: { all: [] }, sort: [], count: CHUNK, total: 'none' }, find, within);
      },
    };
  }

  /**
   * The types from which a link by params can be followed: the type of its node; where that is any type, those that the link's
   * parameters may refer to.
   *
   * @throws FhirError where there is none
   */
  async function sourcesOf({ source: { type } }: GraphLink, most: number, open: (of: string[]) => Promise<Asked>) {
    const sampleOf = (each: string): string[] => Array.from({ length: most }, (_, n) => `${each}/${n}`);
    const known = new Map<string, Promise<boolean>>();
    const from = (each: string): Promise<boolean> => {
      const read = known.get(each) ?? open(sampleOf(each)).then(() => true, isRefusal);
      known.set(each, read);
      return read;
    };
    if (type !== ANY) return { used: (await open(sampleOf(type))).used, from: () => true };
    let refusal: unknown;
    for (const each of [GRAPH, ...tables.resourceTypes]) {
      await pace();
      checkAborted(signal);
      const asked = await open(sampleOf(each)).catch((error: unknown) => {
        isRefusal(error);
        refusal ??= error;
      });
      if (asked !== undefined) return { used: asked.used, from };
    }
    throw refusal;
  }
}

/** Whether the error refuses a parameter of a search; any other error is thrown. */
function isRefusal(error: unknown): false {
  if (error instanceof FhirError && error.code.startsWith('parameter-')) return false;
  throw error;
}

/**
 * Whether one search can follow a link by params from several resources: the params name the resource once, as a whole
 * alternative of a plain parameter, and no rule compares pairs. Membership is excluded: a search may name few resources there.
 */
function takesMany({ way, rules }: GraphLink): boolean {
  if ('follow' in way || rules.length > 0) return false;
  const [only, ...others] = way.params.filter(([, value]) => value.includes(REF));
  if (only === undefined || others.length > 0) return false;
  const [name, value] = only;
  return (
    /^[\w-]+$/.test(name) &&
    !isMembership(name) &&
    splitAt(value, ',')
      .filter((part) => part.includes(REF))
      .join() === REF
  );
}

/** A search and the parameters that it uses. */
interface Asked {
  readonly find: Store['find'];
  readonly used: SearchRequest['used'];
}

/** The search of a link by params, from some resources. */
async function openSearch(
  link: GraphLink,
  references: readonly string[],
  name: string,
  { call, services, now }: GraphSource,
): Promise<Asked> {
  const { type } = link.target;
  const params = 'follow' in link.way ? [] : link.way.params;
  const sent = params.map(([param, value]) => ({
    name: param,
    value: value.replaceAll(REF, references.join(',')),
    isInUrl: false,
  }));
  const bad = sent.find(({ name: param }) => Object.hasOwn(RESULT_PARAMETERS, param) || isInclude(param));
  if (bad !== undefined) {
    throw new FhirError('parameter-invalid', `The graph ${name} has params with ${bad.name}, which is no criterion`);
  }
  const input = { type, params: sent, isLenient: false, isPosted: false, now };
  const request = readParams(name, type, () => readSearchRequest(input, services));
  const { id: _id, member: _member, ...rest } = call;
  const asked: Call = { ...rest, interaction: 'search-type', type };
  const { constraints } = await constrainSearch(asked, { path: type, type, types: [type] }, request, services);
  const parts = [{ type, where: { all: [] } }];
  return {
    used: request.used,
    find: ({ type: _type, where: _where, ...page }, signal) =>
      findPage(parts, request, page, signal === undefined ? {} : { signal }, services, constraints),
  };
}

/** @throws FhirError naming the graph and the type whose params are wrong */
function readParams<T>(graph: string, type: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof FhirError)) throw error;
    throw error.map((issue) => ({ ...issue, text: `The graph ${graph} has params for ${type}: ${issue.text}` }));
  }
}

/** A link by a path: the resources that it refers to are looked up by type and id. */
function planPath(
  link: GraphLink,
  followPath: FollowPath,
  access: Access,
  { services, readContent }: GraphSource,
): PlannedLink | undefined {
  const types = link.target.type === ANY ? services.tables.resourceTypes : [link.target.type];
  const reaches = new Map(types.map((type) => [type, includeReach(access, type, false)]));
  if ([...reaches.values()].every((reach) => reach === 'nothing')) return undefined;
  return {
    ...link,
    most: link.rules.length === 0 ? CHUNK : 1,
    async *follow(sources, signal) {
      const byType = new Map<string, Set<string>>();
      for (const version of sources) {
        const content = await readContent(version);
        checkAborted(signal);
        for (const text of followPath(content)) {
          const read = services.own.readLocal(text);
          if (read === undefined || !reaches.has(read.type)) continue;
          byType.set(read.type, (byType.get(read.type) ?? new Set()).add(read.id));
        }
      }
      for (const [type, ids] of byType) {
        const all = [...ids];
        for (let at = 0; at < all.length; at += CHUNK) {
          const where = withinReach({ ids: all.slice(at, at + CHUNK) }, reaches.get(type) ?? 'nothing');
          const query: FindQuery = { type, where, sort: [], count: CHUNK, total: 'none' };
          yield* findAll(query, (asked, within) => services.store.find(asked, within), signal);
        }
      }
    },
  };
}
