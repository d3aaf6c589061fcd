import { narrowMultiType } from '../../auth/access/narrow-search.js';
import type { Access } from '../../auth/scopes/access.js';
import { OPEN_ACCESS } from '../../auth/scopes/principal.js';
import { searchAccess } from '../../auth/access/search-access.js';
import { withinConstraints } from '../../search-execution/authorize/constrain-search.js';
import type { CriteriaServices } from '../../search-execution/criteria.js';
import { withinBudget } from '../../search-execution/execute/search-budget.js';
import { resolveCriteria } from '../../search-execution/execute/resolve-criteria.js';
import { holdsLink, holdsWords, isUnresolved } from '../../search/query/criterion.js';
import { matches } from '../../search/query/match.js';
import { NOTHING, type CodeSet, type Condition, type Criterion } from '../../search/query/query.js';
import type { FindQuery } from '../../store/store.js';
import type { SearchCriteria } from '../plan.js';
import type { Focus } from './focus.js';
import { holdsWithLinks } from './links.js';

/** The services that criteria are judged with. */
export type MatchServices = CriteriaServices;

/** Whether criteria ask for other resources, so that what they find depends on what the owner may search. */
export function asksOthers({ criteria }: SearchCriteria): boolean {
  return criteria.some((each) => isUnresolved(each) || holdsLink(each));
}

/**
 * Whether a version fulfils criteria: as a search with this access would find it, were it current. Other resources count as they are now,
 * and are looked for no longer than a search may take.
 *
 * @throws FhirError `too-costly`, `expansion-too-costly` and others of the look-up of what criteria name
 */
export async function fulfilsCriteria(
  criteria: SearchCriteria,
  seen: Focus,
  given: Access,
  services: MatchServices,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const focus = criteria.criteria.some(holdsWords) ? seen.worded() : seen;
  if (!asksOthers(criteria)) {
    return criteria.criteria.every((each) => matches(each as Condition, focus.candidate));
  }
  const { tables } = services;
  const access = given === OPEN_ACCESS ? given : searchAccess(given, tables.resourceTypes);
  return withinBudget(services.limits.queryTime, signal, async (within) => {
    const condition = await resolveSearch(criteria, access, services, within);
    return holdsWithLinks(narrowed(condition, focus.type, access), focus, services, within);
  });
}

/** The condition that criteria stand for now: value sets, hierarchies and lists in them are looked up. @throws FhirError where they cannot be */
export async function resolveSearch(
  { criteria }: SearchCriteria,
  access: Access,
  services: MatchServices,
  signal: AbortSignal | undefined,
): Promise<Condition> {
  const { store, extract, tables, zone, own } = services;
  const within = signal ?? new AbortController().signal;
  const find = withinConstraints(access, (query: FindQuery) => store.find(query, within));
  const findReadable = withinConstraints(access, (query: FindQuery) => store.find(query, within), 'r');
  const codesOf = (set: CodeSet) => services.findCodes(set, { access, signal: within }, services);
  const now = Date.now();
  const source = { find, findReadable, codesOf, extract, tables, signal: within, zone, own };
  return resolveCriteria(
    criteria.map((each) => atTime(each, now)),
    source,
  );
}

/** Membership is as of now: a topic was compiled long ago. */
function atTime(criterion: Criterion, now: number): Criterion {
  return 'members' in criterion ? { ...criterion, now } : criterion;
}

/** What links may lead to, within what the access gives; nothing where it gives too little. */
function narrowed(condition: Condition, type: string, access: Access): Condition {
  if (access === OPEN_ACCESS) return condition;
  const result = narrowMultiType([{ type, where: condition }], access);
  return result.is === 'narrowed' ? (result.parts[0]?.asked ?? NOTHING) : NOTHING;
}
