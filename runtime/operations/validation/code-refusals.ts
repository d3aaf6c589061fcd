import type { CodeRefusals } from '../../core/services.js';
import { createCodeFinder, type CodeFinderTables } from '../../validate/codes/find-codes.js';

/** See `CodeRefusals`. What looks codes up is loaded with the first. */
export function createCodeRefusals(tables: CodeFinderTables): CodeRefusals {
  const find = createCodeFinder(tables);
  return async (resource, call, services) => {
    const found = find(resource);
    if (found.codes.length === 0) return [];
    const { unknownCodes } = await import('./validate-codes.js');
    return unknownCodes(found, call, services);
  };
}
