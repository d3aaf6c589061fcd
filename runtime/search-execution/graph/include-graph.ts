import type { CompartmentRow } from '../../contract/search.js';
import { ERRORS, FhirError } from '../../fhir/errors.js';
import { checkAborted } from '../../fhir/yield-until.js';
import { yieldToEventLoop, type Yield } from '../../fhir/yield-to-event-loop.js';
import type { Resource } from '../../fhir/resource.js';
import type { StoredVersion } from '../../store/store.js';
import type { Call } from '../../core/call.js';
import { readStored } from '../../core/read-stored.js';
import { withinBudget } from '../execute/search-budget.js';
import type { Services } from '../../core/services.js';
import { compartmentsOf, fulfilsRules, type CompartmentsOf } from './compartment-rules.js';
import { planGraph, type GraphPlan, type PlannedLink } from './plan-graph.js';
import { standsAt } from './read-graph.js';

/** The resources that a graph adds to a page. */
export interface GraphPage {
  /** Each once, without those that are on the page already. */
  readonly included: readonly StoredVersion[];
  /** Whether resources were left out because a limit was reached. */
  readonly isCut: boolean;
}

/** The graph that a search names, ready to be followed. */
export interface OpenGraph extends Pick<GraphPlan, 'used'> {
  /**
   * @param matches the graph starts at them
   * @param there resources that are included already
   * @param most greatest number of resources to add
   * @throws FhirError `too-costly`
   */
  follow(matches: readonly StoredVersion[], there: readonly StoredVersion[], most: number): Promise<GraphPage>;
}

/** Limit of the size of all added resources, in characters. */
const ROOM = 16 * 1024 * 1024;

/**
 * Opens the graph that a search names with `_graph`. https://hl7.org/fhir/R5/search.html#_graph
 *
 * @param types that are searched
 * @param now milliseconds since the epoch, for `ap` of dates
 * @throws FhirError as `planGraph`, with the parameter's name
 */
export async function openGraph(
  named: string,
  types: readonly string[],
  now: number,
  call: Call,
  services: Services,
): Promise<OpenGraph> {
  const contents = new WeakMap<StoredVersion, Resource>();
  const pace = yieldToEventLoop();
  const readContent = async (version: StoredVersion): Promise<Resource> => {
    await pace();
    const known = contents.get(version);
    if (known !== undefined) return known;
    const content = await readStored(version.json ?? '{}', services);
    contents.set(version, content);
    return content;
  };
  const compartments = createCompartments(services);
  const mayLink = async ({ rules }: PlannedLink, source: StoredVersion, target: StoredVersion): Promise<boolean> =>
    rules.length === 0 || fulfilsRules(rules, await readContent(source), await readContent(target), compartments);
  const during = <T>(work: (signal: AbortSignal | undefined) => Promise<T>): Promise<T> =>
    withinBudget(services.limits.queryTime, call.signal, async (signal) => {
      try {
        return await work(signal);
      } catch (error) {
        throw ofGraph(error);
      }
    });
  const source = { call, services, now, readContent, pace };
  const plan = await during((signal) => planGraph(named, types, source, signal));
  return {
    used: plan.used,
    follow: (matches, there, most) => during((signal) => walk(plan, { matches, there, most, signal, pace, mayLink })),
  };
}

/** Attributes an error of a graph to the parameter that names it. */
function ofGraph(error: unknown): unknown {
  if (!(error instanceof FhirError)) return error;
  if (error.code === 'too-costly' && error.message === ERRORS['too-costly'].text) return tooCostly(error);
  return error.map((issue) => ({ ...issue, parameter: '_graph' }));
}

/** Resources at a node whose links have to be followed. */
interface Stop {
  readonly node: string;
  readonly versions: readonly StoredVersion[];
}

interface Walking {
  readonly matches: readonly StoredVersion[];
  readonly there: readonly StoredVersion[];
  readonly most: number;
  readonly signal: AbortSignal | undefined;
  readonly pace: Yield;
  mayLink(link: PlannedLink, source: StoredVersion, target: StoredVersion): Promise<boolean>;
}

/** Visits each resource once at each node, so that cycles end. */
async function walk(
  { starts, links }: GraphPlan,
  { matches, there, most, signal, pace, mayLink }: Walking,
): Promise<GraphPage> {
  // An included resource may be an older version; a graph leads to current versions.
  const shown = new Set([...matches.map(nameOf), ...there.map(versionOf)]);
  const included: StoredVersion[] = [];
  let room = ROOM;
  const stops: Stop[] = starts.map((start) => ({
    node: start.id,
    versions: matches.filter(({ type }) => standsAt(start, type)),
  }));
  const been = new Set(stops.flatMap(({ node, versions }) => versions.map((version) => `${node} ${nameOf(version)}`)));
  // The list grows during the loop.
  for (const { node, versions } of stops) {
    for (const link of links.filter(({ source }) => source.id === node)) {
      const next: StoredVersion[] = [];
      for (let at = 0; at < versions.length; at += link.most) {
        await pace();
        checkAborted(signal);
        const sources = versions.slice(at, at + link.most);
        for await (const target of link.follow(sources, signal)) {
          const name = nameOf(target);
          const place = `${link.target.id} ${name}`;
          if (been.has(place) || !(await mayLink(link, sources[0]!, target))) continue;
          been.add(place);
          if (!shown.has(name) && !shown.has(versionOf(target))) {
            if (included.length >= most || room <= 0) return { included, isCut: true };
            room -= target.json?.length ?? 0;
            shown.add(name);
            included.push(target);
          }
          next.push(target);
        }
      }
      if (next.length > 0) stops.push({ node: link.target.id, versions: next });
    }
  }
  return { included, isCut: false };
}

function createCompartments({ extract }: Pick<Services, 'extract'>): CompartmentsOf {
  const known = new WeakMap<Resource, Map<CompartmentRow, ReadonlySet<string>>>();
  return (resource, row) => {
    const own = known.get(resource) ?? new Map<CompartmentRow, ReadonlySet<string>>();
    known.set(resource, own);
    const ids = own.get(row) ?? compartmentsOf(resource, row, extract(resource, 'words'));
    own.set(row, ids);
    return ids;
  };
}

function nameOf({ type, id }: StoredVersion): string {
  return `${type}/${id}`;
}

function versionOf(version: StoredVersion): string {
  return `${nameOf(version)}/${version.version}`;
}

function tooCostly({ headers }: FhirError): FhirError {
  const text = 'The graph takes too long; ask for fewer matches with _count, or for less in the graph';
  return new FhirError('too-costly', text, { headers });
}
