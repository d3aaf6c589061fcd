import type { SortKey } from '../../../search/query/query.js';
import type { SortValue } from '../../../search/query/sort.js';
import { mayBeCut, type FindCursor } from './cursor.js';
import type { Hit } from './hit.js';
import type { Run } from './run.js';
import { sortReaders } from './sort-values.js';

/**
 * The resource that a walk has come to, or a place where one of its id and values would be. Where it is gone its key is that
 * of the last one before it by id.
 */
export function findPlace(run: Run, { id, values }: FindCursor): Hit {
  const before = run.statements.prepare<{ readonly key: number; readonly id: string }>(
    'SELECT key, id FROM resource WHERE type = ? AND id <= ? ORDER BY id DESC LIMIT 1',
  );
  const found = before.get(run.type, id);
  const key = found?.key ?? 0;
  const { sort } = run;
  const isCut = values.map((value) => value?.some((part) => typeof part === 'string' && mayBeCut(part)) === true);
  if (!isCut.includes(true)) return { key, id, values };
  const present = found?.id === id ? sortReaders(run).map((read) => read(key, id)) : [];
  return {
    key,
    id,
    values: values.map((value, i) => (isCut[i] === true ? whole(sort[i]!, value, present[i]) : value)),
  };
}

/** A value that was cut: as it is now, if it is what it was as far as that is known, or else before all that it may have been. */
function whole({ isDescending }: SortKey, value: SortValue | null, present: SortValue | undefined): SortValue | null {
  if (value === null) return null;
  const isSame = present?.every((part, i) => typeof part === 'string' && part.startsWith(String(value[i])));
  if (isSame === true && present !== undefined) return present;
  return isDescending ? value.map((part) => `${part}\u{10ffff}`) : value;
}
