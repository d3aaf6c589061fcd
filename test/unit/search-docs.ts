import { MOST_CONTAINED } from '../../runtime/search/contained.js';
import { tables } from '../../generated/tables.js';
import type { SearchRow, SearchTable, SearchType } from '../../runtime/contract/search.js';
import { MAX_HIERARCHY } from '../../runtime/core/search/execute/resolve-criteria.js';
import { RESULT_PARAMETERS } from '../../runtime/core/search/parse/result-parameters.js';
import { operatorsOf } from '../../runtime/search/filter/operators.js';
import { MAX_FILTER } from '../../runtime/search/filter/parse-filter.js';
import { MAX_CORNERS } from '../../runtime/search/places/geojson.js';
import { MAX_PLACES } from '../../runtime/search/places/parse-places.js';
import { searchDefinitions } from '../../runtime/search/parse/definitions.js';
import { PREFIXES } from '../../runtime/search/query/intervals.js';
import { isSearchable, NO_CRITERIA, OF_THEIR_OWN } from '../../runtime/search/parameter-kinds.js';
import { MAX_LINKS } from '../../runtime/search/parse/link-name.js';
import { MOST_SEARCHED_CODES } from '../../runtime/core/search/code-finder.js';
import { modifiersOf } from '../../runtime/search/parse/parse-criterion.js';
import { LATER } from '../../runtime/search/parse/modifiers.js';
import { LONGEST } from '../../runtime/search/text/ascii-words.js';
import { TEXT_BOUNDS } from '../../runtime/search/text/extract-text.js';
import { MOST_TEXT } from '../../runtime/search/text/line.js';
import { MOST_WORDS } from '../../runtime/search/text/has-words.js';
import { SEARCH_BOUNDS } from '../../runtime/search/text/parse-words.js';
import { MAX_WAYS } from '../../runtime/search/parse/resolve-links.js';

/** Types of parameters, in the order of the page. */
export const TYPES = ['string', 'token', 'reference', 'date', 'number', 'quantity', 'uri', 'composite'] as const;

/** Every modifier that the specification has for parameters. https://hl7.org/fhir/R5/search.html#modifiers */
export const MODIFIERS = [
  'missing',
  'exact',
  'contains',
  'text',
  'text-advanced',
  'code-text',
  'not',
  'in',
  'not-in',
  'of-type',
  'identifier',
  'above',
  'below',
  '[type]',
] as const;

const PREFIXED: ReadonlySet<SearchType> = new Set(['date', 'number', 'quantity']);

/** What a cell of the table says. */
export function cellOf(modifier: string, type: SearchType): 'yes' | 'later' | '' {
  const paths = [{ text: '', steps: [], types: ['Coding', 'Reference'] }];
  const hierarchy = { type: 'any', hierarchies: searchDefinitions(tables).hierarchies() };
  if (modifiersOf({ code: 'any', type, paths }, hierarchy).includes(modifier)) return 'yes';
  return LATER[type]?.[modifier] === undefined ? '' : 'later';
}

/** Parameters of the tables that no search works by, each with its type: `Location.near`. */
export function unsearchable(): string[] {
  const names = tables.search.flatMap(({ type, parameters }) =>
    parameters.filter((row: SearchRow) => !isSearchable(row)).map(({ code }) => ({ type, code })),
  );
  const own = names.filter(({ code }) => !Object.hasOwn({ ...NO_CRITERIA, ...OF_THEIR_OWN }, code));
  return own.map(({ type, code }) => `\`${type}.${code}\``);
}

/** Parameters that lead up a hierarchy: `Location.partof`. */
function hierarchyNames(): string {
  const all = [...searchDefinitions(tables).hierarchies()];
  return all.flatMap(([type, codes]) => codes.map((code) => `\`${type}.${code}\``)).join(', ');
}

/** Other names of parameters. */
function aliasNames(): string[][] {
  return tables.search.flatMap(({ type, aliases = [] }: SearchTable) =>
    aliases.map(({ name, code }) => [type, `\`${name}\``, `\`${code}\``]),
  );
}

const count = (number: number): string => number.toLocaleString('en');

