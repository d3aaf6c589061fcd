import { localParam } from '../../indexing/parameter-kinds.js';
import { searchDefinitions } from '../../indexing/definitions.js';
import type { Condition, Criterion, Target } from '../../search/query/query.js';
import { usedBy } from '../../search/parse/used-by.js';
import { containedType } from '../../store/contained-resources.js';
import type { ServiceTables } from '../../core/services.js';

/** A chain as the client asks for it. */
export type ChainCriterion = Extract<Criterion, { readonly chain: unknown }>;

/**
 * Extends a chain to the contained resources that its references lead to. https://hl7.org/fhir/R5/search.html#contained
 *
 * A chain is not extended where its criterion has no meaning for a contained resource: `_id`, `_lastUpdated`, `_has`, membership.
 * Nor where it uses a stored search parameter, of which contained resources have no index entries (`storedBeyond`).
 *
 * @param asked the chain before its criteria were resolved
 * @param chain the resolved targets of the chain
 */
export function intoContained(asked: ChainCriterion, chain: readonly Target[], tables: ServiceTables): Condition {
  const { param } = asked;
  const plain = { param, chain };
  const within = chain.flatMap(({ type, where }, i): readonly Target[] => {
    const target = asked.chain[i]!;
    if (goesByPlace(target.where) || storedIn(target, tables) !== undefined) return [];
    return [{ type: containedType(type), where }];
  });
  return within.length === 0 ? plain : { some: [plain, { param: localParam(param), chain: within }] };
}

/** A stored parameter that keeps a chain from contained resources of a type. */
export interface StoredBeyond {
  /** Name of the chain's parameter, as the client sent it. */
  readonly name: string;
  readonly code: string;
  readonly type: string;
}

/** The stored parameters that keep chains of a criterion from contained resources. */
export function storedBeyond(name: string, criterion: Criterion, tables: ServiceTables): readonly StoredBeyond[] {
  const inner = (each: Criterion): readonly StoredBeyond[] => storedBeyond(name, each, tables);
  if ('all' in criterion) return criterion.all.flatMap(inner);
  if ('some' in criterion) return criterion.some.flatMap(inner);
  if ('not' in criterion) return inner(criterion.not);
  if ('has' in criterion) return inner(criterion.has.where);
  if (!('chain' in criterion)) return [];
  return criterion.chain.flatMap((target) => {
    const code = goesByPlace(target.where) ? undefined : storedIn(target, tables);
    return code === undefined ? [] : [{ name, code, type: target.type }];
  });
}

/** Whether a criterion has a chain, on this side of other chains. */
export function hasChain(criterion: Criterion): boolean {
  return isSome(criterion, (each) => 'chain' in each);
}

/** Whether there are codes to look up in a criterion. */
export function hasCodes(criterion: Criterion): boolean {
  return isSome(criterion, (each) => 'codes' in each);
}

/** Whether a criterion depends on references to contained resources: chains follow them, and `:missing` counts them. */
export function asksForContainedChains(criterion: Criterion): boolean {
  return isSome(criterion, (each) => 'chain' in each || ('present' in each && each.present === 'reference'));
}

/** Whether something holds for a part of a criterion. Criteria at the far end of chains are not looked at. */
function isSome(criterion: Criterion, is: (criterion: Criterion) => boolean): boolean {
  if ('all' in criterion) return criterion.all.some((each) => isSome(each, is));
  if ('some' in criterion) return criterion.some.some((each) => isSome(each, is));
  if ('not' in criterion) return isSome(criterion.not, is);
  return is(criterion) || ('has' in criterion && isSome(criterion.has.where, is));
}

function storedIn({ type, where }: ChainCriterion['chain'][number], tables: ServiceTables): string | undefined {
  const definitions = searchDefinitions(tables);
  return usedBy(type, where, definitions).find((used) => definitions.rowsOf(used.type).get(used.code)?.isStored)?.code;
}

/** Whether a condition is about a resource's place on the server, which a contained resource does not have. */
function goesByPlace(where: Criterion): boolean {
  return isSome(where, (each) => 'ids' in each || 'updated' in each || 'has' in each || 'members' in each);
}
