export type * from './rest.js';
export type * from './search.js';
export type * from './tables.js';
export type * from './types.js';
export { CONTRACT_VERSION } from './version.js';
