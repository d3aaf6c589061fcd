/** The typed client: `kiln/client`. It runs in Node and in browsers, and needs nothing but `fetch` (and jose for tokens). */
export { backendServices, type BackendServicesOptions } from './backend-services.js';
export {
  FhirClient,
  referenceTo,
  type Content,
  type GraphqlAnswer,
  type GraphqlOptions,
  type HfqlOptions,
  type OperationCall,
  type OperationName,
  type OperationQuery,
  type Referred,
} from './client.js';
export type { ExportFile, ExportManifest, ExportOptions, ExportProgress } from './export.js';
export {
  FhirClientError,
  type ClientAnswer,
  type ClientOptions,
  type ClientRequest,
  type GraphqlError,
  type RequestOptions,
} from './http.js';
export type { Criteria, ParameterValue, Search, SearchOptions, SystemCriteria } from './search.js';
export type { JsonPatch, Patch, Transaction } from './transaction.js';
