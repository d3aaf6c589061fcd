import { WIRED_OPERATIONS } from '../../runtime/contract/index.js';
import type { OperationModel } from '../model/model.js';
import type { Span } from './pages-data.js';

const WIRED: ReadonlySet<string> = new Set(WIRED_OPERATIONS);

/** Whether the server answers an operation: its `/metadata` lists the same ones. */
export function isWired({ id }: Pick<OperationModel, 'id'>): boolean {
  return WIRED.has(id);
}

/** What follows the name of an operation that the server does not answer; empty for the others. */
export function unwiredMark(operation: Pick<OperationModel, 'id'>): Span[] {
  return isWired(operation) ? [] : [' ', { mark: 'not supported yet' }];
}
