import type { Store } from '../../../runtime/store/store.js';
import { amendMeta } from './meta/amend-meta.js';
import { amendedMeanwhile } from './meta/amended-meanwhile.js';
import { changes } from './changes.js';
import { claims } from './claims.js';
import { closureTables } from './closure.js';
import { conformance } from './conformance.js';
import { diff } from './diff.js';
import { everything } from './everything/everything.js';
import { everythingSelected } from './everything/everything-selected.js';
import { expunge } from './expunge.js';
import { forms } from './forms/forms.js';
import { graphs } from './graphs.js';
import { largeAnswers } from './limits/large-answers.js';
import { countedLimits } from './limits/counted-limits.js';
import { merge } from './merge.js';
import { operations } from './meta/meta.js';
import { oddContents } from './odd-contents.js';
import { observations } from './observations.js';
import { patients } from './patients.js';
import { searchByCodes } from './search-codes.js';
import { binaries } from './query/binaries.js';
import { graphqlErrors } from './query/graphql-errors.js';
import { graphql } from './query/graphql.js';
import { hfqlLanguage } from './query/hfql-language.js';
import { hfql } from './query/hfql.js';
import { sqlRun } from './query/sql-run.js';
import { sqlAnswers } from './query/sql-answers.js';
import { sqlCells } from './query/sql-cells.js';
import { sqlQueries } from './query/sql-queries.js';
import { storedViews } from './query/stored-views.js';
import { replaceReferences } from './replace-references.js';
import { validateCodes } from './validate-codes.js';
import { terminology } from './terminology/terminology.js';
import { terminologyCases } from './terminology/terminology-cases.js';
import { terminologyCosts } from './terminology/terminology-costs.js';
import { terminologyRules } from './terminology/terminology-rules.js';
import { terminologySecrets } from './terminology/terminology-secrets.js';

/** What operations do, whatever the store. Each suite gets a store of its own, with nothing in it. */
export const SUITES: Readonly<Record<string, (store: Store) => void>> = {
  operations,
  'costs of terminology': terminologyCosts,
  $changes: changes,
  '$sql-run': sqlRun,
  'stored views': storedViews,
  'SQL answers': sqlAnswers,
  'cells of SQL': sqlCells,
  'SQL queries': sqlQueries,
  $diff: diff,
  observations,
  patients,
  conformance,
  everything,
  'selection of $everything': everythingSelected,
  graphs,
  $graphql: graphql,
  'errors of $graphql': graphqlErrors,
  claims,
  'replacement of references': replaceReferences,
  'merge of patients': merge,
  terminology,
  'rules of terminology': terminologyRules,
  'cases of terminology': terminologyCases,
  'secrets of terminology': terminologySecrets,
  $closure: closureTables,
  'codes in $validate': validateCodes,
  'search by sets of codes': searchByCodes,
  expunge,
  hfql,
  'Binaries in queries': binaries,
  'the language of HFQL': hfqlLanguage,
  'changes of meta': amendMeta,
  'changes of meta beside writes': amendedMeanwhile,
  'all forms of': forms,
  'odd contents': oddContents,
  'large answers': largeAnswers,
  'counted limits': countedLimits,
};
