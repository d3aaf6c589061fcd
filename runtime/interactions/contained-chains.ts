import { localParam } from '../search/local-param.js';
import { searchDefinitions } from '../search/query/definitions.js';
import type { Condition, Criterion, Target } from '../search/query/query.js';
import { usedBy } from '../search/query/used-by.js';
import { memberType } from '../store/members.js';
import type { ServiceTables } from './services.js';

/** A chain as it is asked for. */
export type ChainCriterion = Extract<Criterion, { readonly chain: unknown }>;

/**
 * A chain that leads also into what is within the resource that it begins at. https://hl7.org/fhir/R5/search.html#contained
 *
 * Not where what is asked there means nothing of a contained resource: its id on the server, its time, what refers to it; nor where
 * it goes by stored search parameters, which contained resources have no entries of (`storedBeyond`).
 *
 * @param asked the same chain, before it was resolved
 * @param chain what it was resolved to
 */
export function intoContained(asked: ChainCriterion, chain: readonly Target[], tables: ServiceTables): Condition {
  const { param } = asked;
  const plain = { param, chain };
  const within = chain.flatMap(({ type, where }, i): readonly Target[] => {
    const target = asked.chain[i]!;
    if (goesByPlace(target.where) || storedIn(target, tables) !== undefined) return [];
    return [{ type: memberType(type), where }];
  });
  return within.length === 0 ? plain : { some: [plain, { param: localParam(param), chain: within }] };
}

/** The code of a stored parameter because of which chains of a criterion do not lead into contained resources; undefined: there is none. */
export function storedBeyond(criterion: Criterion, tables: ServiceTables): string | undefined {
  if ('all' in criterion) return first(criterion.all, (each) => storedBeyond(each, tables));
  if ('some' in criterion) return first(criterion.some, (each) => storedBeyond(each, tables));
  if ('not' in criterion) return storedBeyond(criterion.not, tables);
  if ('has' in criterion) return storedBeyond(criterion.has.where, tables);
  if (!('chain' in criterion)) return undefined;
  return first(criterion.chain, (target) => (goesByPlace(target.where) ? undefined : storedIn(target, tables)));
}

/** Whether chains stand in it. */
export function hasChain(criterion: Criterion): boolean {
  if ('all' in criterion) return criterion.all.some(hasChain);
  if ('some' in criterion) return criterion.some.some(hasChain);
  if ('not' in criterion) return hasChain(criterion.not);
  return 'chain' in criterion || ('has' in criterion && hasChain(criterion.has.where));
}

function storedIn({ type, where }: ChainCriterion['chain'][number], tables: ServiceTables): string | undefined {
  const definitions = searchDefinitions(tables);
  return usedBy(type, where, definitions).find((used) => definitions.rowsOf(used.type).get(used.code)?.isStored)?.code;
}

/** Whether a condition is of where a resource lies on the server. */
function goesByPlace(where: Criterion): boolean {
  if ('all' in where) return where.all.some(goesByPlace);
  if ('some' in where) return where.some.some(goesByPlace);
  if ('not' in where) return goesByPlace(where.not);
  return 'ids' in where || 'updated' in where || 'has' in where || 'members' in where;
}

function first<T, F>(items: readonly T[], find: (item: T) => F | undefined): F | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
