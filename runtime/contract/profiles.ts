/**
 * Rows that describe profiles: only what a profile adds to the definition of its type.
 * Specification: https://hl7.org/fhir/R5/profiling.html, https://hl7.org/fhir/R5/elementdefinition.html
 */

/** A profile of a resource type or datatype, or the definition of an extension. */
export interface ProfileRow {
  readonly url: string;
  readonly version?: string;
  /** The type that it constrains: `Observation`, `Extension`. */
  readonly type: string;
  /** The whole value. */
  readonly root: ProfileElementRow;
  /** Profiles that a resource of this one has to conform to as well. */
  readonly imposes?: readonly string[];
  /** Where an extension may be; absent: it is none, or its definition says nothing. */
  readonly contexts?: readonly ExtensionContextRow[];
  /** Of an extension: FHIRPath that holds for each element that has it. */
  readonly contextRules?: readonly string[];
  /** Of an extension: it belongs into `modifierExtension`. */
  readonly modifier?: true;
  /** Of an extension: its publisher marks it as not normative, so that what others wrote by it may follow another version. */
  readonly trial?: true;
}

/** https://hl7.org/fhir/R5/structuredefinition-definitions.html#StructureDefinition.context */
export interface ExtensionContextRow {
  readonly type: 'element' | 'extension' | 'fhirpath';
  readonly expression: string;
}

/** Changes that a profile makes to one element, or to one slice of it. Absent members: as the type has it. */
export interface ProfileElementRow {
  /** Name in JSON; for a choice element the stem; for the root the type. */
  readonly name: string;
  readonly choice?: true;
  /** Name of the slice; reslices are named `slice/reslice`. Absent: the element itself. */
  readonly slice?: string;
  readonly min?: number;
  readonly max?: number;
  readonly types?: readonly ProfileTypeRow[];
  /** The value has to be this. */
  readonly fixed?: unknown;
  /** The value has to have all of this. */
  readonly pattern?: unknown;
  /** Greatest length of a text, in characters. */
  readonly maxLength?: number;
  /** Least and greatest value, of the type of the element; for a date or time also a duration: so long before or after now. */
  readonly minValue?: unknown;
  readonly maxValue?: unknown;
  /** Extensions do not stand for the value. */
  readonly mustHaveValue?: true;
  readonly binding?: ProfileBindingRow;
  readonly rules?: readonly ProfileRuleRow[];
  readonly mustSupport?: true;
  /** What holds for another element of this profile holds here too: its path, `Composition.section`. */
  readonly like?: string;
  readonly children?: readonly ProfileElementRow[];
  readonly slicing?: SlicingRow;
  /** In the order of the definition. */
  readonly slices?: readonly ProfileElementRow[];
}

/** A type that an element may have. */
export interface ProfileTypeRow {
  /** Absent: the one that the element has anyway. */
  readonly code?: string;
  /** The value conforms to one of these. `url#id` means one element of a profile. */
  readonly profiles?: readonly string[];
  /** What a reference or canonical points to conforms to one of these. */
  readonly targets?: readonly string[];
  /** Where the target of a reference may be; absent: anywhere. https://hl7.org/fhir/R5/valueset-resource-aggregation-mode.html */
  readonly aggregation?: readonly AggregationRow[];
}

/** Contained in the resource, in the same Bundle, or anywhere but contained. */
export type AggregationRow = 'contained' | 'bundled' | 'referenced';

/** A value set that the codes come from, and others that they have to come from too. */
export interface ProfileBindingRow {
  readonly strength: 'required' | 'extensible';
  readonly valueSet: string;
}

/** A rule in FHIRPath. */
export interface ProfileRuleRow {
  readonly key: string;
  readonly severity: 'error' | 'warning';
  readonly expression: string;
  /** What the rule says, for people. */
  readonly human: string;
}

/** https://hl7.org/fhir/R5/profiling.html#slicing */
export interface SlicingRow {
  readonly discriminators: readonly DiscriminatorRow[];
  readonly rules: 'open' | 'closed' | 'openAtEnd';
  readonly ordered?: true;
}

/** https://hl7.org/fhir/R5/profiling.html#discriminator */
export interface DiscriminatorRow {
  readonly type: 'value' | 'pattern' | 'type' | 'exists' | 'position' | 'profile';
  /** `$this`, names, `extension('url')`, `resolve()`, `ofType(T)`, with dots between. */
  readonly path: string;
}
