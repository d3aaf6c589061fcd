import type { Tables } from '../../contract/tables.js';
import { elementsOf, rowsByName } from '../../contract/type-rows.js';
import { versionNumber } from '../../fhir/id.js';
import type { Resource } from '../../fhir/resource.js';
import type { LocalReference, OwnBases } from '../../path/own-bases.js';
import type { ReferencePath } from '../../path/reference-walk.js';
import type { RequiredTarget, ResourceKey } from '../../store/store.js';
import { referenceWalk } from './reference-walk.js';

/**
 * Treatment of references that lead to nothing. `none`: they are accepted. `written`: no write may make one. `enforced`: no
 * deletion may make one either.
 */
export type IntegrityMode = 'none' | 'written' | 'enforced';

/** The settings: a mode, and those of types and elements, of which the longest that fits counts. */
export interface IntegrityModes {
  readonly mode: IntegrityMode;
  readonly paths: Readonly<Record<string, IntegrityMode>>;
}

/** A literal reference to a resource of this server. */
export interface FoundReference extends ResourceKey {
  readonly version?: number;
  /** The element, as FHIRPath has it. */
  readonly expression: string;
}

/** Rules on what references have to lead to. */
export interface Integrity {
  /** Types whose references may hinder a deletion. */
  readonly holding: readonly string[];
  /**
   * What has to be there for a content to be written; what the content before had at the same elements is not asked for again.
   *
   * @returns undefined: nothing
   */
  targetsOf(content: Resource, before: Resource | undefined): readonly RequiredTarget[] | undefined;
  /** Whether a content refers to a resource in a way that hinders its deletion. */
  holds(content: Resource, to: ResourceKey): boolean;
  /** Whether something is there always, though it is not stored. */
  isShipped(key: ResourceKey): boolean;
}

/** Parts that the rules are made from. */
export interface IntegrityParts {
  readonly tables: Pick<Tables, 'types' | 'primitives' | 'resourceTypes'>;
  readonly own: OwnBases;
  /** Whether a definition is shipped, so that it is there always. */
  readonly isShipped: (key: ResourceKey) => boolean;
}

/** Records of what happened: they refer to what was there then. */
const NEVER = 'AuditEvent';

/** Returns the rules; undefined: every reference is taken. */
export function createIntegrity(modes: IntegrityModes, parts: IntegrityParts): Integrity | undefined {
  const { tables, isShipped } = parts;
  const byType = new Map(tables.resourceTypes.map((type) => [type, modesOf(type, modes)]));
  const has = (type: string, mode: IntegrityMode): boolean => {
    const { all, elements } = byType.get(type)!;
    return all === mode || elements.some(([, each]) => each === mode);
  };
  const holding = tables.resourceTypes.filter((type) => has(type, 'enforced'));
  if (holding.length === 0 && !tables.resourceTypes.some((type) => has(type, 'written'))) return undefined;

  function checked(content: Resource): readonly CheckedPlace[] {
    const own = byType.get(content.resourceType);
    if (own === undefined || (own.all === 'none' && own.elements.length === 0)) return [];
    const modeOf = (path: ReferencePath): IntegrityMode => {
      if (own.elements.length === 0) return own.all;
      const element = elementOf(content.resourceType, path);
      return own.elements.find(([prefix]) => isWithin(element, prefix))?.[1] ?? own.all;
    };
    return localReferences(content, parts).flatMap((place) => {
      const mode = modeOf(place.path);
      return mode === 'none' || isShipped(place.named) ? [] : [{ ...place, mode }];
    });
  }

  return {
    holding,
    isShipped,
    targetsOf(content, before) {
      const places = checked(content);
      if (places.length === 0) return undefined;
      const known = before === undefined ? undefined : new Set(checked(before).map(placeName));
      const targets: RequiredTarget[] = [];
      for (const place of places) {
        if (known?.has(placeName(place)) === true) continue;
        const { mode, named, path } = place;
        const target = { ...named, expression: expressionOf(content.resourceType, path) };
        const isHeld = mode === 'enforced' && named.version === undefined;
        targets.push(isHeld ? { ...target, isHeld } : target);
      }
      return targets.length === 0 ? undefined : targets;
    },
    holds(content, { type, id }) {
      return checked(content).some(
        ({ mode, named }) =>
          mode === 'enforced' && named.version === undefined && named.type === type && named.id === id,
      );
    },
  };
}

