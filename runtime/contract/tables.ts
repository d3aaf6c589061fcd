import type { ExchangeTable } from './exchanges.js';
import type { CompartmentRow, SearchTable } from './search.js';
import type { CapabilityRow, GuideRow, OperationRow, RouteRow, ScopeTable } from './rest.js';
import type { CodeTable, InvariantRow, PrimitiveRow, TypeRow } from './types.js';

/** Where the tables came from. */
export interface TablesOrigin {
  readonly contract: number;
  /** `hl7.fhir.r5.core@5.0.0`. */
  readonly package: string;
  /** FHIR release: `5.0.0`. */
  readonly fhirVersion: string;
}

/** All generated tables: the one value that the composition root hands to the runtime. */
export interface Tables {
  readonly origin: TablesOrigin;
  /** Concrete resource types, in code-point order. */
  readonly resourceTypes: readonly string[];
  /** Resources, datatypes and their backbone types. */
  readonly types: readonly TypeRow[];
  readonly primitives: readonly PrimitiveRow[];
  readonly invariants: readonly InvariantRow[];
  readonly search: readonly SearchTable[];
  readonly compartments: readonly CompartmentRow[];
  readonly operations: readonly OperationRow[];
  readonly routes: readonly RouteRow[];
  readonly scopes: ScopeTable;
  readonly exchanges: ExchangeTable;
  readonly codes: readonly CodeTable[];
  readonly capabilities: readonly CapabilityRow[];
  /** Absent: none. */
  readonly guides?: readonly GuideRow[];
}
