import { neededOn, uniteNeeded } from '../auth/access/needed-scopes.js';
import { scopeMissing } from '../auth/access/refuse.js';
import { criteriaAccess } from '../auth/access/search-access.js';
import { linksOf } from '../auth/access/search-links.js';
import type { Access } from '../auth/scopes/access.js';
import type { Principal } from '../auth/scopes/principal.js';
import { withinReach } from '../auth/scopes/reach.js';
import { FhirError, type RequestPart } from '../fhir/errors.js';
import { parseQuery } from '../fhir/parse-query.js';
import { FORM, RESULT_PARAMETERS } from '../search/control-parameters.js';
import { FILTER } from '../search/filter/read-filter.js';
import { isLinkName } from '../search/parse/link-name.js';
import { isMembership } from '../indexing/parameter-kinds.js';
import { splitName } from '../search/parse/parse-plain.js';
import { printCondition } from '../search/query/print.js';
import type { CodeSet, Condition, Criterion } from '../search/query/query.js';
import { sortCondition } from '../search/query/sort-condition.js';
import type { FindQuery, Precondition } from '../store/store.js';
import { checkConstraintIndexes, recordConstraints } from '../core/access/constraint-index-status.js';
import { describeStaleIndex, staleParameters, usesStored } from '../core/definitions/index-status.js';
import { unindexedQuestions, unindexedText } from './present/warnings.js';
import { isInclude } from './parse/read-include.js';
import { resolveCriteria } from './execute/resolve-criteria.js';
import { withReadableBinaries } from './readable-binaries.js';
import { withinConstraints } from './authorize/constrain-search.js';
import { withinBudget } from './execute/search-budget.js';
import { readSearchRequest, type SearchRequest } from './parse/search-request.js';
import type { Services } from '../core/services.js';
import type { Matches, WriteView } from '../core/write/write-plan.js';
import type { OwnBases } from '../path/own-bases.js';
import { quote } from '../fhir/quote.js';

/** The criteria of a conditional write or reference: a search that decides which resource it is about. */
export interface Criteria {
  readonly type: string;
  /** Within the constraints of the token. Equal for criteria that differ in their order only. */
  readonly where: Condition;
  /** For `commit`: writes by the same criteria wait for each other, whatever their tokens show. */
  readonly key: string;
  /** For messages: `Patient?identifier=…`. */
  readonly text: string;
  /** The part of the request that has them; absent: its body. */
  readonly part?: RequestPart;
  /**
   * Checks that the index can find every resource. This may change until the write has its turn, so it is checked then.
   *
   * @returns preconditions that keep it so until the write is done
   * @throws FhirError `index-not-current`
   */
  readonly checkIndex: (view: Pick<WriteView, 'finds'>) => Promise<readonly Precondition[]>;
}

/**
 * The resources that criteria find, once the write has its turn.
 *
 * @param most as in `WriteView.match`
 * @throws FhirError `index-not-current` where the index could miss a resource
 */
export async function matchCriteria(
  { type, where, checkIndex }: Pick<Criteria, 'type' | 'where' | 'checkIndex'>,
  view: WriteView,
  most: number,
): Promise<Pick<Matches, 'found'> & { readonly preconditions: readonly Precondition[] }> {
  const preconditions = await checkIndex(view);
  const { found, precondition } = await view.match(type, where, most);
  return { found, preconditions: [...preconditions, precondition] };
}

/** The request that has the criteria. */
export interface CriteriaSource {
  readonly signal?: AbortSignal | undefined;
  readonly principal: Principal;
}

/** The services that criteria need. */
export type CriteriaServices = Pick<
  Services,
  | 'tables'
  | 'store'
  | 'extract'
  | 'limits'
  | 'zone'
  | 'own'
  | 'search'
  | 'subset'
  | 'indexStatus'
  | 'findCodes'
  | 'largeTexts'
>;

/**
 * Reads the criteria of a conditional write or reference. No criterion may be ignored: the write creates what they do not find and
 * changes what they find. They see only resources that the token shows, so that the answer reveals nothing of others.
 * https://hl7.org/fhir/R5/http.html#cond-update
 *
 * @throws FhirError as a search, `parameter-invalid` for links and for parameters that shape the result or have no value,
 * `criteria-missing`, `scope-missing`, and `index-not-current` where the search could miss a resource
 */
