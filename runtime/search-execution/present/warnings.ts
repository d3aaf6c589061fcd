import type { Access } from '../../auth/scopes/access.js';
import { withinReach, type Reach } from '../../auth/scopes/reach.js';
import { FhirError } from '../../fhir/errors.js';
import type { OutcomeIssue } from '../../fhir/outcome-issue.js';
import { IS_CUT, MOST_CONTAINED } from '../../indexing/contained.js';
import { searchDefinitions } from '../../indexing/definitions.js';
import type { UsedParameter } from '../../search/parse/used-by.js';
import type { Condition, Criterion, Target } from '../../search/query/query.js';
import { UNINDEXED } from '../../indexing/unindexed.js';
import type { FindPage, IncludePlan, StoredVersion } from '../../store/store.js';
import { anyVisible } from '../../core/access/any-visible.js';
import type { Call } from '../../core/call.js';
import { describeStaleIndex, staleParameters, usesStored } from '../../core/definitions/index-status.js';
import { readStored } from '../../core/read-stored.js';
import type { Services } from '../../core/services.js';
import type { StoredBeyond } from '../contained/contained-chains.js';
import { containedOf, seenContainers } from '../contained/contained-search.js';
import type { SearchRequest } from '../parse/search-request.js';

/** Facts about a search that decide its warnings. */
export interface WarnedSearch {
  readonly request: SearchRequest;
  /** The types that were searched. */
  readonly types: readonly string[];
  /** The parameters that decided what was found. */
  readonly used: readonly UsedParameter[];
  /** Names of search rows that were not current before the search. */
  readonly staleBefore: readonly string[];
  readonly page: FindPage;
  /** The includes that were followed. */
  readonly include: IncludePlan | undefined;
  /** Whether the graph leads to more than the page has. */
  readonly isGraphCut: boolean;
}

/**
 * The warnings of a page: what the request left out, what the page lacks, and what the index may miss.
 *
 * Warnings about stored resources look only at resources that the token shows, so that they reveal nothing of others.
 *
 * @throws FhirError `index-not-current` as `anyVisible`
 */
export async function searchWarnings(
  { request, types, used, staleBefore, page, include, isGraphCut }: WarnedSearch,
  { principal: { access }, signal }: Pick<Call, 'principal' | 'signal'>,
  services: Services,
): Promise<readonly OutcomeIssue[]> {
  return [
    ...request.notes,
    ...(include === undefined || page.cut === undefined ? [] : [includesCut(page.cut, include)]),
    ...(isGraphCut ? [graphCut(services.search.includes)] : []),
    ...(await staleWarnings({ used, before: staleBefore }, services)),
    ...(request.contained === undefined ? [] : await containedCutWarnings(access, services, signal)),
    ...(await versionedChainWarnings(request.criteria, page.versions, services)),
    ...(await containedChainWarnings(request.beyond ?? [], access, services, signal)),
    ...(await unindexedWarnings(used, types, access, services, signal)),
  ];
}

/** Warns of included resources that the page lacks. https://hl7.org/fhir/R5/search.html#include */
function includesCut(cut: NonNullable<FindPage['cut']>, { most, rounds }: IncludePlan): OutcomeIssue {
  const text =
    cut === 'most'
      ? `Not all that _include and _revinclude ask for is here: a page has ${most} such resources at most, fewer where they ` +
        'are large; ask for fewer matches with _count, include less, or search for the rest by itself'
      : `Not all that :iterate asks for is here: it goes on from what was included ${rounds} times; search on from there`;
  return { severity: 'warning', issue: 'incomplete', code: 'includes-cut', text };
}

/** Warns of resources of the graph that the page lacks. */
function graphCut(most: number): OutcomeIssue {
  const text =
    `Not all that the graph leads to is here: a page has ${most} resources beside the matches at most, fewer where they are ` +
    'large; ask for fewer matches with _count, or for less in the graph';
  return { severity: 'warning', issue: 'incomplete', code: 'includes-cut', text };
}

/** Warns of stale parameters: a search by them may miss or add results. @param search as for `staleParameters` */
export async function staleWarnings(
  search: { readonly used: readonly UsedParameter[]; readonly before: readonly string[] },
  services: Pick<Services, 'indexStatus' | 'tables'>,
): Promise<OutcomeIssue[]> {
  const text = describeStaleIndex(await staleParameters(search, services));
  return text === undefined ? [] : [{ severity: 'warning', issue: 'incomplete', code: 'index-not-current', text }];
}

type AskedServices = Pick<Services, 'store' | 'tables' | 'indexStatus'>;

/** Warns where resources contain more than is indexed, in a search of contained resources. */
async function containedCutWarnings(
  access: Access,
  services: AskedServices,
  signal: AbortSignal | undefined,
): Promise<OutcomeIssue[]> {
  const ask = (seen: Access) => [{ parts: seenContainers(IS_CUT, seen, services.tables) }];
  if ((await anyVisible(ask, access, services, signal)).length === 0) return [];
  const text = `Some resources contain more than ${MOST_CONTAINED} others, or too much: what is beyond that is stored, and not found`;
  return [{ severity: 'warning', issue: 'incomplete', code: 'index-not-current', text }];
}

/** Resources that the warning names. */
const NAMED = 10;

/**
 * Warns where a chain went through a reference that names a version: searches know current versions only. Servers SHOULD say so.
 * https://hl7.org/fhir/R5/search.html#versions
 */
