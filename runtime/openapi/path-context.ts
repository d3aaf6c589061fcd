import type { ServiceTables } from '../core/services.js';
import type { JsonObject } from '../fhir/resource.js';
import type { ControlComponents } from './controls.js';
import type { PrimitiveForm } from './schemas.js';

/** Definitions that the operations of a document refer to. */
export interface PathContext {
  readonly tables: ServiceTables;
  /** Where a schema, a parameter or a response is. */
  readonly refTo: (kind: 'schemas' | 'parameters' | 'responses', name: string) => string;
  /** References to the search parameters of a type, in the document of the type; to those of all types where it is undefined. */
  readonly searchParameters: (type: string | undefined) => JsonObject[];
  /** The parameters that are no criteria. */
  readonly controls: ControlComponents;
  /** Media types of patches. */
  readonly patchTypes: readonly string[];
  /** Media types of resources. */
  readonly formats: readonly string[];
  /** Of bodies that may be one of several, a plain document has the first, in JSON. */
  readonly form: PrimitiveForm;
  /** Whether requests need a token. */
  readonly isGuarded: boolean;
}
