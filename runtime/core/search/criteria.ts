import { neededOn, uniteNeeded } from '../../auth/access/needed-scopes.js';
import { scopeMissing } from '../../auth/access/refuse.js';
import { criteriaAccess } from '../../auth/access/search-access.js';
import { linksOf } from '../../auth/access/search-links.js';
import type { Access } from '../../auth/scopes/access.js';
import type { Principal } from '../../auth/scopes/principal.js';
import { withinReach } from '../../auth/scopes/reach.js';
import { FhirError, type RequestPart } from '../../fhir/errors.js';
import { parseQuery } from '../../fhir/parse-query.js';
import { FILTER } from '../../search/filter/read-filter.js';
import { isLinkName } from '../../search/parse/link-name.js';
import { isMembership } from '../../search/parameter-kinds.js';
import { splitName } from '../../search/parse/parse-plain.js';
import { printCondition } from '../../search/query/print.js';
import type { Condition, Criterion } from '../../search/query/query.js';
import { sortCondition } from '../../search/query/sort-condition.js';
import type { FindQuery, Precondition } from '../../store/store.js';
import { checkConstraintIndexes, recordConstraints } from '../access/constraint-index-status.js';
import { describeStaleIndex, staleParameters, usesStored } from '../definitions/index-status.js';
import { FORM } from './pages/page-walk.js';
import { unindexedQuestions, unindexedText } from './present/warnings.js';
import { isInclude } from './parse/read-include.js';
import { resolveCriteria } from './execute/resolve-criteria.js';
import { RESULT_PARAMETERS } from './parse/result-parameters.js';
import { withinConstraints } from './authorize/constrain-search.js';
import { withinBudget } from './execute/search-budget.js';
import { readSearchRequest, type SearchRequest } from './parse/search-request.js';
import type { Services } from '../services.js';
import type { Matches, WriteView } from '../write/write-plan.js';
import { belowBase } from '../../path/own-base.js';

/** A search that decides which resource a write or a reference is about. */
export interface Criteria {
  readonly type: string;
  /** Alike for criteria that are alike but for their order. Within what whoever asks may search. */
  readonly where: Condition;
  /** For `commit`: who uses the same criteria waits, whatever they may search. */
  readonly key: string;
  /** As a client knows it: `Patient?identifier=…`. */
  readonly text: string;
  /** Where they stand in a request; absent: in its body. */
  readonly part?: RequestPart;
  /**
   * Asks whether the index could miss what is there. That may change until the write has its turn, so it is asked then.
   *
   * @returns preconditions by which it stays so until the write is done
   * @throws FhirError `index-not-current`
   */
  readonly checkIndex: (view: Pick<WriteView, 'finds'>) => Promise<readonly Precondition[]>;
}

/**
 * Whatever criteria find, once it is their turn.
 *
 * @param most as in `WriteView.match`
 * @throws FhirError `index-not-current` where the index could miss what is there
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

/** Where criteria come from. */
export interface CriteriaSource {
  /** As in `Call`. */
  readonly base: string;
  readonly signal?: AbortSignal | undefined;
  readonly principal: Principal;
}

/** What criteria are read with. */
export type CriteriaServices = Pick<
  Services,
  'tables' | 'store' | 'extract' | 'limits' | 'zone' | 'search' | 'subset' | 'indexStatus'
>;

/**
 * Reads the criteria of a conditional write or reference: a search that nothing may be left out of, because what it does not
 * find is created, and what it finds is changed. They look at nothing but what whoever asks may search, so that nothing can be
 * learned by them of other resources. https://hl7.org/fhir/R5/http.html#cond-update
 *
 * @throws FhirError as a search, `parameter-invalid` for links, and for parameters that say how results are shown or have no value,
 * `criteria-missing`, `scope-missing`, and `index-not-current` where a search could miss what is there
 */
export async function readCriteria(
  type: string,
  params: URLSearchParams,
  { base, signal, principal }: CriteriaSource,
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
  const input = { type, params: sent, isLenient: false, isPosted: false, now: Date.now(), base };
  const request = readSearchRequest(input, services);
  const access = recordConstraints(criteriaAccess(principal.access));
  checkScopes(type, request.criteria, access);
  await checkCurrent(request, services);
  const { store, extract, limits, tables, zone } = services;
  const where = await withinBudget(limits.queryTime, signal, (within) => {
    const find = withinConstraints(access, (query: FindQuery) => store.find(query, within));
    return resolveCriteria(request.criteria, { find, findReadable: find, extract, tables, signal: within, base, zone });
  });
  const alike = sortCondition(where);
  const text = `${type}?${new URLSearchParams(sent.map(({ name, value }): [string, string] => [name, value])).toString()}`;
  const reach = access.on(type, 's');
  await checkConstraintIndexes(access.constraints, services);
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

/** @throws FhirError `index-not-current` where other definitions made entries of what a search uses */
async function checkCurrent(
  request: Pick<SearchRequest, 'used'>,
  services: Pick<Services, 'indexStatus' | 'tables'>,
): Promise<void> {
  const old = describeStaleIndex(await staleParameters(request, services));
  if (old !== undefined) throw new FhirError('index-not-current', old);
}

/**
 * Cuts up a query as it stands in `If-None-Exist`, in an entry of a Bundle or in a conditional reference: `identifier=x`,
 * `?identifier=x`, `Patient?identifier=x`, or the latter below the base.
 *
 * @returns absent `type`: it names none
 * @throws FhirError `parameter-invalid` where it is not encoded well, or lies below another base
 */
export function splitQuery(text: string, base: string): { readonly type?: string; readonly params: URLSearchParams } {
  const local = belowBase(text, base) ?? text;
  const [root] = /^[a-z][a-z0-9+.-]*:\/\/[^?]*/i.exec(local) ?? [];
  if (root !== undefined) {
    const own = base === '' ? '' : `, ${base}`;
    const text = `${quote(root)} lies under another base than that of this server${own}; the query alone is enough`;
    throw new FhirError('parameter-invalid', text);
  }
  const [, type = '', query = local] = /^\/?([A-Za-z]*)\?(.*)$/s.exec(local) ?? [];
  return { ...(type !== '' && { type }), params: parseQuery(query) };
}

/** They are a search of their type, and of those whose hierarchies they name. */
function checkScopes(type: string, criteria: readonly Criterion[], access: Access): void {
  const types = [type, ...(linksOf(criteria, access).chain || [])];
  if (types.every((each) => access.on(each, 's') !== 'nothing')) return;
  throw scopeMissing(uniteNeeded(types.map((each) => neededOn(each, 's'))));
}

/** Writes wait for others with the same criteria, and are checked once more at the end; both know one type alone. */
function linked(name: string): FhirError {
  const text =
    `${quote(name)} asks for other resources, and whether writes of those change what it finds cannot be guarded, so it is ` +
    'no criterion for a write or a reference; search by it first, then write by id, or by what the resource itself says';
  return new FhirError('parameter-invalid', text);
}

function noCriterion(name: string, why: string): FhirError {
  return new FhirError('parameter-invalid', `${quote(name)} ${why}, so it is no criterion for a write; leave it out`);
}

function quote(text: string): string {
  return JSON.stringify(text.length > 64 ? `${text.slice(0, 64)}…` : text);
}
