import type { JsonObject } from '../../fhir/resource.js';
import type { Condition } from '../../search/query/query.js';
import type { TableFormat } from '../../views/formats.js';
import type { SqlQuery } from '../../views/query/messages.js';

/** Part of an export: the resources of one type. */
export interface ExportPart {
  readonly type: string;
  /** `_typeFilter` within the scopes of the token that started the export. */
  readonly filter?: Condition;
  /**
   * Of a view: what the query asks in place of `filter`. It finds fewer resources, and all that the view has rows of. Past versions are not
   * asked by it: the view tests its conditions itself.
   */
  readonly narrowed?: Condition;
  /** `_typePostFetchFilterUrl`: evaluated on each resource, without the index. */
  readonly postFilter?: Condition;
  /** `_elements` that this type has; absent: whole resources. */
  readonly elements?: readonly string[];
  /** A view: rows are exported in place of resources. */
  readonly view?: ExportView;
}

/** A view of SQL on FHIR whose table is exported. */
export interface ExportView {
  /** Name of its table. */
  readonly name: string;
  /** The ViewDefinition. */
  readonly definition: JsonObject;
  readonly format: Exclude<TableFormat, 'fhir'>;
  /** Whether csv begins with the names of the columns. */
  readonly hasHeader: boolean;
  /** Its rows are for a query: they become no table of the export. */
  readonly isBelow?: true;
}

/** A query over views of an export. */
export interface ExportQuery extends Pick<ExportView, 'name' | 'format' | 'hasHeader'> {
  readonly query: SqlQuery;
  /** Places of the parts that have its views. */
  readonly parts: readonly number[];
}

/** Input of an export, as its job keeps it. The types and conditions of the parts hold what the token allowed. */
export interface ExportInput {
  /** The instant that the files are of, milliseconds since the epoch. */
  readonly transactionTime: number;
  /** URL of the kick-off request. */
  readonly request: string;
  /** FHIR base of the request. */
  readonly base: string;
  /** Digest of all that was asked for: equal requests can share a job. */
  readonly asked: string;
  readonly types: readonly string[];
  readonly parts: readonly ExportPart[];
  /** Queries, whose tables follow those of the parts. */
  readonly queries?: readonly ExportQuery[];
  /** Only what belongs to some patient, or to these; absent: everything. */
  readonly patients?: 'all' | readonly string[];
  /** Of types in no patient's compartment: what the resources in the files refer to; absent: nothing. */
  readonly referred?: readonly ExportPart[];
  /** Changed after, and before, this instant: milliseconds since the epoch. */
  readonly since?: number;
  readonly until?: number;
  /** All versions instead of current ones. */
  readonly isHistory: boolean;
  readonly exportId?: string;
  /** Files are listed as soon as they are whole, by several manifests. */
  readonly isPartial?: true;
  /** Files hold blocks, each of all that belongs to one patient. */
  readonly organizedBy?: 'Patient';
  /** Keys of the files that list the deletions since the snapshot of a publication. */
  readonly deletions?: readonly string[];
}
