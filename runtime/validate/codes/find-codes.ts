import { jsonName } from '../../contract/json-name.js';
import { lineOf, rowsByName } from '../../contract/type-rows.js';
import type { Tables } from '../../contract/tables.js';
import type { TypeRow } from '../../contract/types.js';
import { isJson, type Json } from '../../path/evaluate/item.js';
import type { JsonPath } from '../../fhir/errors.js';

/** A Coding or a Quantity that names a code and its system. */
export interface NamedCode {
  /** `Coding`, `Quantity`, or a datatype that specializes `Quantity`: `Age`. */
  readonly type: string;
  readonly system: string;
  readonly code: string;
  readonly version?: string;
  readonly display?: string;
  /** FHIRPath of the Coding or Quantity. */
  readonly expression: string;
  readonly path: JsonPath;
}

/** The codes of a resource. */
export interface FoundCodes {
  /** In the order of the resource. */
  readonly codes: readonly NamedCode[];
  /** The resource has more than are listed. */
  readonly isCut: boolean;
}

/** Finds the codes of a resource and of all that it holds. What has the wrong structure is passed over. Never throws. */
export type CodeFinder = (resource: unknown) => FoundCodes;

/** Codes that are listed. */
export const MOST_CODES = 10_000;

/** Objects within each other: more are a fault of structure, which is reported elsewhere. */
const MAX_DEPTH = 250;

/** A property that may hold codes. */
interface Child {
  readonly key: string;
  /** Name of the element, without the type of a choice. */
  readonly element: string;
  readonly type: string;
}

interface Plan {
  readonly type: string;
  /** Its values name a code themselves. */
  readonly isCoded: boolean;
  readonly children: ReadonlyMap<string, Child>;
}

/** The tables that codes are found by. */
export type CodeFinderTables = Pick<Tables, 'types' | 'primitives'>;

/** Makes a finder. Plans are made when a type first comes. https://hl7.org/fhir/R5/terminologies.html */
export function createCodeFinder(tables: CodeFinderTables): CodeFinder {
  const find = createFindPlan(tables);
  return (resource) => {
    const run = new Run(find);
    if (isJson(resource)) run.enter(resource);
    return { codes: run.codes, isCut: run.isCut };
  };
}

function createFindPlan(tables: CodeFinderTables): (type: string) => Plan | undefined {
  const types = rowsByName(tables.types);
  const primitives = new Set(tables.primitives.map(({ name }) => name));
  const plans = new Map<string, Plan>();
  const childrenOf = ({ elements }: TypeRow): Child[] =>
    elements.flatMap((element) =>
      element.types.map((type): Child => {
        const { name } = element;
        const key = jsonName(element, type);
        // What is beside a primitive has extensions.
        return primitives.has(type) ? { key: `_${key}`, element: name, type: 'Element' } : { key, element: name, type };
      }),
    );
  return (type) => {
    const known = plans.get(type);
    if (known !== undefined) return known;
    const line = lineOf(type, types).toReversed();
    if (line.length === 0) return undefined;
    const plan: Plan = {
      type,
      isCoded: line.some(({ name }) => name === 'Coding' || name === 'Quantity'),
      children: new Map(line.flatMap(childrenOf).map((child) => [child.key, child])),
    };
    plans.set(type, plan);
    return plan;
  };
}

/** One search: where it is in the resource, and what it found. */
class Run {
  readonly codes: NamedCode[] = [];
  isCut = false;
  /** The way to the value at hand; what lies beyond `depth` is left over. */
  private readonly way: (Child | number)[] = [];
  private depth = 0;
  private root = '';

  constructor(private readonly find: (type: string) => Plan | undefined) {}

  /** Goes into a resource. */
  enter(resource: Json): void {
    const type = resource['resourceType'];
    const plan = typeof type === 'string' ? this.find(type) : undefined;
    if (plan === undefined) return;
    if (this.depth === 0) this.root = plan.type;
    this.visit(resource, plan);
  }

  private visit(object: Json, plan: Plan): void {
    if (this.depth > MAX_DEPTH || this.isCut) return;
    if (plan.isCoded) this.note(object, plan.type);
    for (const key in object) {
      const child = plan.children.get(key);
      if (child === undefined) continue;
      const value = object[key];
      this.way[this.depth++] = child;
      if (Array.isArray(value)) {
        for (let i = 0; i < value.length; i++) {
          this.way[this.depth++] = i;
          this.visitValue(value[i], child);
          this.depth--;
        }
      } else this.visitValue(value, child);
      this.depth--;
    }
  }

  private visitValue(value: unknown, { type }: Child): void {
    if (!isJson(value)) return;
    if (typeof value['resourceType'] === 'string') {
      this.enter(value);
      return;
    }
    const plan = this.find(type);
    if (plan !== undefined) this.visit(value, plan);
  }

  private note({ system, code, version, display }: Json, type: string): void {
    if (typeof system !== 'string' || typeof code !== 'string') return;
    if (this.codes.length >= MOST_CODES) {
      this.isCut = true;
      return;
    }
    const way = this.way.slice(0, this.depth);
    this.codes.push({
      ...{ type, system, code },
      ...(typeof version === 'string' && { version }),
      ...(typeof display === 'string' && { display }),
      expression: way.reduce<string>(
        (text, step) => (typeof step === 'number' ? `${text}[${step}]` : `${text}.${step.element}`),
        this.root,
      ),
      path: way.map((step) => (typeof step === 'number' ? step : step.key)),
    });
  }
}
