import { OwnBases } from '../../../runtime/path/own-bases.js';
import { tables } from '../../../generated/tables.js';
import { searchDefinitions } from '../../../runtime/indexing/definitions.js';
import { parseCriterion } from '../../../runtime/search/parse/parse-criterion.js';
import type { Condition } from '../../../runtime/search/query/query.js';
import { createZone } from '../../../runtime/indexing/values/zone.js';

const definitions = searchDefinitions(tables);
const zone = createZone('UTC');

/** Criteria as a server reads them. */
export function readConditions(type: string, query: readonly (readonly [name: string, value: string])[]): Condition[] {
  const context = {
    rows: definitions.rowsOf(type),
    isResourceType: definitions.isResourceType,
    links: { type, definitions },
    zone,
    own: new OwnBases(),
    now: Date.UTC(2025, 0, 1),
    maxAlternatives: 1000,
  };
  return query.map(([name, value]) => parseCriterion(name, value, context));
}
