/**
 * The parts of a StructureDefinition that profiles are made of. Those of the package and those that clients store are read through
 * these types; of the latter only their structure was checked.
 */

/** https://hl7.org/fhir/R5/elementdefinition.html */
export interface DefinedElement {
  readonly id?: string;
  readonly path: string;
  readonly sliceName?: string;
  readonly slicing?: {
    readonly discriminator?: readonly { readonly type: string; readonly path: string }[];
    readonly rules?: string;
    readonly ordered?: boolean;
  };
  readonly min?: number;
  readonly max?: string;
  readonly base?: { readonly path: string; readonly min: number; readonly max: string };
  readonly contentReference?: string;
  readonly type?: readonly DefinedType[];
  readonly binding?: { readonly strength: string; readonly valueSet?: string };
  readonly constraint?: readonly DefinedConstraint[];
  readonly mustSupport?: boolean;
  readonly maxLength?: number;
  readonly mustHaveValue?: boolean;
  readonly isModifier?: boolean;
  /** `fixedCode`, `patternCoding`, `short` and many more. */
  readonly [member: string]: unknown;
}

/** https://hl7.org/fhir/R5/elementdefinition-definitions.html#ElementDefinition.type */
export interface DefinedType {
  readonly code: string;
  readonly profile?: readonly string[];
  readonly _profile?: readonly ({ readonly extension?: readonly DefinedExtension[] } | null)[];
  readonly targetProfile?: readonly string[];
  readonly aggregation?: readonly string[];
  readonly extension?: readonly DefinedExtension[];
}

interface DefinedExtension {
  readonly url: string;
  readonly valueString?: string;
  readonly valueUrl?: string;
}

/** https://hl7.org/fhir/R5/elementdefinition-definitions.html#ElementDefinition.constraint */
export interface DefinedConstraint {
  readonly key: string;
  readonly severity: string;
  readonly human: string;
  readonly expression?: string;
  readonly source?: string;
}

/** https://hl7.org/fhir/R5/structuredefinition.html */
export interface StructureDefinition {
  readonly resourceType: string;
  readonly url: string;
  readonly version?: string;
  readonly type: string;
  readonly kind?: string;
  readonly abstract?: boolean;
  readonly baseDefinition?: string;
  readonly derivation?: string;
  readonly context?: readonly { readonly type: string; readonly expression: string }[];
  readonly contextInvariant?: readonly string[];
  readonly extension?: readonly {
    readonly url: string;
    readonly valueCanonical?: unknown;
    readonly valueCode?: unknown;
  }[];
  readonly snapshot?: { readonly element: readonly DefinedElement[] };
  readonly differential?: { readonly element: readonly DefinedElement[] };
}

/** A definition that cannot be made use of. The text says where and why. */
export class ProfileFault extends Error {}

/** Canonical without its version. */
export function unversioned(canonical: string): string {
  const bar = canonical.indexOf('|');
  return bar < 0 ? canonical : canonical.slice(0, bar);
}

/** Where the specification has its definitions. */
export const CORE = 'http://hl7.org/fhir/StructureDefinition/';

/**
 * Works on a definition that may have been stored without validation, so that it can be of any form.
 *
 * @throws ProfileFault where it is not of the right one
 */
export function ofRightForm<T>({ url }: StructureDefinition, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new ProfileFault(`${url} is not of the right structure, so that nothing can be made of it`);
  }
}