/** The page `docs/search-parameters.md`. */
export function searchDocs(): string {
  const { body, head } = TEXT_BOUNDS;
  const reasons = TYPES.flatMap((type) =>
    Object.entries(LATER[type] ?? {}).map(([modifier, reason]) => [`\`:${modifier}\` on ${type}`, reason] as const),
  );
  return [
    '# Search: what works',
    '',
    'Made from the tables that the server reads; `npx vitest run --project fast search-docs -u` writes it anew.',
    '',
    '## Modifiers',
    '',
    '**yes**: it works. **later**: refused by name until what it needs exists. Empty: the specification has none, 400.',
    'What holds for each parameter of each type is in `/metadata`.',
    '',
    ...table(
      ['', ...TYPES],
      MODIFIERS.map((modifier) => [`\`:${modifier}\``, ...TYPES.map((type) => cellOf(modifier, type))]),
    ),
    '',
    'References take `:above` and `:below` with `Type/id` of a type that has a hierarchy. These parameters lead up it:',
    '',
    `${hierarchyNames()}.`,
    '',
    'Each of them goes by itself; all other parameters go by that of the type which they refer to, where it has but one.',
    `A search follows at most ${MAX_HIERARCHY.levels} levels, to ${MAX_HIERARCHY.resources.toLocaleString('en')} resources.`,
    '',
    'Tokens take `:in` and `:not-in` with the URL of a value set or `ValueSet/id`, and `:above` and `:below` with `system|code`. The codes are',
    `looked up first: at most ${count(MOST_SEARCHED_CODES)}, else 422; what is unknown, or hidden from the token, is 400. \`kiln explain-search\` prints them.`,
    'Searches of several types, filters and constraints of scopes have none of them.',
    '',
    '`_id` takes `:missing` and `:not`, `_lastUpdated` takes `:missing` alone.',
    '',
    'Tokens are compared as they stand, case included: one index serves ids, identifiers and codes, and most systems tell the cases',
    'apart. R5 leaves that to the system of the code, and says that a server in doubt SHOULD ignore the case: who needs that asks',
    'with `_filter` (`code eq x`), or with `:code-text` for codes that begin so, both without the case of A to Z. What is a mere string',
    '(`version`, `lot-number`) is compared without the case of A to Z by every search, as R5 demands. `:code-text` looks',
    'at the code, not at its display, which is what `:text` is for. URIs are compared as they stand, too: what has `url` and',
    '`version` is asked for by `url=http://x.example/a&version=2`; `http://x.example/a|2` is for references, where canonicals stand.',
    '',
    '`:missing` goes by what can be searched for: a parameter is missing where the Reference has a display and nothing else, or',
    'the concept a text alone, or where it refers to a contained resource (`#m1`) that is not there, or not found.',
    '',
    ...table(['later', 'why'], reasons),
    '',
    'Parameters of the store (SearchParameters that are active) take what their type takes, and of that what their definition admits; in',
    'filters its comparators count, and its modifiers, which filters have none of, do not.',
    '',
    '## Chains and reverse chains',
    '',
    '`subject.name`, `subject:Patient.organization.name`, `_has:Observation:patient:code`, nested and mixed, with modifiers and',
    'prefixes at the end: as those of the parameter that stands there. References lead on by type and id (whichever version',
    'they name) or, as canonicals, by `url` and `version`, to resources of this server that are not deleted.',
    '',
    `A name has at most ${MAX_LINKS} links. Without a type all targets that have the parameter and take the value are asked, at most`,
    `${MAX_WAYS} combinations of types in one name; more have to be named. \`:identifier\` stands at the end alone`,
    '(`subject:identifier=…`, `subject.identifier=…`). No order goes by a chain, and no write has one among its criteria.',
    '',
    '## Filters',
    '',
    '`_filter=name sw "pet" and (birthdate ge 2014-10-10 or not (organization[active eq true].name co "x"))`: `path operator value`',
    'with `and`, `or` (from left to right, neither binds tighter), `not (…)` and parentheses. A path is a parameter, a chain to',
    'one, or a `_has`; a link of a chain may have a filter of its own in brackets, one of a `_has` not. A value is a JSON string, or all up to white space, `)`',
    'or `]`. Several values are several comparisons: commas are part of a value.',
    '',
    ...table(
      ['type', 'operators'],
      TYPES.map((type) => [
        type,
        operatorsOf(type)
          .map((name) => `\`${name}\``)
          .join(' '),
      ]),
    ),
    '',
    'Dates, numbers and quantities compare as with the prefixes of the same names; `co` on dates: the interval of the resource',
    'holds that of the value, `po`: they overlap. Strings compare without case and accents, in the order of code points. Tokens',
    'are written as in other searches and compare without the case (A to Z) of their codes, ids with it; `loinc|`, `snomed|`, `rxnorm|` and',
    '`ucum|` stand for the systems of these names. `ne` finds resources of which some value is another one; those without this',
    'value are `not (code eq x)`. References take `re`, and `eq` means the same. `ss`, `sb`, `in`, `ni` answer 400: filters look up no',
    'sets of codes; so does `co` on numbers, of which the precision is not kept, and the names that filters alone would',
    'have in R5 (`related`, `relatesTo` …: the composite parameters ask the same).',
    '',
    `A filter has at most ${MAX_FILTER.tests} comparisons, ${MAX_FILTER.depth} brackets within each other, ${MAX_FILTER.height} of \`and\`, \`or\` and \`not\` around each other (each`,
    `change between \`and\` and \`or\` is one) and ${MAX_FILTER.length.toLocaleString('en')} characters. The links before a bracket count for the paths within it. Nothing`,
    'of it is ever ignored. No write has one among its criteria.',
    '',
    '## Full text',
    '',
    '`_text=(bone OR liver) and metastases`: words of the narrative. `_content`: of everything in the resource that people read, which is',
    'strings, markdown and narratives, also in extensions and contained resources; no codes, ids, URLs, dates and numbers.',
    '`Composition?section-text`: of the narratives of sections, and of those in them. `code:text-advanced`: of what stands beside a code, an identifier or a',
    'reference (`CodeableConcept.text`, `Coding.display`, `Identifier.type.text`, `Reference.display`). `code:text=head`: one of these',
    'texts begins so, by words: `headache, left`, but not `acute headache`.',
    '',
    'Words are those of Unicode (UAX 29), without case and accents, without apostrophes, quotation marks and soft hyphens; a colon parts them;',
    `of a word the first ${LONGEST} characters count. There is no stemming: \`metastases\` is not \`metastasis\`. Words stand for all of them;`,
    '`"…"` is a phrase, within one value or one block (paragraph, cell) of a narrative; `AND`, `OR`, `NOT` in either case, AND before',
    'OR, and parentheses. `NOT` stands beside something that is to be there: `a NOT b`. A comma is OR, as everywhere; within a phrase',
    `it is \`\\,\`. At most ${MOST_WORDS} words in one value.`,
    '',
    `Of each parameter of a resource ${count(MOST_TEXT)} characters of words are kept, some 80,000 words, and of a resource ${count(body.content.words)} different words of its`,
    `content and ${count(body.beside.words)} of what stands beside its other parameters (besides ${count(head.content.words)} and ${count(head.beside.words)} of its \`meta\`). What follows is not found by its words.`,
    `Of what only dictionaries and rules divide into words (Chinese, Japanese, Thai, words with unusual signs) that are ${count(body.content.segmented)} characters of the content and ${count(body.beside.segmented)} beside the others, where each piece without a space counts eight more, and a long one a sixth more.`,
    `Texts that are not all ASCII are read up to ${count(body.content.unlike)} characters of the content and ${count(body.beside.unlike)} beside the others. A search may ask for words of ${count(SEARCH_BOUNDS.characters)} characters, ${count(SEARCH_BOUNDS.segmented)} of which only dictionaries and rules divide: 400 \`parameter-invalid\` beyond.`,
    'With `_score=true` each match tells by `search.score` how well it answers, from 0 to 1: how often the words stand in it, less in longer texts (BM25 without frequencies). Nothing sorts by that. `_filter` has no words, and scopes have none.',
    'Entries of earlier versions have no words: searches for some warn until `kiln reindex` is done.',
    '',
    '## Membership',
    '',
    '`_list=42`: what the List refers to, entries that are `deleted` too; functional lists (`$current-allergies`) there are none. `_in=Group/1,List/2,CareTeam/3`: its active members, so without those that are `inactive`,',
    '`deleted`, or whose `period` (CareTeam: `coveragePeriod`) does not hold the present; `_in:not=…` the others. Also at the end',
    'of a chain: `patient._in=Group/1`; 100 resources in one search. A resource that is not there, or may not be read, has no members. `_in` is asked of one',
    'type. Groups that describe their members instead of listing them have none here. No write has either among its criteria.',
    '',
    '## Places',
    '',
    '`near=42.2565|-83.6948|11.2|km` on Location: those whose position is within the distance, on a sphere of 6,371.0088 km (the',
    'earth is none, so it may be up to 0.56 % less or more). Units: `km` (also without), `m`, `[mi_us]`, `mi` (1,609.344 m) and each',
    'UCUM code of a length. Without a distance 10 km are near. `contains=42.2565|-83.6948`: those whose boundary (GeoJSON in the',
    'extension `location-boundary-geojson`: Polygon, MultiPolygon, features and collections of them; in the Attachment itself, not',
    'behind its URL) has the point within it or on its line, that of a hole too. Lines are straight in longitude and latitude, as',
    'they are written: what crosses the antimeridian is cut there, as GeoJSON asks, or goes on beyond 180 or -180, up to 540.',
    `A boundary that is not as GeoJSON has it, or has more than ${MAX_CORNERS.toLocaleString('en')} corners, is stored, and found by nothing.`,
    '',
    `Both take \`:missing\`, stand at the end of chains and of \`_has\`, and have at most ${MAX_PLACES} values, separated by commas; filters`,
    'ask for no more than `near pr true`. Latitudes lie from -90 to 90, longitudes from -180 to 180; positions beyond are found by',
    'nothing. No order goes by distance.',
    '',
    '## Contained resources',
    '',
    '`Medication?code=x&_contained=true`: what contains a Medication of that code, whatever its type, each once, as a match. With',
    '`_containedType=contained` the contained resources themselves: their `fullUrl` is `[base]/MedicationRequest/23#m1`. `_contained=both`',
    'finds Medications that stand by themselves too. All criteria are of one contained resource; `_id` is its own id, `_lastUpdated` that',
    'of the resource it is in. They are in the order of types, then of ids; `_sort` takes `_id` and `_lastUpdated`, and every',
    'parameter with `_containedType=contained`. It goes with searches of one type, not of compartments and the system, and not with',
    '`_include`, `_revinclude`, `_graph`, `_score`, `_has`, `_list`, `_in` and stored search parameters: these are refused by name.',
    'Without `_contained`, chains lead into contained resources, too: `MedicationRequest?medication.code=x` finds requests that contain such',
    'a Medication and refer to it (`#m1`), also from one contained resource to another in the same. Not where the end of the chain asks for',
    '`_id`, `_lastUpdated`, `_has`, `_list` or `_in`, which are of resources that have a place of their own; nor for a stored search parameter,',
    'which finds none (the answer says so in a warning); nor where a constraint of the token decides on what the chain leads to. By itself a',
    'reference to a contained resource is found by nothing, and `#`, the resource around, leads nowhere.',
    `A resource contains ${MOST_CONTAINED.toLocaleString('en')} others at most, and those of one transaction 10,000 together; one without an id, or with that of another before it, is not found.`,
    'Of one from before that has more so many are found, and of any as many as have entries within `limits.resource` together: searches with',
    '`_contained` say so, chains do not.',
    'A token needs `s` on the type that is asked for, and sees what is in resources that it may search, if that is within the constraint',
    'of its own type, too: one by `_id` or `_lastUpdated` has no contained resources. Resources of earlier versions have no such entries: chains and searches with `_contained` warn until `kiln reindex` is done.',
    '',
    '## Graphs',
    '',
    '`_graph=GraphDefinition/1` (its id, a reference, or its canonical URL with or without `|version`): with the matches come the',
    'resources that a stored GraphDefinition leads to, each once. It starts at the matches that stand at its `start`, or, where it has none, at any of its nodes. A link leads on by',
    '`path` (elements by name, `ofType()`, `extension()`, `where(resolve() is Type)`, or `*`: all references) to the current versions of what is referred to, or',
    "by `params` to what a search of the target's type finds, `{ref}` being the resource that it begins at. The `compartment` rules",
    '`identical` and `matching` want both in a compartment of the same resource, `different` in none that they share; they need not',
    'where a rule whose `use` is `where` does not hold. `min`, `max` and `profile` leave nothing out. Refused by name: the rule `custom`,',
    '`sliceName`, `modifierExtension`, functions, paths of more than 256 combinations of types, and parameters of results in `params`. A',
    'page has as many such resources as with `_include`; a note says where there are more. The token needs `r` for GraphDefinition;',
    'what else it does not show does not come along.',
    '',
    '## Other names',
    '',
    ...table(['type', 'name', 'parameter'], aliasNames()),
    '',
    '## Prefixes',
    '',
    `${PREFIXES.map((prefix) => `\`${prefix}\``).join(' ')} on ${TYPES.filter((type) => PREFIXED.has(type)).join(', ')}.`,
    '',
    '## Parameters of results',
    '',
    `${Object.keys(RESULT_PARAMETERS)
      .map((name) => `\`${name}\``)
      .join(' ')}, and \`_format\`, \`_pretty\`.`,
    '`_sort` goes by every parameter but composite ones, and those of words, places and membership.',
    '',
    '## Named queries',
    '',
    '`_query` names a query that a server has by an OperationDefinition of the kind `query`. There are none here: it is 400.',
    '',
    '## Parameters that come later',
    '',
    `Of single types: ${unsearchable().join(', ')}.`,
    '',
  ].join('\n');
}

/** A table of Markdown, its columns aligned. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = head.map((_, at) => Math.max(3, ...[head, ...rows].map((row) => row[at]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`;
  return [line(head), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...rows.map(line)];
}
