/** Whether a JSON value is one that a primitive type allows. */
export type PrimitiveTest = (value: unknown) => boolean;

/**
 * A property that may be under one JSON name. A choice element has a property for each of its types, and each primitive has a
 * second one for its `_name`.
 */
export interface Property {
  /** Name in JSON. */
  readonly key: string;
  /** Name of the element, without the type of a choice. */
  readonly element: string;
  /** Name of its type. */
  readonly type: string;
  /**
   * `sibling`: the `_name` of a primitive (its id and extensions); `type-name`: the `resourceType` of a resource.
   * https://hl7.org/fhir/R5/json.html#primitive
   */
  readonly kind: 'primitive' | 'object' | 'resource' | 'sibling' | 'type-name';
  readonly list: boolean;
  /** What its presence means: bits to compare with `Plan.required`. */
  readonly bits: number;
  /** The bit that all types of a choice share; 0 where there is no choice. */
  readonly choice: number;
  /** Test of one value, where it is a primitive. */
  readonly test: PrimitiveTest | undefined;
  /** The same where there is but one, so that the commonest case takes one call. */
  readonly single: PrimitiveTest | undefined;
  /** The other one of a primitive and its sibling: `_given` of `given`, `given` of `_given`. */
  readonly other: string;
  /** Plan of its objects, found when the first one comes. */
  plan: Plan | undefined;
}

/** A type, ready to check objects against. */
export interface Plan {
  readonly name: string;
  readonly properties: ReadonlyMap<string, Property>;
  /** Bits that the properties of an object must bring together. */
  readonly required: number;
  /** The elements behind those bits, in order. */
  readonly needs: readonly Need[];
  /** For `Extension`: the bits of its value and of its extensions, of which it has exactly one (ext-1); else 0. */
  readonly either: number;
}

/** A required element. */
export interface Need {
  readonly bit: number;
  readonly element: string;
  /** JSON names, any of which will do. */
  readonly keys: readonly string[];
}

/** Set by every property: an object has at least one. */
export const CONTENT = 1 << 29;

/** Bits that a type has for its required elements and its choices; in FHIR R5 it needs eight. */
export const MOST_BITS = 29;
