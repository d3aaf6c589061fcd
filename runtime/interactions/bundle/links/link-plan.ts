import type { ElementRow, Tables, TypeRow } from '../../../contract/index.js';
import { elementsOf, rowsByName } from '../../../contract/type-rows.js';
import { memoizeWeak } from '../../../fhir/memory/memoize.js';

/** The tables that define which elements are references and URIs. */
export type LinkTables = Pick<Tables, 'types'>;

/** Kind of a JSON member that can refer to a resource. */
export type LinkPlace =
  /** `Reference.reference`. */
  | 'reference'
  /** A URI as an identifier. Only as a `urn:` can it name a resource of the Bundle. */
  | 'name'
  /** A URL to be dereferenced. */
  | 'address'
  /** Narrative. */
  | 'xhtml'
  /** A nested resource. */
  | 'resource'
  /** An object of a type. */
  | LinkPlan;

/** Members of a type that are or contain references and URIs, by JSON name; other members are left out. */
export interface LinkPlan {
  readonly places: ReadonlyMap<string, LinkPlace>;
}

/**
 * Types whose values are replaced if they name a resource of the Bundle. Not canonicals, which name a resource by its `url`.
 * Elements of type `uuid` and `oid` keep what was sent: `Patient/1` is no valid value there, and the stored resource could
 * never be updated again. https://hl7.org/fhir/R5/http.html#trules
 */
const PRIMITIVES: Readonly<Record<string, LinkPlace>> = {
  uri: 'name',
  url: 'address',
  xhtml: 'xhtml',
};

const REFERENCE = 'Reference';

/** Kind of a value of a type, other than `Reference.reference`. */
export function placeOfType(type: string, plans: (type: string) => LinkPlan | undefined): LinkPlace | undefined {
  return Object.hasOwn(PRIMITIVES, type) ? PRIMITIVES[type] : plans(type);
}

const compiled = memoizeWeak(compile);

/** Returns a function that finds the plan of a type. Plans are made on first use. */
export function linkPlans({ types }: LinkTables): (type: string) => LinkPlan | undefined {
  return compiled(types);
}

function compile(types: readonly TypeRow[]): (type: string) => LinkPlan | undefined {
  const rows = rowsByName(types);
  const plans = new Map<string, LinkPlan>();
  const find = (name: string): LinkPlan | undefined => {
    const made = plans.get(name);
    const row = made === undefined ? rows.get(name) : undefined;
    return row === undefined ? made : make(row);
  };
  const make = (row: TypeRow): LinkPlan => {
    let places: ReadonlyMap<string, LinkPlace> | undefined;
    const plan: LinkPlan = {
      // Types can be recursive, so the plan of each member is made when it is needed.
      get places() {
        return (places ??= new Map(elementsOf(row.name, rows).flatMap((element) => placesOf(row.name, element, find))));
      },
    };
    plans.set(row.name, plan);
    return plan;
  };
  return find;
}

function placesOf(
  owner: string,
  { name, types, choice }: ElementRow,
  find: (type: string) => LinkPlan | undefined,
): [string, LinkPlace][] {
  return types.flatMap((type): [string, LinkPlace][] => {
    const key = choice === true ? name + type.charAt(0).toUpperCase() + type.slice(1) : name;
    if (type === 'Resource') return [[key, 'resource']];
    if (owner === REFERENCE && name === 'reference') return [[key, 'reference']];
    // The URL of an extension identifies its definition, and is never a link.
    if (owner === 'Extension' && name === 'url') return [];
    const place = PRIMITIVES[type] ?? find(type);
    // The extensions of a primitive are in a member of its own, `_name`.
    if (typeof place === 'object') return [[key, place]];
    const element = find('Element');
    const beside: [string, LinkPlace][] = element === undefined ? [] : [[`_${key}`, element]];
    return place === undefined ? beside : [[key, place], ...beside];
  });
}
