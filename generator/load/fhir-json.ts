/**
 * The parts of FHIR's conformance resources that the generator reads. Only `load/`, `model/` and the census in
 * `verify/` use these shapes; all later stages work on the model.
 */

export interface FhirExtension {
  readonly url: string;
  readonly valueUrl?: string;
  readonly valueUri?: string;
  readonly valueString?: string;
  readonly valueCode?: string;
  readonly valueBoolean?: boolean;
}

/** Any definition that has a canonical url. */
export interface Definition {
  readonly resourceType: string;
  readonly id?: string;
  readonly url: string;
  readonly version?: string;
  readonly name?: string;
  readonly title?: string;
  readonly status?: string;
  readonly description?: string;
  readonly extension?: readonly FhirExtension[];
}

/** https://hl7.org/fhir/R5/elementdefinition-definitions.html#ElementDefinition.type */
export interface FhirElementType {
  readonly code: string;
  readonly extension?: readonly FhirExtension[];
  readonly profile?: readonly string[];
  readonly targetProfile?: readonly string[];
}

/** https://hl7.org/fhir/R5/elementdefinition-definitions.html#ElementDefinition.constraint */
export interface FhirConstraint {
  readonly key: string;
  readonly severity: 'error' | 'warning';
  readonly human: string;
  readonly expression?: string;
  readonly extension?: readonly FhirExtension[];
}

/** https://hl7.org/fhir/R5/elementdefinition.html */
export interface FhirElement {
  readonly id: string;
  readonly path: string;
  readonly representation?: readonly string[];
  readonly short?: string;
  readonly definition?: string;
  readonly min: number;
  readonly max: string;
  readonly base?: { readonly path: string };
  readonly type?: readonly FhirElementType[];
  readonly contentReference?: string;
  readonly isModifier?: boolean;
  readonly isSummary?: boolean;
  readonly binding?: { readonly strength: string; readonly valueSet?: string };
  readonly constraint?: readonly FhirConstraint[];
  readonly maxLength?: number;
  readonly minValueInteger?: number;
  readonly maxValueInteger?: number;
  readonly minValueInteger64?: string | number;
  readonly maxValueInteger64?: string | number;
}

/** https://hl7.org/fhir/R5/structuredefinition.html */
export interface StructureDefinition extends Definition {
  readonly kind: 'primitive-type' | 'complex-type' | 'resource' | 'logical';
  readonly abstract: boolean;
  readonly type: string;
  readonly baseDefinition?: string;
  readonly derivation?: 'specialization' | 'constraint';
  readonly snapshot: { readonly element: readonly FhirElement[] };
  /** Set by the loader: the release of FHIR has no such type. */
  readonly isAdditional?: true;
}

/** https://hl7.org/fhir/R5/searchparameter.html */
export interface SearchParameter extends Definition {
  readonly code: string;
  /** Some parameters of R4B have none, and so belong to no type. */
  readonly base?: readonly string[];
  readonly type: string;
  readonly expression?: string;
  readonly target?: readonly string[];
  readonly comparator?: readonly string[];
  readonly modifier?: readonly string[];
  readonly component?: readonly { readonly definition: string; readonly expression: string }[];
}

/** https://hl7.org/fhir/R5/operationdefinition-definitions.html#OperationDefinition.parameter */
export interface FhirOperationParameter {
  readonly name: string;
  readonly use: 'in' | 'out';
  readonly scope?: readonly ('instance' | 'type' | 'system')[];
  readonly min: number;
  readonly max: string;
  readonly documentation?: string;
  readonly type?: string;
  readonly allowedType?: readonly string[];
  readonly targetProfile?: readonly string[];
  readonly searchType?: string;
  readonly binding?: { readonly strength: string; readonly valueSet: string };
  readonly part?: readonly FhirOperationParameter[];
}

/** https://hl7.org/fhir/R5/operationdefinition.html */
export interface OperationDefinition extends Definition {
  readonly code: string;
  readonly affectsState?: boolean;
  readonly resource?: readonly string[];
  readonly system: boolean;
  readonly type: boolean;
  readonly instance: boolean;
  readonly parameter?: readonly FhirOperationParameter[];
}

/** https://hl7.org/fhir/R5/compartmentdefinition.html */
export interface CompartmentDefinition extends Definition {
  readonly code: string;
  readonly experimental?: boolean;
  readonly resource?: readonly { readonly code: string; readonly param?: readonly string[] }[];
}

/** https://hl7.org/fhir/R5/valueset-definitions.html#ValueSet.expansion.contains */
export interface ExpansionEntry {
  readonly system?: string;
  readonly code?: string;
  readonly abstract?: boolean;
  readonly contains?: readonly ExpansionEntry[];
}

/** https://hl7.org/fhir/R5/codesystem.html */
export interface CodeSystem extends Definition {
  readonly content: string;
}

/** https://hl7.org/fhir/R5/valueset.html */
export interface ValueSet extends Definition {
  readonly compose?: {
    readonly include: readonly {
      readonly system?: string;
      readonly concept?: readonly unknown[];
      readonly filter?: readonly unknown[];
    }[];
  };
  readonly expansion?: { readonly extension?: readonly FhirExtension[]; readonly contains?: readonly ExpansionEntry[] };
}
