import type { ElementRow, Tables, TypeRow } from '../../../contract/index.js';

/** The tables that say where references and URIs stand. */
export type LinkTables = Pick<Tables, 'types'>;

/** What may stand under a name in JSON, as far as it can refer to a resource. */
export type LinkPlace =
  /** `Reference.reference`. */
  | 'reference'
  /** A URI that names something, by `urn:` at most a resource of the Bundle. */
  | 'name'
  /** A URL that leads somewhere. */
  | 'address'
  /** Narrative. */
  | 'xhtml'
  /** A resource within the resource. */
  | 'resource'
  /** An object of a type. */
  | LinkPlan;

/** Where in a type references and URIs can be, by name in JSON; names of what holds none are left out. */
export interface LinkPlan {
  readonly places: ReadonlyMap<string, LinkPlace>;
}

/**
 * Types whose values are replaced where they name a resource of the Bundle. Canonicals are not: they name a resource by its
 * `url`. Elements of type `uuid` and `oid` keep what was sent: `Patient/1` is no valid value there, and the stored resource
 * could never be updated again. https://hl7.org/fhir/R5/http.html#trules
 */
const PRIMITIVES: Readonly<Record<string, LinkPlace>> = {
  uri: 'name',
  url: 'address',
  xhtml: 'xhtml',
};

const REFERENCE = 'Reference';

/** What may stand where a value of a type is, other than in `Reference.reference`. */
export function placeOfType(type: string, plans: (type: string) => LinkPlan | undefined): LinkPlace | undefined {
  return Object.hasOwn(PRIMITIVES, type) ? PRIMITIVES[type] : plans(type);
}

const known = new WeakMap<LinkTables['types'], (type: string) => LinkPlan | undefined>();

/** Finds the plan of a type; each is made when it is first needed. */
export function linkPlans({ types }: LinkTables): (type: string) => LinkPlan | undefined {
  let find = known.get(types);
  if (find === undefined) known.set(types, (find = compile(types)));
  return find;
}

function compile(types: readonly TypeRow[]): (type: string) => LinkPlan | undefined {
  const rows = new Map(types.map((row) => [row.name, row]));
  const plans = new Map<string, LinkPlan>();
  const find = (name: string): LinkPlan | undefined => {
    const made = plans.get(name);
    const row = made === undefined ? rows.get(name) : undefined;
    return row === undefined ? made : make(row);
  };
  const make = (row: TypeRow): LinkPlan => {
    let places: ReadonlyMap<string, LinkPlace> | undefined;
    const plan: LinkPlan = {
      // Types hold each other, so that each is looked into when it is needed.
      get places() {
        return (places ??= new Map(elementsOf(row, rows).flatMap((element) => placesOf(row.name, element, find))));
      },
    };
    plans.set(row.name, plan);
    return plan;
  };
  return find;
}

function elementsOf(row: TypeRow, rows: ReadonlyMap<string, TypeRow>): readonly ElementRow[] {
  const base = row.base === undefined ? undefined : rows.get(row.base);
  return base === undefined ? row.elements : [...elementsOf(base, rows), ...row.elements];
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
    // What an extension means is told by its URL, whatever else has that.
    if (owner === 'Extension' && name === 'url') return [];
    const place = PRIMITIVES[type] ?? find(type);
    // Primitives have extensions too, beside their value.
    if (typeof place === 'object') return [[key, place]];
    const element = find('Element');
    const beside: [string, LinkPlace][] = element === undefined ? [] : [[`_${key}`, element]];
    return place === undefined ? beside : [[key, place], ...beside];
  });
}
