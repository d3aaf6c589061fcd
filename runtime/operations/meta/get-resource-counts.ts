import { searchAccess } from '../../auth/access/search-access.js';
import { checkConstraintIndexes, recordConstraints } from '../../core/access/constraint-index-status.js';
import type { Call, Reply } from '../../core/call.js';
import { withinBudget } from '../../search-execution/execute/search-budget.js';
import type { Services } from '../../core/services.js';
import type { JsonObject } from '../../fhir/resource.js';
import { readArguments } from '../common/arguments.js';

/**
 * `[base]/$get-resource-counts`: how many resources of each type are stored, deleted ones aside, sorted by type. A token gets the
 * types that it may search, and under a constraint the number of what fulfils that. definitions/operations/get-resource-counts.json
 *
 * @throws FhirError `index-not-current` where the index cannot decide a constraint, `too-costly`
 */
export async function getResourceCounts(call: Call, services: Services): Promise<Reply> {
  readArguments(call, services);
  const { store, tables, limits } = services;
  const { access } = call.principal;
  const recorded = recordConstraints(searchAccess(access, tables.resourceTypes));
  const stored = await store.counts();
  const reaches = [...stored].map(([type, count]) => ({ type, count, reach: recorded.on(type, 's') }));
  await checkConstraintIndexes(recorded.constraints, services);
  const counts = await withinBudget(limits.queryTime, call.signal, async (signal) => {
    const found: [type: string, count: number][] = [];
    for (const { type, count, reach } of reaches) {
      if (reach === 'nothing') continue;
      if (reach === 'everything') found.push([type, count]);
      else {
        const page = await store.find({ type, where: reach, sort: [], count: 0, total: 'accurate' }, signal);
        found.push([type, page.total ?? 0]);
      }
    }
    return found;
  });
  const parameter = counts
    .filter(([, count]) => count > 0)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, valueInteger]): JsonObject => ({ name, valueInteger }));
  return { status: 200, resource: { resourceType: 'Parameters', ...(parameter.length > 0 && { parameter }) } };
}
