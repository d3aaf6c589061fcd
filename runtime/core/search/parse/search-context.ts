import { FhirError } from '../../../fhir/errors.js';
import { searchDefinitions, type SearchDefinitions } from '../../../search/parse/definitions.js';
import { OF_ONE_TYPE } from '../../../search/parse/later-parameters.js';
import { isLinkName } from '../../../search/parse/link-name.js';
import type { CriterionContext } from '../../../search/parse/parse-criterion.js';
import { quote } from '../../../search/parse/quote.js';
import { codesOf } from '../../../search/parse/unknown-parameter.js';
import { textBudget } from '../../../search/text/parse-words.js';
import type { SearchInput, SearchServices } from './search-input.js';
import type { SearchSettings } from '../search-settings.js';
import { baseKey } from '../../../path/own-base.js';

/** How the criteria of a search are read. */
export interface SearchContext {
  readonly context: CriterionContext;
  /** The type that has the parameters; of a search over several that which all inherit from. */
  readonly owner: string;
  /** @throws FhirError `parameter-unknown` for what cannot be asked of several types */
  readonly check: (name: string) => void;
}

/** How the criteria of a search of one type, or of several, are read. */
export function searchContext(
  { type, isPosted, now, base }: Omit<SearchInput, 'params'>,
  settings: SearchSettings,
  { tables, zone }: SearchServices,
): SearchContext {
  const definitions = searchDefinitions(tables);
  const owner = type ?? rootOf(tables.search);
  const rows = definitions.rowsOf(owner);
  const common = {
    rows,
    isResourceType: definitions.isResourceType,
    zone,
    now,
    ...(base !== '' && { baseUrl: baseKey(base) }),
    maxAlternatives: isPosted ? settings.postValues : settings.values,
    text: textBudget(),
  };
  if (type === undefined) return { context: common, owner, check: (name) => checkCommon(name, rows) };
  const hierarchy = { type, hierarchies: definitions.hierarchies() };
  const links = { type, definitions, most: settings.links };
  return { context: { ...common, hierarchy, links }, owner, check: () => {} };
}

/** The type that all types inherit from: it has no base itself. https://hl7.org/fhir/R5/resource.html */
export function rootOf(search: SearchServices['tables']['search']): string {
  return search.find(({ base }) => base === undefined)?.type ?? '';
}

function checkCommon(name: string, rows: ReturnType<SearchDefinitions['rowsOf']>): void {
  const [code = ''] = name.split(/[:.]/, 1);
  if (!isLinkName(name) && rows.has(code)) return;
  const what = isLinkName(name) ? 'leads from one type to others' : 'is none that all types have';
  const hint = `search one type, [base]/[type]?…; over several these are valid: ${codesOf(rows)
    .filter((each) => !OF_ONE_TYPE.has(each))
    .join(', ')}`;
  throw new FhirError('parameter-unknown', `The parameter ${quote(name)} ${what}; ${hint}`);
}