/** All literal references of a content to resources of this server, but for those that are never checked. */
export function referencesOf(content: Resource, parts: IntegrityParts): readonly FoundReference[] {
  if (content.resourceType === NEVER) return [];
  return localReferences(content, parts).flatMap(({ named, path }) =>
    parts.isShipped(named) ? [] : [{ ...named, expression: expressionOf(content.resourceType, path) }],
  );
}

interface CheckedPlace extends LocalPlace {
  readonly mode: IntegrityMode;
}

interface LocalPlace {
  readonly named: ResourceKey & { readonly version?: number };
  readonly path: ReferencePath;
}

function localReferences(content: Resource, { tables, own }: IntegrityParts): readonly LocalPlace[] {
  const found: LocalPlace[] = [];
  referenceWalk(tables)(content, ({ reference }, path) => {
    const local = own.readLocal(reference);
    if (local !== undefined) found.push({ named: keyOf(local), path: [...path] });
  });
  return found;
}

/** A version that cannot be is 0. */
function keyOf({ type, id, version }: LocalReference): LocalPlace['named'] {
  return version === undefined ? { type, id } : { type, id, version: versionNumber(version) ?? 0 };
}

/** Returns a name that references share by which one element refers to one target, wherever in a list. */
function placeName({ named: { type, id, version }, path }: LocalPlace): string {
  return `${elementOf('', path)} ${type}/${id}/${version ?? ''}`;
}

/** The element without places in lists: `Encounter.participant.actor`. */
function elementOf(type: string, path: ReferencePath): string {
  return [type, ...path.filter((step) => typeof step === 'string')].join('.');
}

/** `Encounter.participant[0].actor` */
function expressionOf(type: string, path: ReferencePath): string {
  return type + path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
}

function isWithin(element: string, prefix: string): boolean {
  return element.startsWith(prefix) && (element.length === prefix.length || element[prefix.length] === '.');
}

interface TypeModes {
  readonly all: IntegrityMode;
  /** Of its elements, the longest first. */
  readonly elements: readonly (readonly [element: string, mode: IntegrityMode])[];
}

function modesOf(type: string, { mode, paths }: IntegrityModes): TypeModes {
  if (type === NEVER) return { all: 'none', elements: [] };
  const elements = Object.entries(paths)
    .map(([path, own]) => [path.replaceAll('[x]', ''), own] as const)
    .filter(([path]) => path.startsWith(`${type}.`));
  return { all: paths[type] ?? mode, elements: elements.sort(([a], [b]) => b.length - a.length) };
}

/** Whether a path of the settings is a resource type, or an element of one: `Observation.component.value[x]`, or without the `[x]`. */
export function isElementPath(
  path: string,
  { types, resourceTypes }: Pick<Tables, 'types' | 'resourceTypes'>,
): boolean {
  const [type = '', ...names] = path.split('.');
  if (!resourceTypes.includes(type)) return false;
  const rows = rowsByName(types);
  let reached: ReadonlySet<string> = new Set([type]);
  for (const name of names) {
    const next = new Set<string>();
    for (const each of reached) {
      for (const element of elementsOf(each, rows)) {
        const isNamed = name === element.name || (element.choice === true && name === `${element.name}[x]`);
        if (isNamed) for (const one of element.types) next.add(one);
      }
    }
    reached = next;
  }
  return reached.size > 0;
}
