import type { ComponentRow, PathRow, SearchRow } from '../../../runtime/contract/index.js';
import { oracle, type Oracle } from '../extraction/fhirpath-oracle.js';
import { fulfils, parts, type OracleContext } from './search-oracle-rules.js';
import { itemsOf, type Item } from './search-oracle-values.js';

type Resource = Record<string, unknown>;

/** Decides searches on the JSON of resources: values by the FHIRPath library, rules written down plainly. */
export interface SearchOracle {
  /** What a resource can be found by, of a parameter that is no composite. */
  items(row: SearchRow, resource: Resource): readonly Item[];
  /** Of a composite: for each of its values the items of each part. */
  composites(row: SearchRow, resource: Resource): readonly (readonly (readonly Item[])[])[];
  /** Whether a criterion finds a resource. */
  finds(row: SearchRow, modifier: string, text: string, resource: Resource): boolean;
}

export function createSearchOracle(context: OracleContext): SearchOracle {
  const compiled = new Map<string, Oracle>();
  const evaluate = (expression: string, resource: Resource) => {
    const run = compiled.get(expression) ?? oracle(expression);
    compiled.set(expression, run);
    return run(resource);
  };
  const known = new WeakMap<Resource, Map<string, unknown>>();
  const once = <T>(resource: Resource, what: string, make: () => T): T => {
    const values = known.get(resource) ?? new Map<string, unknown>();
    known.set(resource, values);
    if (!values.has(what)) values.set(what, make());
    return values.get(what) as T;
  };

  /** Items of one branch; what the library cannot name the type of has that which the branch leads to. */
  function branch(
    search: SearchRow['type'],
    { types, system }: PathRow,
    expression: string,
    resource: Resource,
  ): Item[] {
    return evaluate(expression, resource).flatMap(({ value, type }) => {
      const isVague = VAGUE.has(type) || (typeof value === 'string' && type.startsWith('System.'));
      const name = isVague && types.length === 1 ? (types[0] ?? type) : type;
      return itemsOf(search, value, name, system, context.resourceTypes);
    });
  }

  /** Whether a reference names what is contained in the same resource. */
  function isWithin({ type, paths }: SearchRow, resource: Resource): boolean {
    if (type !== 'reference') return false;
    const contained = (resource['contained'] ?? []) as readonly Resource[];
    const names = new Set(contained.map(({ id }) => `#${String(id)}`));
    const values = paths.flatMap((path) => evaluate(path.text, resource).map(({ value }) => value as unknown));
    return values.some((value) => names.has(textIn(value) ?? ''));
  }

  const self: SearchOracle = {
    items: (row, resource) =>
      once(resource, row.url + row.code, () =>
        row.paths.flatMap((path) => branch(row.type, path, path.text, resource)),
      ),
    composites: (row, resource) =>
      once(resource, row.url + row.code, () =>
        row.paths.flatMap((path) =>
          evaluate(path.text, resource).map((_value, n) =>
            (row.components ?? []).map((component) => partItems(component, path, n, resource)),
          ),
        ),
      ),
    finds(row, modifier, text, resource) {
      if (modifier === 'missing') {
        const isThere = row.type === 'composite' ? self.composites(row, resource).some((values) => values.every((items) => items.length > 0)) : self.items(row, resource).length > 0 || isWithin(row, resource); // prettier-ignore
        return isThere === (text === 'false');
      }
      const alternatives = parts(text, ',');
      if (row.type === 'composite') {
        return self.composites(row, resource).some((values) =>
          alternatives.some((alternative) => {
            const wanted = parts(alternative, '$');
            return values.every((items, i) =>
              items.some((item) => fulfils(item, '', wanted[i] ?? '', row.components![i]!, context)),
            );
          }),
        );
      }
      const isFound = self
        .items(row, resource)
        .some((item) => alternatives.some((each) => fulfils(item, modifier, each, row, context)));
      return isFound !== (modifier === 'not');
    },
  };

  function partItems({ type, paths }: ComponentRow, path: PathRow, n: number, resource: Resource): Item[] {
    return paths.flatMap((part) => branch(type, part, `(${path.text})[${n}].select(${part.text})`, resource));
  }

  return self;
}

/** `#m1` of a Reference, of a CodeableReference, or of a canonical. */
function textIn(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'object' && value !== null && 'reference' in value ? textIn(value.reference) : undefined;
}

/** What the library calls what its model does not know. */
const VAGUE = new Set(['String', 'Object', 'BackboneElement', 'string']);
