import type { Items } from '../path/evaluate/item.js';

/** A path, or another text of a view, with its place in it. */
export interface ViewPath {
  readonly text: string;
  readonly place: string;
}

/** Definition of a column. */
export interface ColumnDefinition {
  readonly name: string;
  readonly path: ViewPath;
  /** Name of the type of its values, without the URL before it; absent: what the path says. */
  readonly type?: string;
  readonly description?: string;
  /** Whether its values are lists. */
  readonly isCollection: boolean;
  /** The type in SQL that a tag `ansi/type` gives, with the place of that. */
  readonly sqlType?: ViewPath;
}

/** How a selection finds its nodes. */
export interface Iteration {
  readonly kind: 'forEach' | 'forEachOrNull' | 'repeat';
  readonly paths: readonly ViewPath[];
}

/** A selection: columns, crossed with nested selections and with the rows of a union, for each of its nodes. */
export interface Selection {
  readonly place: string;
  readonly iteration?: Iteration;
  readonly columns: readonly ColumnDefinition[];
  readonly selects: readonly Selection[];
  readonly unionAll: readonly Selection[];
}

/** A ViewDefinition as it is run. https://sql-on-fhir.org/ig/latest/StructureDefinition-ViewDefinition.html */
export interface View {
  readonly name?: string;
  /** The resource type that rows are made of. */
  readonly resource: string;
  /** Values of `%name`, with the types of FHIR. */
  readonly constants: ReadonlyMap<string, Items>;
  /** Its own selections are nested in one without columns. */
  readonly selection: Selection;
  readonly where: readonly ViewPath[];
}
