import type { Target } from '../search/query/query.js';
import type { Services } from './services.js';

/** Whether anything fulfils some of these. */
export async function isAny(
  parts: readonly Target[],
  { store }: Pick<Services, 'store'>,
  signal?: AbortSignal,
): Promise<boolean> {
  if (parts.length === 0) return false;
  const { versions } = await store.findAcross({ parts, sort: [], count: 1, total: 'none' }, signal);
  return versions.length > 0;
}
