import type { ProfileRow } from '../../contract/profiles.js';
import type { Resource } from '../../fhir/resource.js';
import type { FhirTypes } from './fhir-types.js';

/** An answer at once, or later. */
export type Soon<T> = T | Promise<T>;

/** A code, and the system that it is of where one is named. */
export interface CodeToCheck {
  readonly system?: string;
  readonly code: string;
  /** It is a value of the type `code`, whose system is that of the value set. https://hl7.org/fhir/R5/datatypes.html#code */
  readonly isPlain?: true;
}

/** Value that a rule is evaluated on. */
export interface RuleFocus {
  readonly value: unknown;
  /** Id and extensions of a primitive: what is under `_name`. */
  readonly beside?: unknown;
  /** Name of its type; of a backbone element the path. */
  readonly type: string;
}

/** Lookups of rules beyond the resource; a result of undefined: it cannot be decided. */
export interface RuleLookups {
  /** Whether a code, a Coding, or one of those of a CodeableConcept is in a value set: `memberOf()`. */
  readonly isMember: (value: RuleFocus, valueSet: string) => boolean | undefined;
  /** What a reference or URL leads to: `resolve()`. */
  readonly resolve: (reference: string) => Resource | undefined;
  /** Whether a value conforms to a profile: `conformsTo()`. */
  readonly conforms: (value: RuleFocus, canonical: string) => boolean | undefined;
}

/** Whether a rule holds; undefined: it cannot be decided. @throws TooCostly where the rules of the resource look at too much */
export type EvaluateRule = (
  expression: string,
  focus: RuleFocus,
  resource: Resource,
  lookups: RuleLookups,
) => boolean | undefined;

/** How a resource is validated. */
export interface ValidationOptions {
  /** What refuses no write is reported as well: `$validate` does so. */
  readonly tellsAll?: boolean;
  /** Canonicals that a client or the configuration asked for: that one of them is not known here is an error. */
  readonly demanded?: ReadonlySet<string>;
  /** Another validation compares the resource with other profiles. */
  readonly isProfiled?: boolean;
  /** The resource is only compared with the profiles: another validation looks at its extensions, and at the resources within it. */
  readonly isPartial?: boolean;
}

/** Dependencies of validation by profiles. */
export interface ProfileDeps extends ValidationOptions {
  readonly types: FhirTypes;
  /** The profile of a canonical; undefined: there is none here. */
  readonly profile: (canonical: string) => Soon<ProfileRow | undefined>;
  /** Why a definition that is stored cannot be used, of a canonical that has no profile; undefined: none is stored. */
  readonly whyUnusable?: (canonical: string) => string | undefined;
  /** Begins to evaluate rules, for one pass over a resource. */
  readonly beginRules: () => EvaluateRule;
  readonly bindings?: {
    /** Whether a code is in a value set; undefined: it cannot be decided. */
    readonly isMember: (valueSet: string, coding: CodeToCheck) => Soon<boolean | undefined>;
  };
  /** What a reference points to outside of the resource; undefined: it is not to be had. */
  readonly resolve?: (reference: string) => Soon<Resource | undefined>;
  /** A value in a unit of UCUM, in the canonical unit of its dimension; undefined: there is none. Absent: units are not converted. */
  readonly toCanonicalUnit?: (
    value: number,
    code: string,
  ) => { readonly value: number; readonly unit: string } | undefined;
  /** Milliseconds since the epoch; absent: the clock of the machine. */
  readonly now?: () => number;
  /** Lets others have a turn, where it is time; undefined: there are none. @throws where no client waits for the result any more */
  readonly pace?: () => Promise<void> | undefined;
}
