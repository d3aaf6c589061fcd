/**
 * The model (intermediate representation): a FHIR release as plain data with resolved names. It is made from the
 * definitions once, verified, and then only read. It extends the contract's rows by texts for people.
 */
import type {
  AliasRow,
  CapabilityRow,
  CodeTable,
  CompartmentRow,
  ElementRow,
  ExchangeTable,
  GuideRow,
  InvariantRow,
  OperationRow,
  PathRow,
  PrimitiveRow,
  ProfileRow,
  ScopeTable,
  SearchRow,
  TypeRow,
} from '../../runtime/contract/index.js';
import type { Column } from '../../runtime/views/column-kind.js';

/** An element with its texts. */
export interface Element extends ElementRow {
  /** FHIRPath of the definition: `Patient.contact.name`, `Observation.value[x]`. */
  readonly path: string;
  readonly short: string;
  readonly definition: string;
  /** Marked as a reference that leads up a hierarchy. */
  readonly hierarchy?: true;
  /** All bindings, `example` ones too. */
  readonly bound?: { readonly strength: string; readonly valueSet: string };
}

/** A type with all its elements, those of its base included. */
export interface Structure extends Omit<TypeRow, 'elements' | 'rules'> {
  readonly url: string;
  /** `Patient`: file name stem and TypeScript name come from the type that it belongs to. */
  readonly owner: string;
  readonly short: string;
  readonly definition: string;
  readonly elements: readonly Element[];
  /** How many elements at the front are the base's, exactly. */
  readonly inherited: number;
  /** Ids of all rules, those of the base included. */
  readonly rules: readonly string[];
}

/** A search parameter with its text. */
export interface SearchParameterModel extends Omit<SearchRow, 'paths'> {
  readonly id: string;
  readonly description: string;
  readonly paths: readonly PathRow[];
}

/** The parameters that one type (or `Resource`, `DomainResource`) adds. */
export interface SearchTableModel {
  readonly type: string;
  readonly base?: string;
  readonly parameters: readonly SearchParameterModel[];
  /** In code-point order of names. */
  readonly aliases?: readonly AliasModel[];
}

/** Another name of a search parameter, with its reason. */
export interface AliasModel extends AliasRow {
  readonly reason: string;
}

/** An operation with its text. */
export interface OperationModel extends OperationRow {
  readonly description: string;
  /** From `definitions/operations`, not from the package. */
  readonly own: boolean;
}

/** A primitive with its text. */
export interface PrimitiveModel extends PrimitiveRow {
  readonly url: string;
  readonly definition: string;
}

/** A guide or what one needs, and the content that it had. */
export interface GuideModel extends GuideRow {
  readonly sha256: string;
  /** The archive, relative to the checkout; absent: npm has installed it. */
  readonly file?: string;
}

/** A view of SQL on FHIR. */
export interface ViewModel {
  /** Below `definitions/`. */
  readonly file: string;
  readonly name: string;
  readonly url: string;
  readonly description: string;
  /** The resource type that its rows are made of. */
  readonly resource: string;
  readonly columns: readonly (Pick<Column, 'name' | 'type' | 'kind' | 'isCollection'> & {
    readonly description: string;
  })[];
}

/** The whole model. */
export interface Model {
  /** `hl7.fhir.r5.core@5.0.0`. */
  readonly package: string;
  readonly fhirVersion: string;
  /** Packages and the sha256 of what was read of each. */
  readonly inputs: readonly { readonly name: string; readonly version: string; readonly sha256: string }[];
  /** Resources and datatypes in code-point order, each followed by its backbone types in order of definition. */
  readonly structures: readonly Structure[];
  readonly primitives: readonly PrimitiveModel[];
  readonly invariants: readonly InvariantRow[];
  readonly search: readonly SearchTableModel[];
  readonly compartments: readonly CompartmentRow[];
  readonly operations: readonly OperationModel[];
  readonly scopes: ScopeTable;
  readonly exchanges: ExchangeTable;
  readonly codes: readonly CodeTable[];
  readonly capabilities: readonly CapabilityRow[];
  /** In code-point order of canonicals. */
  readonly profiles: readonly ProfileRow[];
  readonly views: readonly ViewModel[];
  /** Guides, and before them what they need. */
  readonly guides: readonly GuideModel[];
  /** Canonicals of the profiles of each guide, which have types of their own. */
  readonly guideProfiles: readonly { readonly guide: string; readonly urls: readonly string[] }[];
  /** Definitions of the package that the errata correct: canonical and reason. */
  readonly corrections: readonly { readonly target: string; readonly reason: string }[];
}
