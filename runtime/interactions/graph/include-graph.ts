import type { CompartmentRow } from '../../contract/search.js';
import { FhirError } from '../../fhir/errors.js';
import { keepPace } from '../../fhir/pace.js';
import type { Resource } from '../../fhir/resource.js';
import type { StoredVersion } from '../../store/store.js';
import type { Call } from '../call.js';
import { readStored } from '../read-stored.js';
import { withinBudget } from '../search-budget.js';
import type { Services } from '../services.js';
import { compartmentsOf, fulfilsRules, type CompartmentsOf } from './compartment-rules.js';
import { planGraph, type GraphPlan, type PlannedLink } from './plan-graph.js';
import { standsAt } from './read-graph.js';

/** What comes with a page because of a graph. */
export interface GraphPage {
  /** Each once, and none that is there already. */
  readonly included: readonly StoredVersion[];
  /** That something was left out, for there is no more room. */
  readonly isCut: boolean;
}

/** The graph that a search names, ready to be followed. */
export interface OpenGraph extends Pick<GraphPlan, 'used'> {
  /**
   * @param matches where it starts
   * @param there what comes with them already
   * @param most greatest number of resources to come besides
   * @throws FhirError `too-costly`
   */
  follow(matches: readonly StoredVersion[], there: readonly StoredVersion[], most: number): Promise<GraphPage>;
}

/** Greatest size of what comes along, in characters. */
const ROOM = 16 * 1024 * 1024;

/**
 * Opens the graph that a search names with `_graph`. https://hl7.org/fhir/R5/search.html#_graph
 *
 * @param types that are searched
 * @param now milliseconds since the epoch, for `ap` of dates
 * @throws FhirError as `planGraph`
 */
export async function openGraph(
  named: string,
  types: readonly string[],
  now: number,
  call: Call,
  services: Services,
): Promise<OpenGraph> {
  const contents = new Map<StoredVersion, Resource>();
  const pace = keepPace();
  const readContent = async (version: StoredVersion): Promise<Resource> => {
    const known = contents.get(version);
    if (known !== undefined) return known;
    await pace();
    const content = await readStored(version.json ?? '{}', services);
    contents.set(version, content);
    return content;
  };
  const compartments = createCompartments(services);
  const mayLink = async ({ rules }: PlannedLink, source: StoredVersion, target: StoredVersion): Promise<boolean> =>
    rules.length === 0 || fulfilsRules(rules, await readContent(source), await readContent(target), compartments);
  const plan = await planned(() => planGraph(named, types, { call, services, now, readContent }));
  return {
    used: plan.used,
    follow: (matches, there, most) =>
      withinBudget(services.limits.queryTime, call.signal, async (signal) => {
        try {
          return await walk(plan, { matches, there, most, signal, mayLink });
        } catch (error) {
          throw error instanceof FhirError && error.code === 'too-costly' ? tooCostly(error) : error;
        }
      }),
  };
}

/** What is wrong with a graph is so with the parameter that names it. */
async function planned(plan: () => Promise<GraphPlan>): Promise<GraphPlan> {
  try {
    return await plan();
  } catch (error) {
    throw error instanceof FhirError ? error.map((issue) => ({ ...issue, parameter: '_graph' })) : error;
  }
}

/** Resources at a node, from which links still have to be followed. */
interface Stop {
  readonly node: string;
  readonly versions: readonly StoredVersion[];
}

interface Walking {
  readonly matches: readonly StoredVersion[];
  readonly there: readonly StoredVersion[];
  readonly most: number;
  readonly signal: AbortSignal | undefined;
  mayLink(link: PlannedLink, source: StoredVersion, target: StoredVersion): Promise<boolean>;
}

/** Node by node, each resource once at each, so that circles end. */
async function walk(
  { start, links }: GraphPlan,
  { matches, there, most, signal, mayLink }: Walking,
): Promise<GraphPage> {
  const shown = new Set([...matches, ...there].map(nameOf));
  const included: StoredVersion[] = [];
  let room = ROOM;
  const first = matches.filter(({ type }) => standsAt(start, type));
  const been = new Set(first.map((version) => `${start.id} ${nameOf(version)}`));
  const stops: Stop[] = [{ node: start.id, versions: first }];
  // It grows while it is gone through.
  for (const { node, versions } of stops) {
    for (const link of links.filter(({ source }) => source.id === node)) {
      const next: StoredVersion[] = [];
      for (let at = 0; at < versions.length; at += link.most) {
        const sources = versions.slice(at, at + link.most);
        for await (const target of link.follow(sources, signal)) {
          const name = nameOf(target);
          const place = `${link.target.id} ${name}`;
          if (been.has(place) || !(await mayLink(link, sources[0]!, target))) continue;
          been.add(place);
          if (!shown.has(name)) {
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
    const ids = own.get(row) ?? compartmentsOf(resource, row, extract(resource));
    own.set(row, ids);
    return ids;
  };
}

function nameOf({ type, id }: StoredVersion): string {
  return `${type}/${id}`;
}

function tooCostly({ headers }: FhirError): FhirError {
  const text = 'The graph takes too long; ask for fewer matches with _count, or for less in the graph';
  return new FhirError('too-costly', text, { headers });
}