export async function readCriteria(
  type: string,
  params: URLSearchParams,
  { signal, principal }: CriteriaSource,
  services: CriteriaServices,
): Promise<Criteria> {
  const sent = [...params].filter(([name]) => !FORM.has(name)).map(([name, value]) => ({ name, value, isInUrl: true }));
  if (sent.length === 0) throw new FhirError('criteria-missing');
  for (const { name, value } of sent) {
    if (Object.hasOwn(RESULT_PARAMETERS, name) || isInclude(name))
      throw noCriterion(name, 'says how results are shown');
    if (value === '') throw noCriterion(name, 'has no value');
    if (isLinkName(name)) throw linked(name);
    if (name === FILTER || isMembership(splitName(name).code))
      throw noCriterion(name, 'may be about other resources, which writes cannot be guarded against');
  }
  const input = { type, params: sent, isLenient: false, isPosted: false, now: Date.now() };
  const request = readSearchRequest(input, services);
  const access = recordConstraints(criteriaAccess(principal.access));
  checkScopes(type, request.criteria, access);
  await checkCurrent(request, services);
  const { store, extract, limits, tables, zone, own } = services;
  const where = await withinBudget(limits.queryTime, signal, (within) => {
    const find = withinConstraints(access, (query: FindQuery) => store.find(query, within));
    const reader = { access: principal.access, signal: within };
    const codesOf = (set: CodeSet) => services.findCodes(set, reader, services);
    const source = { find, findReadable: find, codesOf, extract, tables, signal: within, zone, own };
    return resolveCriteria(request.criteria, source);
  });
  const alike = sortCondition(where);
  const text = `${type}?${new URLSearchParams(sent.map(({ name, value }): [string, string] => [name, value])).toString()}`;
  const bounded = access.on(type, 's');
  await checkConstraintIndexes(access.constraints, services);
  const reach = await withinBudget(limits.queryTime, signal, (within) =>
    withReadableBinaries(bounded, { type, where: alike }, { access: principal.access, signal: within }, services),
  );
  const seen = reach === 'everything' ? alike : sortCondition(withinReach(alike, reach));
  const { used } = request;
  const questions = unindexedQuestions(used, { types: [type], reach: (each) => access.on(each, 's') }, services.tables);
  const isChanging = usesStored(used, services.tables);
  return {
    ...{ type, where: seen, key: `${type}?${printCondition(alike)}`, text },
    async checkIndex(view) {
      if (isChanging) await checkCurrent(request, services);
      const preconditions: Precondition[] = [];
      for (const { name, parts } of questions) {
        for (const part of parts) {
          const { isAny, precondition } = await view.finds(part.type, part.where);
          if (isAny) throw new FhirError('index-not-current', unindexedText([name]));
          preconditions.push(precondition);
        }
      }
      return preconditions;
    },
  };
}

/** @throws FhirError `index-not-current` where a search uses stale parameters */
async function checkCurrent(
  request: Pick<SearchRequest, 'used'>,
  services: Pick<Services, 'indexStatus' | 'tables'>,
): Promise<void> {
  const old = describeStaleIndex(await staleParameters(request, services));
  if (old !== undefined) throw new FhirError('index-not-current', old);
}

/**
 * Splits a query as it appears in `If-None-Exist`, in an entry of a Bundle or in a conditional reference: `identifier=x`,
 * `?identifier=x`, `Patient?identifier=x`, or the latter below the base.
 *
 * @returns `type` is absent where the query names none
 * @throws FhirError `parameter-invalid` where the query is badly encoded or has the base of another server
 */
export function splitQuery(text: string, own: OwnBases): { readonly type?: string; readonly params: URLSearchParams } {
  const local = own.below(text) ?? text;
  const [root] = /^[a-z][a-z0-9+.-]*:\/\/[^?]*/i.exec(local) ?? [];
  if (root !== undefined) {
    const text = `${quote(root)} lies under another base than that of this server; the query alone is enough`;
    throw new FhirError('parameter-invalid', text);
  }
  const [, type = '', query = local] = /^\/?([A-Za-z]*)\?(.*)$/s.exec(local) ?? [];
  return { ...(type !== '' && { type }), params: parseQuery(query) };
}

/** Criteria search their type, and the types whose hierarchies they name. */
function checkScopes(type: string, criteria: readonly Criterion[], access: Access): void {
  const types = [type, ...(linksOf(criteria, access).chain || [])];
  if (types.every((each) => access.on(each, 's') !== 'nothing')) return;
  throw scopeMissing(uniteNeeded(types.map((each) => neededOn(each, 's'))), access);
}

/** Links are refused: the lock on criteria and the check at commit cover one type only. */
function linked(name: string): FhirError {
  const text =
    `${quote(name)} asks for other resources, and whether writes of those change what it finds cannot be guarded, so it is ` +
    'no criterion for a write or a reference; search by it first, then write by id, or by what the resource itself says';
  return new FhirError('parameter-invalid', text);
}

function noCriterion(name: string, why: string): FhirError {
  return new FhirError('parameter-invalid', `${quote(name)} ${why}, so it is no criterion for a write; leave it out`);
}