async function versionedChainWarnings(
  criteria: readonly Criterion[],
  matches: readonly StoredVersion[],
  services: Pick<Services, 'extract' | 'largeTexts'>,
): Promise<OutcomeIssue[]> {
  const params = new Set(criteria.flatMap(chainedParams));
  if (params.size === 0) return [];
  const names: string[] = [];
  for (const { type, id, json = '' } of matches) {
    // Without this text no reference names a version, and the resource need not be parsed.
    if (!json.includes('/_history/')) continue;
    const entries = services.extract(await readStored(json, services), 'words');
    const isVersioned = entries.some(
      (entry) => entry.kind === 'reference' && params.has(entry.param) && entry.version !== undefined && 'id' in entry,
    );
    if (isVersioned) names.push(`${type}/${id}`);
  }
  if (names.length === 0) return [];
  const list = names.slice(0, NAMED).join(', ');
  const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : '';
  const text = `${list}${more}: the reference names a version; the chain followed the current version instead`;
  return [{ severity: 'warning', issue: 'business-rule', code: 'version-ignored', text }];
}

/** The parameters that chains begin with. */
function chainedParams(criterion: Criterion): readonly string[] {
  if ('all' in criterion) return criterion.all.flatMap(chainedParams);
  if ('some' in criterion) return criterion.some.flatMap(chainedParams);
  if ('not' in criterion) return chainedParams(criterion.not);
  return 'chain' in criterion ? [criterion.param] : [];
}

/** Types that one query asks for. */
const TYPES_PER_QUERY = 20;

/**
 * Warns where chains by stored parameters did not lead into contained resources: these have no entries of such parameters. The
 * warning appears only where resources that the token shows contain some of such a type.
 */
async function containedChainWarnings(
  all: readonly StoredBeyond[],
  access: Access,
  services: AskedServices,
  signal: AbortSignal | undefined,
): Promise<OutcomeIssue[]> {
  const [one] = all;
  if (one === undefined) return [];
  const types = [...new Set(all.map(({ type }) => type))];
  const ask = (seen: Access) => {
    const parts = types.map((type) => containedOf(type, seen, services.tables));
    const starts = [...parts.keys()].filter((at) => at % TYPES_PER_QUERY === 0);
    return starts.map((at) => ({ parts: parts.slice(at, at + TYPES_PER_QUERY) }));
  };
  try {
    if ((await anyVisible(ask, access, services, signal)).length === 0) return [];
  } catch (error) {
    // A stale index cannot say what the token shows. The warning is then given without looking, so that it reveals nothing.
    if (!(error instanceof FhirError) || error.code !== 'index-not-current') throw error;
  }
  const text =
    `${JSON.stringify(one.name.slice(0, 64))} did not look into contained resources: ${JSON.stringify(one.code)} is a search ` +
    'parameter that is stored here, and those are not found by such';
  return [{ severity: 'warning', issue: 'incomplete', code: 'contained-not-searched', text, parameter: one.name }];
}

/** A parameter whose expression may have failed on resources, and the search that finds these. */
export interface UnindexedQuestion {
  /** For messages: `Patient.x-colour`. */
  readonly name: string;
  /** One for each type; empty: the token shows none of the resources. */
  readonly parts: readonly Target[];
}

/** The resources that the questions are about. */
export interface UnindexedContext {
  /** The types that are searched: a parameter that all types have is looked up in these. */
  readonly types: readonly string[];
  /** The resources of a type that are looked at. */
  readonly reach: (type: string) => Reach;
}

/** The searches for resources on which the expression of a used stored parameter failed or took too long. */
export function unindexedQuestions(
  used: readonly UsedParameter[],
  { types, reach }: UnindexedContext,
  tables: Services['tables'],
): UnindexedQuestion[] {
  const { rowsOf, isResourceType } = searchDefinitions(tables);
  const questions = used.flatMap(({ type, code }): UnindexedQuestion[] => {
    const row = rowsOf(type).get(code);
    if (row?.isStored !== true) return [];
    const failed: Condition = { param: UNINDEXED, any: [{ is: 'token', code }] };
    const parts = (isResourceType(type) ? [type] : types).flatMap((each): Target[] => {
      const within = reach(each);
      return within === 'nothing' ? [] : [{ type: each, where: withinReach(failed, within) }];
    });
    return [{ name: `${type}.${code}`, parts }];
  });
  return [...new Map(questions.map((each) => [each.name, each])).values()];
}

/** Warns where the expression of a stored parameter failed on resources: they are stored, and a search by it misses them. */
async function unindexedWarnings(
  used: readonly UsedParameter[],
  types: readonly string[],
  access: Access,
  services: AskedServices,
  signal: AbortSignal | undefined,
): Promise<OutcomeIssue[]> {
  if (!usesStored(used, services.tables)) return [];
  const ask = (seen: Access) =>
    unindexedQuestions(used, { types, reach: (type) => seen.onAny(type, ['s', 'r']) }, services.tables);
  const names = (await anyVisible(ask, access, services, signal)).map(({ name }) => name);
  if (names.length === 0) return [];
  return [{ severity: 'warning', issue: 'incomplete', code: 'index-not-current', text: unindexedText(names) }];
}

/** The text of that warning, and of the error where a write depends on such a search. @param names of parameters */
export function unindexedText(names: readonly string[]): string {
  return (
    `The expression of ${names.join(', ')} failed on some resources, or took too long or found too much there: ` +
    'they are stored, and searches by it may miss them'
  );
}
