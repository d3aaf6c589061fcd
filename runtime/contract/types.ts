/**
 * Rows that describe the structure of FHIR types: what a resource, a datatype or a backbone element may hold.
 * Specification: https://hl7.org/fhir/R5/structuredefinition.html, https://hl7.org/fhir/R5/elementdefinition.html
 */

/** How strongly an element is bound to a value set (`example` bindings bind nothing and have no row). */
export type BindingStrength = 'required' | 'extensible' | 'preferred';

/** The value set that the codes of an element come from. */
export interface BindingRow {
  readonly strength: BindingStrength;
  /** Canonical of the value set, without the version of the package that it came in. */
  readonly valueSet: string;
}

/** One element, in the order in which its type defines it (which is its order in XML). */
export interface ElementRow {
  /** Name in JSON and XML; for a choice element the stem, `value` of `value[x]`. */
  readonly name: string;
  /**
   * Names of its types: a primitive (`code`), a datatype (`HumanName`), a backbone type by its path
   * (`Patient.contact`), or `Resource` for any resource. Recursion is a name met again. Only a choice
   * element has more than one.
   */
  readonly types: readonly string[];
  /** Set on `value[x]`: the name in JSON and XML is the stem followed by the capitalised type name. */
  readonly choice?: true;
  /** Least number of values; absent: 0. */
  readonly min?: number;
  /** Greatest number of values: absent: 1; `*`: no bound, an array in JSON. */
  readonly max?: '*';
  /** Resource types (for `canonical` also) that a reference may point to, by type name; absent: any. */
  readonly targets?: Readonly<Record<string, readonly string[]>>;
  readonly binding?: BindingRow;
  /** Part of `_summary=true`. */
  readonly summary?: true;
  /** May change the meaning of what holds it. */
  readonly modifier?: true;
  /** Keys of the rules (`InvariantRow.id`) that hold with each value of this element as their focus. */
  readonly rules?: readonly string[];
  /** Form in XML where it is not a child element: an attribute, or XHTML. */
  readonly xml?: 'attribute' | 'xhtml';
}

/** A resource type, a datatype, or a backbone type (an element with children of its own). */
export interface TypeRow {
  /** `Patient`, `HumanName`, or for a backbone type its path: `Patient.contact`. */
  readonly name: string;
  readonly kind: 'resource' | 'datatype' | 'backbone';
  readonly abstract?: true;
  /**
   * A resource type that the release of FHIR lacks. Its resources may say what defines them, by `resourceDefinition`.
   * https://build.fhir.org/resource.html#additional
   */
  readonly additional?: true;
  /** The type whose elements come before these, each exactly as it is there, and whose rules hold too. */
  readonly base?: string;
  readonly elements: readonly ElementRow[];
  /** Ids of the rules with the whole value as their focus. */
  readonly rules?: readonly string[];
}

/** A primitive type. https://hl7.org/fhir/R5/datatypes.html#primitive */
export interface PrimitiveRow {
  readonly name: string;
  /** The primitive it specialises (`code` is a `string`). */
  readonly base?: string;
  /** JSON form of its value. */
  readonly json: 'string' | 'number' | 'boolean';
  /** ECMAScript regular expression for the value's text, without anchors; to be used whole and with the `u` flag. */
  readonly pattern?: string;
  /** Bounds of the value, for integers. Text, because integer64 exceeds a double. */
  readonly min?: string;
  readonly max?: string;
  /** Greatest length in characters. */
  readonly maxLength?: number;
}

/** A rule in FHIRPath. https://hl7.org/fhir/R5/conformance-rules.html#constraints */
export interface InvariantRow {
  /** The key (`pat-1`); where one key names several rules, the key and the type: `inv-1@Task`. */
  readonly id: string;
  readonly severity: 'error' | 'warning';
  readonly expression: string;
  /** What the rule says, for people. */
  readonly human: string;
  /** A warning that only recommends. */
  readonly bestPractice?: true;
}

/**
 * The codes of a value set with a required binding, as far as the package can tell: each system and its codes.
 * Value sets that only a terminology server can decide have no table.
 */
export interface CodeTable {
  /** Canonical of the value set, without version. */
  readonly url: string;
  readonly codes: Readonly<Record<string, readonly string[]>>;
}
