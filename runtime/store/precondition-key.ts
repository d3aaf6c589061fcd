import { createHash } from 'node:crypto';

import { printCondition } from '../search/query/print.js';
import type { Condition } from '../search/query/query.js';
import type { Precondition } from './store.js';

/**
 * Returns the key that preconditions of the same type and condition have in common, in whatever order the criteria are.
 * It is a digest, because criteria contain names and identifiers of people.
 */
export function preconditionKey({ type, where }: Precondition): string {
  const text = conjuncts(where).map(printCondition).sort().join('\n');
  return createHash('sha256').update(`${type}?${text}`).digest('base64url');
}

function conjuncts(where: Condition): readonly Condition[] {
  return 'all' in where ? where.all.flatMap(conjuncts) : [where];
}
