/** The typed client: `kiln/client`. It runs in Node and in browsers, and needs nothing but `fetch` (and jose for tokens). */
export { backendServices, type BackendServicesOptions } from './backend-services.js';
export {
  FhirClient,
  referenceTo,
  type JsonPatch,
  type OperationCall,
  type OperationName,
  type OperationQuery,
  type Referred,
} from './client.js';
export { FhirClientError, type ClientOptions } from './http.js';
export type { Criteria, ParameterValue, Search } from './search.js';
export type { Transaction } from './transaction.js';
