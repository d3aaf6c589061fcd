import type { InteractionHandler } from '../core/services.js';
import { diff } from './diff.js';
import { getResourceCounts } from './get-resource-counts.js';
import { meta } from './meta.js';

/**
 * The operations that are wired, by `OperationRow.id`. Router, `Allow`, `/metadata` and the scope check read this map: an operation
 * that is missing here has no route and is claimed nowhere. See docs/adding-an-operation.md.
 */
export const OPERATIONS: ReadonlyMap<string, InteractionHandler> = new Map([
  ['Resource-meta', meta],
  ['diff', diff],
  ['get-resource-counts', getResourceCounts],
]);
