import { createHash } from 'node:crypto';

import { printCondition } from '../search/query/print.js';
import type { Condition } from '../search/query/query.js';
import type { Guard } from './store.js';

/**
 * What guards of the same type and condition have in common, however its criteria are ordered: a digest, for criteria hold names
 * and identifiers of people.
 */
export function guardKey({ type, where }: Guard): string {
  const text = conjuncts(where).map(printCondition).sort().join('\n');
  return createHash('sha256').update(`${type}?${text}`).digest('base64url');
}

function conjuncts(where: Condition): readonly Condition[] {
  return 'all' in where ? where.all.flatMap(conjuncts) : [where];
}
