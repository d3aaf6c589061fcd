import type { Access } from '../../../auth/scopes/access.js';
import { withinReach, type Reach } from '../../../auth/scopes/reach.js';
import type { OutcomeIssue } from '../../../fhir/outcome-issue.js';
import { searchDefinitions } from '../../../search/parse/definitions.js';
import type { Condition, Target } from '../../../search/query/query.js';
import type { UsedParameter } from '../../../search/parse/used-by.js';
import { UNINDEXED } from '../../../search/unindexed.js';
import type { Services } from '../../services.js';
import { anyVisible } from '../../access/any-visible.js';

/** A parameter whose expression may have failed on resources, and what finds these. */
export interface UnindexedQuestion {
  /** As people know it: `Patient.x-colour`. */
  readonly name: string;
  /** One for each type; none: nothing of them may be seen. */
  readonly parts: readonly Target[];
}

/** What questions are asked about. */
export interface UnindexedContext {
  /** Types that are searched: a parameter that all types have is asked of these. */
  readonly types: readonly string[];
  /** What of a type is looked at. */
  readonly reach: (type: string) => Reach;
}

/**
 * What is to be asked of the parameters that a search uses, of those whose expressions may fail on resources, or cost too much there.
 */
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

/**
 * What is to be known of the parameters that a search uses and whose expressions failed on some resources, or cost too much there:
 * these are stored and not found by them. Only resources that the token shows are looked at, so that of others nothing is told.
 *
 * @throws FhirError `index-not-current` as `seenAny`
 */
export async function unindexedWarnings(
  used: readonly UsedParameter[],
  types: readonly string[],
  access: Access,
  services: Pick<Services, 'store' | 'tables' | 'indexStatus'>,
  signal?: AbortSignal,
): Promise<OutcomeIssue[]> {
  const ask = (seen: Access) => {
    return unindexedQuestions(used, { types, reach: (type) => seen.onAny(type, ['s', 'r']) }, services.tables);
  };
  const names = (await anyVisible(ask, access, services, signal)).map(({ name }) => name);
  if (names.length === 0) return [];
  return [{ severity: 'warning', issue: 'incomplete', code: 'index-not-current', text: unindexedText(names) }];
}

/** @param names of parameters */
export function unindexedText(names: readonly string[]): string {
  return (
    `The expression of ${names.join(', ')} failed on some resources, or took too long or found too much there: ` +
    'they are stored, and searches by it may miss them'
  );
}
