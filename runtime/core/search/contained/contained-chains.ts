import { localParam } from '../../../search/parameter-kinds.js';
import { searchDefinitions } from '../../../search/parse/definitions.js';
import type { Condition, Criterion, Target } from '../../../search/query/query.js';
import { usedBy } from '../../../search/parse/used-by.js';
import { containedType } from '../../../store/contained-resources.js';
import type { ServiceTables } from '../../services.js';

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
    return [{ type: containedType(type), where }];
  });
  return within.length === 0 ? plain : { some: [plain, { param: localParam(param), chain: within }] };
}

/** A stored parameter because of which a chain does not lead into contained resources of a type. */
export interface StoredBeyond {
  /** Of the parameter as the client names it. */
  readonly name: string;
  readonly code: string;
  readonly type: string;
}

/** Those of a criterion. */
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

/** Whether chains stand in it. */
export function hasChain(criterion: Criterion): boolean {
  return isSome(criterion, (each) => 'chain' in each);
}

/** Whether references to what is within the same resource count: chains go by them, and they are there or not. */
export function asksForContainedChains(criterion: Criterion): boolean {
  return isSome(criterion, (each) => 'chain' in each || ('present' in each && each.present === 'reference'));
}

/** Of what chains lead to nothing is looked at. */
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

/** Whether a condition is of where a resource lies on the server. */
function goesByPlace(where: Criterion): boolean {
  return isSome(where, (each) => 'ids' in each || 'updated' in each || 'has' in each || 'members' in each);
}
