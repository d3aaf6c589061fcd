import { elementsOf, rowsByName } from '../../contract/type-rows.js';
import type { Access } from '../../auth/scopes/access.js';
import { withinReach, type Reach } from '../../auth/scopes/reach.js';
import { FhirError } from '../../fhir/errors.js';
import { yieldToEventLoop } from '../../fhir/yield-to-event-loop.js';
import { writeJson } from '../../format/write-json.js';
import { openContained } from '../../indexing/contained.js';
import {
  isContainedType,
  CONTAINED,
  containedType,
  placeOfContained,
  plainType,
} from '../../store/contained-resources.js';
import { searchDefinitions } from '../../indexing/definitions.js';
import {
  EVERYTHING,
  NOTHING,
  type Condition,
  type Criterion,
  type SortKey,
  type Target,
} from '../../search/query/query.js';
import { usedBy } from '../../search/parse/used-by.js';
import type { StoredVersion } from '../../store/store.js';
import { readStored } from '../../core/read-stored.js';
import type { ResultOptions } from '../parse/result-parameters.js';
import type { SearchScope } from '../parse/scope.js';
import type { Services, ServiceTables } from '../../core/services.js';
import { quote } from '../../fhir/quote.js';

/** A search of contained resources. A resource that contains others is a container. https://hl7.org/fhir/R5/search.html#contained */
export interface ContainedSearch {
  /** Whether resources that are not contained are searched too. */
  readonly isBoth: boolean;
  readonly shows: 'container' | 'contained';
}

/** The containers of a type that the token shows. */
export interface Container {
  readonly type: string;
  readonly reach: Exclude<Reach, 'nothing'>;
}

/** The other parameters of the search. */
interface Asked {
  /** Undefined: several types are searched. */
  readonly type: string | undefined;
  readonly criteria: readonly Criterion[];
  /** Names of the criteria's parameters, in the same order. */
  readonly names: readonly string[];
  readonly sort: readonly SortKey[];
  /** Names of the parameters that add something to the matches. */
  readonly besides: readonly string[];
}

/**
 * Reads a search of contained resources.
 *
 * @param contained value of `_contained`
 * @throws FhirError `parameter-invalid` for parameters that exclude `_contained`
 */
export function readContained(
  contained: 'true' | 'both',
  { containedType: shows = 'container' }: ResultOptions,
  asked: Asked,
  tables: ServiceTables,
): ContainedSearch {
  const { type, criteria, names, sort, besides } = asked;
  if (type === undefined) throw ofOneType();
  for (const [i, criterion] of criteria.entries()) {
    const name = names[i] ?? '';
    if (asksWho(criterion))
      throw refused(`${quote(name)} asks what refers to a resource, and to a contained one only its container does`);
    checkBuiltIn(name, type, usedBy(type, criterion, searchDefinitions(tables)), tables);
  }
  for (const { param, by } of sort) {
    checkBuiltIn('_sort', type, [{ type, code: param }], tables);
    if (shows === 'container' && by !== 'id' && by !== 'updated') {
      throw refused(
        `_sort=${param} orders ${type}, and containers of other types are found; sort by _id or _lastUpdated, or ask for _containedType=contained`,
      );
    }
  }
  const [other] = besides;
  if (other !== undefined) throw refused(`${other} is of matches that are in no other resource; search again for it`);
  return { isBoth: contained === 'both', shows };
}

/** @throws FhirError `parameter-invalid` where contained resources are searched in a compartment */
export function checkContainedScope({ contained }: { readonly contained?: ContainedSearch }, scope: SearchScope): void {
  if (contained !== undefined && scope.compartment !== undefined) throw ofOneType();
}

/** The types whose resources may contain others. */
export function containerTypes({ types, resourceTypes }: ServiceTables): readonly string[] {
  const rows = rowsByName(types);
  return resourceTypes.filter((type) => elementsOf(type, rows).some(({ name }) => name === 'contained'));
}

