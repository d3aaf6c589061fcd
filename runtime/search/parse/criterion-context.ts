import type { SearchRow } from '../../contract/search.js';
import type { SearchDefinitions } from '../../indexing/definitions.js';
import type { HierarchyContext } from './parse-hierarchy.js';
import type { ValueContext } from './parse-value.js';
import type { TextBudget } from '../text/parse-words.js';

/** Context in which criteria are read. */
export interface CriterionContext extends ValueContext {
  /** The parameters of the type that is searched, as `SearchDefinitions.rowsOf` has them. */
  readonly rows: ReadonlyMap<string, SearchRow>;
  /** Greatest number of alternatives in one value. */
  readonly maxAlternatives: number;
  /** Holds what the words of all criteria may cost together; absent: each criterion has a budget of its own. */
  readonly text?: { budget?: TextBudget };
  /** Absent: hierarchies of resources are not followed. */
  readonly hierarchy?: HierarchyContext | undefined;
  /** Absent: chains and reverse chains are refused, because the type that is searched is unknown. */
  readonly links?: LinkContext | undefined;
}

/** Context at the beginning of a chain or reverse chain. */
export interface LinkContext {
  /** The type that is searched. */
  readonly type: string;
  readonly definitions: Pick<SearchDefinitions, 'rowsOf' | 'resourceTypes'>;
  /** Greatest number of links in one name; absent: `MAX_LINKS`. */
  readonly most?: number;
}

/** Context in which the value of one parameter is read. */
export type PlainContext = Omit<CriterionContext, 'rows' | 'links'>;
