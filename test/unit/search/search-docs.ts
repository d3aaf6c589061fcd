import { MOST_CONTAINED } from '../../../runtime/indexing/contained.js';
import { tables } from '../../../generated/tables.js';
import type { SearchRow, SearchTable, SearchType } from '../../../runtime/contract/search.js';
import { MAX_HIERARCHY } from '../../../runtime/search-execution/execute/resolve-criteria.js';
import { RESULT_PARAMETERS } from '../../../runtime/search/control-parameters.js';
import { operatorsOf } from '../../../runtime/search/filter/operators.js';
import { MAX_FILTER } from '../../../runtime/search/filter/parse-filter.js';
import { MAX_CORNERS } from '../../../runtime/indexing/places/geojson.js';
import { MAX_PLACES } from '../../../runtime/search/places/parse-places.js';
import { searchDefinitions } from '../../../runtime/indexing/definitions.js';
import { PREFIXES } from '../../../runtime/search/query/intervals.js';
import { isSearchable, NO_CRITERIA, OF_THEIR_OWN } from '../../../runtime/indexing/parameter-kinds.js';
import { MAX_LINKS } from '../../../runtime/search/parse/link-name.js';
import { MOST_SEARCHED_CODES } from '../../../runtime/core/search-services/code-finder.js';
import { modifiersOf } from '../../../runtime/search/parse/modifiers.js';
import { LATER } from '../../../runtime/search/parse/modifiers.js';
import { LONGEST } from '../../../runtime/indexing/text/ascii-words.js';
import { TEXT_BOUNDS } from '../../../runtime/indexing/text/extract-text.js';
import { MOST_TEXT } from '../../../runtime/indexing/text/line.js';
import { MOST_WORDS } from '../../../runtime/search/text/has-words.js';
import { SEARCH_BOUNDS } from '../../../runtime/search/text/parse-words.js';
import { MAX_WAYS } from '../../../runtime/search/parse/resolve-links.js';

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
    'A test makes this page from the tables that the server reads: `npx vitest run --project fast search-docs -u`.',
    '',
    '## Modifiers',
    '',
    '**yes**: it works. **later**: 400 with the reason. Empty: the specification has no such modifier, 400.',
    '`/metadata` has the modifiers of each parameter of each type.',
    '',
    ...table(
      ['', ...TYPES],
      MODIFIERS.map((modifier) => [`\`:${modifier}\``, ...TYPES.map((type) => cellOf(modifier, type))]),
    ),
    '',
    '**`:above` and `:below` on references** take `Type/id` of a type that has a hierarchy. These parameters lead up a hierarchy:',
    '',
    `${hierarchyNames()}.`,
    '',
    'Each of them follows its own hierarchy. Any other parameter follows that of the type it refers to, if the type has only one.',
    `A search follows at most ${MAX_HIERARCHY.levels} levels and finds at most ${MAX_HIERARCHY.resources.toLocaleString('en')} resources.`,
    '',
    '**`:in` and `:not-in` on tokens** take the URL of a value set or `ValueSet/id`. **`:above` and `:below` on tokens** take `system|code`.',
    `The codes are looked up first, at most ${count(MOST_SEARCHED_CODES)}; more are 422. A value set that is unknown, or hidden from the token, is 400.`,
    '`kiln explain-search` prints the codes. Searches of several types and constraints of scopes do not take these modifiers; filters have operators for them.',
    '',
    '`_id` takes `:missing` and `:not`. `_lastUpdated` takes `:missing` only.',
    '',
    '**Case of tokens.** Tokens are compared with case, because most code systems distinguish it. R5 leaves this to the system of the code.',
    'Without case (A to Z) compare: `_filter` (`code eq x`), `:code-text`, which finds codes that begin with the text, and tokens on plain',
    'strings (`version`, `lot-number`, `email`). `:text` looks at displays.',
    '',
    '**URIs** are compared as they are. Search for `url` and `version` with `url=http://x.example/a&version=2`. The form',
    '`http://x.example/a|2` is for canonical references.',
    '',
    '**`:missing`** means: there is nothing to search for. So a Reference with only a display, a concept with only a text, and a reference to',
    'a contained resource that is absent (`#m1`) count as missing.',
    '',
    ...table(['later', 'why'], reasons),
    '',
    'Active SearchParameters in the store take what their type takes, as far as their definition admits it. In filters their comparators',
    'apply; filters have no modifiers.',
    '',
    '## Chains and reverse chains',
    '',
    '`subject.name`, `subject:Patient.organization.name`, `_has:Observation:patient:code`. Chains can be nested and mixed. The last parameter',
    'takes its modifiers and prefixes. References lead to current resources of this server by type and id, whichever version they name;',
    'canonical references lead there by `url` and `version`.',
    '',
    `- A name has at most ${MAX_LINKS} links.`,
    '- A link without a type asks all target types that have the parameter and take the value.',
    `- One name has at most ${MAX_WAYS} combinations of types; name the types if there are more.`,
    '- `:identifier` is for the end (`subject:identifier=…`, `subject.identifier=…`).',
    '- `_sort` and the criteria of writes take no chains.',
    '',
    '## Filters',
    '',
    '`_filter=name sw "pet" and (birthdate ge 2014-10-10 or not (organization[active eq true].name co "x"))`',
    '',
    '- A comparison is `path operator value`. Comparisons are combined with `and`, `or`, `not (…)` and parentheses. `and` and `or` bind',
    '  alike, from left to right.',
    '- A path is a parameter, a chain to a parameter, or a `_has`. A link of a chain may have a filter in brackets; a link of a `_has` may not.',
    '- A value is a JSON string, or all characters up to white space, `)` or `]`. A comma is part of the value: several values need several',
    '  comparisons.',
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
    '- Dates, numbers and quantities compare as with the prefixes of the same names. On dates `co` means that the interval of the resource',
    '  contains that of the value, and `po` that they overlap.',
    '- Strings compare without case and accents, in the order of code points.',
    '- Tokens are written as in other searches. Codes compare without case (A to Z), ids with case. `loinc|`, `snomed|`, `rxnorm|` and `ucum|`',
    '  are short for these systems.',
    '- `ne` finds resources with another value. For resources without the value write `not (code eq x)`.',
    '- On references `re` and `eq` mean the same.',
    '- On tokens `in` and `ni` take a value set, like `:in` and `:not-in`; `ss` and `sb` take `system|code`, like `:below` and `:above`.',
    '- 400: `co` on numbers (the index does not keep their precision), and names that R5 has for filters only (`related`, `relatesTo` …);',
    '  use the composite parameters instead.',
    '',
    `A filter has at most ${MAX_FILTER.tests} comparisons, ${MAX_FILTER.depth} nested brackets, ${MAX_FILTER.height} nested \`and\`, \`or\` and \`not\` (each change between \`and\` and`,
    `\`or\` counts) and ${MAX_FILTER.length.toLocaleString('en')} characters. Links before a bracket count for the paths within it. No part of a filter is ever ignored.`,
    'The criteria of writes take no filter.',
    '',
    '## Full text',
    '',
    ...table(
      ['search', 'finds words in'],
      [
        ['`_text=(bone OR liver) and metastases`', 'the narrative'],
        [
          '`_content=…`',
          'all strings, markdown and narratives, extensions and contained resources included; no codes, ids, URLs, dates and numbers',
        ],
        ['`Composition?section-text=…`', 'the narratives of sections, nested ones included'],
        [
          '`code:text-advanced=…`',
          'texts of a code, an identifier or a reference: `CodeableConcept.text`, `Coding.display`, `Identifier.type.text`, `Reference.display`',
        ],
        ['`code:text=head`', 'the beginning of one of these texts: `headache, left`, but not `acute headache`'],
      ],
    ),
    '',
    'Words are those of Unicode (UAX 29), without case, accents, apostrophes, quotation marks and soft hyphens. A colon separates words.',
    `The first ${LONGEST} characters of a word count. There is no stemming: \`metastases\` does not find \`metastasis\`.`,
    '',
    '- Several words: all have to be there. `"…"` is a phrase, within one value or one block (paragraph, cell) of a narrative.',
    '- `AND`, `OR` and `NOT` in either case, and parentheses. AND binds tighter than OR. `NOT` needs another word beside it: `a NOT b`.',
    '- A comma means OR, as everywhere. Within a phrase write `\\,`.',
    `- One value has at most ${MOST_WORDS} words.`,
    '- `_score=true` adds `search.score` to each match, from 0 to 1: how often the words occur, less in longer texts (BM25 without',
    '  frequencies). There is no order by score.',
    '- `_filter` and scopes take no words.',
    '',
    'Limits of one resource; words beyond them are not found:',
    '',
    `- ${count(MOST_TEXT)} characters (some 80,000 words) for each parameter;`,
    `- ${count(body.content.words)} different words of the content and ${count(body.beside.words)} of other parameters, besides ${count(head.content.words)} and ${count(head.beside.words)} of \`meta\`;`,
    `- ${count(body.content.segmented)} and ${count(body.beside.segmented)} characters of text that needs a dictionary or rules (Chinese, Japanese, Thai, unusual signs). Each piece without a`,
    '  space counts eight characters more, a long one a sixth more;',
    `- ${count(body.content.unlike)} and ${count(body.beside.unlike)} characters of text that is not all ASCII.`,
    '',
    `A search has at most ${count(SEARCH_BOUNDS.characters)} characters of words, ${count(SEARCH_BOUNDS.segmented)} of which need a dictionary or rules; more are 400.`,
    'Index entries of earlier versions have no words. Searches say so in a warning until `kiln reindex` is done.',
    '',
    '## Membership',
    '',
    '`_list=42` finds what the List refers to, entries that are `deleted` included. There are no functional lists (`$current-allergies`).',
    '',
    '`_in=Group/1,List/2,CareTeam/3` finds active members: not those that are `inactive` or `deleted`, or whose `period` (CareTeam:',
    '`coveragePeriod`) does not contain the present. `_in:not=…` finds the others. It works at the end of a chain, too:',
    '`patient._in=Group/1`. One search names at most 100 resources. A resource that is absent, or hidden from the token, has no members.',
    'Groups that describe their members instead of listing them have none here.',
    '',
    'Searches of several types and the criteria of writes take neither.',
    '',
    '## Places',
    '',
    '`Location?near=42.2565|-83.6948|11.2|km` finds positions within the distance, on a sphere of 6,371.0088 km. The earth is not quite a',
    'sphere, so distances are wrong by up to 0.56 %. Units: `km` (default), `m`, `[mi_us]`, `mi` (1,609.344 m), and each UCUM code of a',
    'length. The default distance is 10 km.',
    '',
    '`Location?contains=42.2565|-83.6948` finds Locations whose boundary contains the point. Lines, and those of holes, belong to the area.',
    'The boundary is GeoJSON in the extension `location-boundary-geojson`: Polygon, MultiPolygon, features and collections of them, in the',
    'Attachment itself, not at its URL. Lines are straight in longitude and latitude. An area that crosses the antimeridian is cut there, as',
    'GeoJSON asks, or goes on beyond 180 or -180, up to 540.',
    `A boundary that is not GeoJSON, or has more than ${MAX_CORNERS.toLocaleString('en')} corners, is stored, but not found.`,
    '',
    `Both take \`:missing\`, work at the end of chains and of \`_has\`, and take at most ${MAX_PLACES} values. Filters take \`near pr true\` only. Positions`,
    'outside of latitudes -90 to 90 and longitudes -180 to 180 are not found. There is no order by distance.',
    '',
    '## Contained resources',
    '',
    ...table(
      ['search', 'finds'],
      [
        ['`Medication?code=x&_contained=true`', 'resources of any type that contain such a Medication, each once'],
        ['with `_containedType=contained`', 'the contained Medications; `fullUrl` is `[base]/MedicationRequest/23#m1`'],
        ['with `_contained=both`', 'Medications that are not contained, too'],
      ],
    ),
    '',
    'All criteria apply to one contained resource. `_id` is its own id, `_lastUpdated` that of the resource around it. They come type by',
    'type. `_sort` takes `_id` and `_lastUpdated`, and every parameter with `_containedType=contained`. Searches of compartments and of',
    'the system, `_include`, `_revinclude`, `_graph`, `_score`, `_has`, `_list`, `_in` and stored search parameters do not go with it: 400.',
    '',
    'Chains lead into contained resources without `_contained`: `MedicationRequest?medication.code=x` finds requests that contain such a',
    'Medication and refer to it (`#m1`), also from one contained resource to another. They do not where',
    '',
    '- the chain ends in `_id`, `_lastUpdated`, `_has`, `_list` or `_in`;',
    '- it ends in a stored search parameter (a warning says so);',
    '- a constraint of the token applies to the type at the end.',
    '',
    'A reference to a contained resource is not found by its value. `#`, the resource around, leads nowhere.',
    '',
    `A resource contains at most ${MOST_CONTAINED.toLocaleString('en')} others, a transaction 10,000 in all. A contained resource without an id, or with the id of an earlier one,`,
    'is not found. Stored resources with more are found by as many, and by those whose entries fit into `limits.resource`: searches with',
    '`_contained` say so in a warning.',
    '',
    'A token needs `s` on the contained type. It sees what is in resources that it may search, as far as the constraint of the contained type',
    'admits; constraints by `_id` or `_lastUpdated` admit none. Index entries of earlier versions lack contained resources: a warning says so',
    'until `kiln reindex` is done.',
    '',
    '## Graphs',
    '',
    '`_graph=GraphDefinition/1` (an id, a reference, or a canonical URL with or without `|version`) adds the resources that a stored',
    'GraphDefinition leads to from the matches, each once.',
    '',
    '- It starts at matches of the type of its `start` node; without `start`, at any node.',
    '- `path` leads to the current versions of what is referred to: elements by name, `ofType()`, `extension()`,',
    '  `where(resolve() is Type)`, or `*` for all references.',
    "- `params` leads to what a search of the target's type finds; `{ref}` is the resource before.",
    '- Compartment rules: `identical` and `matching` want both resources in a compartment of one resource, `different` in none that they',
    '  share. Rules with `use` `where` are conditions of the others.',
    '- `min`, `max` and `profile` have no effect.',
    '- 400: the rule `custom`, `sliceName`, `modifierExtension`, functions, paths with more than 256 combinations of types, and parameters of',
    '  results in `params`.',
    '',
    'A page has as many such resources as with `_include`; a warning says where there are more. The token needs `r` for GraphDefinition.',
    'Resources that are hidden from it are left out.',
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
    '`_sort` takes every parameter but composite ones, and those of words, places and membership.',
    '',
    '## Named queries',
    '',
    '`_query` names a query that an OperationDefinition of the kind `query` defines. This server has none: 400.',
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