/** The containers that a token shows, by type. */
export function visibleContainers(access: Access, tables: ServiceTables): readonly Container[] {
  return containerTypes(tables).flatMap((type) => {
    const reach = access.on(type, 's');
    return reach === 'nothing' ? [] : [{ type, reach }];
  });
}

/**
 * The query of each type in a search of contained resources.
 *
 * @param target the query of the type that the client named
 * @param containers all, or those that the token shows
 * @param bound what the token shows of that type
 */
export function intoContainers(
  { isBoth, shows }: ContainedSearch,
  { type, where }: Target,
  containers: readonly Container[],
  bound: ContainedConstraint = UNBOUND,
): readonly Target[] {
  const own: readonly Target[] = isBoth ? [{ type, where: withinReach(where, bound.own) }] : [];
  const member = { type: containedType(type), where: withinReach(ofMember(where), bound.within) };
  if (shows === 'contained') return [...own, { ...member, where: all([member.where, inSome(containers)]) }];
  const found = containers.map((container): Target => {
    const inIt = { ...member, param: CONTAINED.container, where: all([member.where, isIn([container.type])]) };
    return { type: container.type, where: withinReach({ has: inIt }, container.reach) };
  });
  const others = found.filter((each) => !isBoth || each.type !== type);
  const same = found.find((each) => isBoth && each.type === type);
  return [
    ...others,
    ...own.map((each) => (same === undefined ? each : { type, where: { some: [each.where, same.where] } })),
  ];
}

/** Reach of a token on one type: for resources that are not contained, and for contained ones. */
export interface ContainedConstraint {
  readonly own: Reach;
  readonly within: Reach;
}

const UNBOUND: ContainedConstraint = { own: 'everything', within: 'everything' };

/**
 * Returns what a token shows of a type, with the constraint adapted for contained resources. These have no `_id` and
 * `_lastUpdated` of their own, and no index entries of stored parameters. A part of the constraint that uses one of them
 * excludes contained resources, and so does its negation. The other parts are decided by index entries.
 */
export function constrainContained(reach: Reach, type: string, tables: ServiceTables): ContainedConstraint {
  if (typeof reach === 'string') return { own: reach, within: reach };
  const isDecided = (leaf: Condition): boolean =>
    !('ids' in leaf || 'updated' in leaf) &&
    !usedBy(type, leaf, searchDefinitions(tables)).some((used) => used.type === type && isStored(used, tables));
  return { own: reach, within: decided(reach, isDecided, NOTHING) };
}

/** The condition with each undecidable part replaced. @param undecided finds nothing: `NOTHING`, or below a `not` `EVERYTHING` */
function decided(condition: Condition, isDecided: (leaf: Condition) => boolean, undecided: Condition): Condition {
  const inner = (each: Condition): Condition => decided(each, isDecided, undecided);
  if ('all' in condition) return { all: condition.all.map(inner) };
  if ('some' in condition) return { some: condition.some.map(inner) };
  if ('not' in condition) {
    return { not: decided(condition.not, isDecided, undecided === NOTHING ? EVERYTHING : NOTHING) };
  }
  return isDecided(condition) ? condition : undecided;
}

/** A version as a page shows it. */
export interface RenderedVersion extends StoredVersion {
  /** Path of its `fullUrl`, below the base; absent: type and id. */
  readonly path?: string;
}

/**
 * The versions of a page, where matches that are contained resources have their own text instead of their container's. A missing
 * contained resource has no text. Each container is parsed once, and one at a time, so that only the texts shown are in memory.
 */
export async function cutContained(
  versions: readonly StoredVersion[],
  services: Pick<Services, 'largeTexts'>,
): Promise<readonly RenderedVersion[]> {
  const shown: RenderedVersion[] = [...versions];
  const pace = yieldToEventLoop();
  for (const [json, places] of membersByText(versions)) {
    const find = openContained(await readStored(json, services));
    for (const place of places) {
      const { type, id, json: _json, ...head } = versions[place]!;
      const { fragment } = placeOfContained(id);
      const contained = find(plainType(type), fragment);
      const text = contained === undefined ? {} : { json: writeJson(contained) };
      shown[place] = { ...head, type: plainType(type), id: fragment, path: id, ...text };
      await pace();
    }
  }
  return shown;
}

