import { FhirError } from '../../fhir/errors.js';
import { searchDefinitions, type SearchDefinitions } from '../../indexing/definitions.js';
import { OF_ONE_TYPE } from '../../indexing/parameter-kinds.js';
import { isLinkName } from '../../search/parse/link-name.js';
import type { CriterionContext } from '../../search/parse/parse-criterion.js';
import { codesOf } from '../../search/parse/unknown-parameter.js';
import type { SearchSettings } from '../../core/search-services/search-settings.js';
import type { Services } from '../../core/services.js';
import { quote } from '../../fhir/quote.js';

/** A parameter as the client sent it. */
export interface SentParameter {
  readonly name: string;
  readonly value: string;
  readonly isInUrl: boolean;
}

/** The input of `readSearchRequest`. */
export interface SearchInput {
  /** The type whose parameters are valid; absent: the parameters that all types have are valid. */
  readonly type?: string | undefined;
  /** Without `type`: the types that are searched, of which `_type` chooses. Absent: all. */
  readonly types?: readonly string[] | undefined;
  readonly params: readonly SentParameter[];
  /** Unknown parameters are ignored instead of refused. */
  readonly isLenient: boolean;
  /** The parameters came in a body, where longer lists of values are accepted. */
  readonly isPosted: boolean;
  /** Milliseconds since the epoch, for `ap` of dates. */
  readonly now: number;
}

/** The services that reading a search needs. */
export type SearchServices = Pick<Services, 'tables' | 'zone' | 'search' | 'subset' | 'own'>;

/** How the criteria of a search are read. */
export interface SearchContext {
  readonly context: CriterionContext;
  /** The type that has the parameters; in a search over several types the type that all of them inherit from. */
  readonly owner: string;
  /** @throws FhirError `parameter-unknown` for a parameter that a search over several types does not take */
  readonly check: (name: string) => void;
}

/** How the criteria of a search are read, over one type or over several. */
export function searchContext(
  { type, isPosted, now }: Omit<SearchInput, 'params'>,
  settings: SearchSettings,
  { tables, zone, own }: SearchServices,
): SearchContext {
  const definitions = searchDefinitions(tables);
  const owner = type ?? rootOf(tables.search);
  const rows = definitions.rowsOf(owner);
  const context = {
    rows,
    isResourceType: definitions.isResourceType,
    zone,
    now,
    own,
    maxAlternatives: isPosted ? settings.postValues : settings.values,
    text: {},
    hierarchy: type === undefined ? undefined : { type, hierarchies: definitions.hierarchies() },
    links: type === undefined ? undefined : { type, definitions, most: settings.links },
  };
  return { context, owner, check: type === undefined ? (name) => checkCommon(name, rows) : () => {} };
}

/** The type that all types inherit from: the only one without a base. https://hl7.org/fhir/R5/resource.html */
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
