export type * from './profiles.js';
export type * from './rest.js';
export type * from './search.js';
export type * from './tables.js';
export type * from './types.js';
export { SORT_SLOTS } from './search.js';
export { CONTRACT_VERSION } from './version.js';
export { WIRED_OPERATIONS, type WiredOperation } from './wired.js';