/** Places of the contained resources on the page, by the text of their container. */
function membersByText(versions: readonly StoredVersion[]): ReadonlyMap<string, readonly number[]> {
  const places = new Map<string, number[]>();
  for (const [i, { type, json }] of versions.entries()) {
    if (!isContainedType(type) || json === undefined) continue;
    const others = places.get(json);
    if (others === undefined) places.set(json, [i]);
    else others.push(i);
  }
  return places;
}

/** The contained resources of a type, as far as a token shows their containers. */
export function containedOf(type: string, seen: Access, tables: ServiceTables): Target {
  const isWhole = containerTypes(tables).every((each) => seen.on(each, 's') === 'everything');
  return { type: containedType(type), where: isWhole ? EVERYTHING : inSome(visibleContainers(seen, tables)) };
}

/** The containers that fulfill a condition, as far as a token shows them. */
export function seenContainers(where: Condition, seen: Access, tables: ServiceTables): readonly Target[] {
  return visibleContainers(seen, tables).map(({ type, reach }) => ({ type, where: withinReach(where, reach) }));
}

/** The condition for a contained resource: its `id` is an index entry of its own, not the id under which the store keeps it. */
function ofMember(condition: Condition): Condition {
  if ('all' in condition) return { all: condition.all.map(ofMember) };
  if ('some' in condition) return { some: condition.some.map(ofMember) };
  if ('not' in condition) return { not: ofMember(condition.not) };
  if (!('ids' in condition)) return condition;
  const any = condition.ids.map((code) => ({ is: 'token', code }) as const);
  return any.length === 0 ? NOTHING : { param: CONTAINED.id, any };
}

function isIn(types: readonly string[]): Condition {
  return { param: CONTAINED.in, any: types.map((code) => ({ is: 'token', code }) as const) };
}

function inSome(containers: readonly Container[]): Condition {
  const whole = containers.flatMap(({ type, reach }) => (reach === 'everything' ? [type] : []));
  const bounded = containers.flatMap(({ type, reach }) => (typeof reach === 'string' ? [] : [{ type, where: reach }]));
  const some: readonly Condition[] = [
    ...(whole.length === 0 ? [] : [isIn(whole)]),
    ...(bounded.length === 0 ? [] : [{ param: CONTAINED.container, chain: bounded }]),
  ];
  const [only] = some;
  return some.length === 1 && only !== undefined ? only : { some };
}

function all(conditions: readonly Condition[]): Condition {
  const some = conditions.flatMap((each) => ('all' in each ? each.all : [each]));
  const [only] = some;
  return some.length === 0 ? EVERYTHING : some.length === 1 && only !== undefined ? only : { all: some };
}

/** Whether a criterion asks which resources refer to the matches. */
function asksWho(criterion: Criterion): boolean {
  if ('all' in criterion) return criterion.all.some(asksWho);
  if ('some' in criterion) return criterion.some.some(asksWho);
  if ('not' in criterion) return asksWho(criterion.not);
  return 'has' in criterion || 'members' in criterion;
}

type Used = ReturnType<typeof usedBy>[number];

function isStored({ type, code }: Used, tables: ServiceTables): boolean {
  return searchDefinitions(tables).rowsOf(type).get(code)?.isStored === true;
}

function checkBuiltIn(name: string, type: string, used: readonly Used[], tables: ServiceTables): void {
  const stored = used.find((each) => each.type === type && isStored(each, tables));
  if (stored === undefined) return;
  throw refused(`${quote(name)} goes by a search parameter that is stored here, which finds no contained resources`);
}

function ofOneType(): FhirError {
  return refused('it goes with searches of one type, as in [base]/Medication?code=x&_contained=true');
}

function refused(why: string): FhirError {
  const error = new FhirError('parameter-invalid', `_contained does not go with this search: ${why}`);
  return error.map((issue) => ({ ...issue, parameter: '_contained' }));
}
