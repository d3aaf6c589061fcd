import type { ShippedResources } from '../../core/shipped/shipped-resources.js';
import type { Tables } from '../../contract/index.js';
import type { SearchRow } from '../../contract/search.js';
import { ownMember } from '../../fhir/own-member.js';
import { isWords, OF_THEIR_OWN, placesOf } from '../../indexing/parameter-kinds.js';
import { searchDefinitions, type SearchTables } from '../../indexing/definitions.js';
import { modifiersOf, prefixesOf } from '../../search/parse/modifiers.js';
import { codesOf } from '../../search/parse/unknown-parameter.js';
import { splitPrefix } from '../../search/query/intervals.js';
import { template } from '../engine.js';
import { framedPage, type Page } from '../framed.js';
import type { Paths, Site } from '../site.js';
import { codeTexts, parameterText } from './definition-texts.js';

interface Option {
  readonly value: string;
  readonly isChosen: boolean;
}

/** One parameter in the form. */
interface Field {
  readonly name: string;
  readonly type: string;
  /** What it is about, by its definition. */
  readonly text: string;
  /** What its values look like. */
  readonly about: string;
  readonly modifiers: readonly Option[] | undefined;
  readonly prefixes: readonly Option[] | undefined;
  readonly value: string;
  readonly isDate: boolean;
  /** Codes of a required binding. */
  readonly codes: readonly Code[] | undefined;
}

interface Code {
  readonly code: string;
  readonly text: string;
}

interface BuilderPage {
  readonly paths: Paths;
  readonly type: string;
  readonly own: readonly Field[];
  readonly common: readonly Field[];
  readonly isCommonOpen: boolean;
  readonly results: readonly Pick<Field, 'name' | 'about' | 'value'>[];
  readonly more: string;
  readonly hasDocs: boolean;
}

const renderBuilder = template<BuilderPage>('search/builder');
const renderTypes = template<{ paths: Paths; types: readonly string[] }>('search/types');

/** Search types whose values take prefixes. https://hl7.org/fhir/R5/search.html#prefix */
const PREFIXED: ReadonlySet<string> = new Set(['date', 'number', 'quantity']);

/** Types that a modifier may name, beyond which the form does not list them. */
const TYPES_LISTED = 12;

/** Parameters about the answer. https://hl7.org/fhir/R5/search.html#modifyingresults */
const RESULTS: Readonly<Record<string, string>> = {
  _sort: 'Parameters, separated by commas; a minus sorts descending.',
  _count: 'Matches of a page.',
  _include: 'References to follow: Type:parameter.',
  _revinclude: 'References to follow backwards: Type:parameter.',
  _total: 'none, estimate or accurate.',
};

/** The page with all types that can be searched. */
export function searchTypesPage(site: Site, paths: Paths): Page {
  return framedPage(site, paths, 'Search', renderTypes({ paths, types: site.tables.resourceTypes }));
}

/**
 * The form of a search: each parameter of the type with its modifiers and prefixes. It works without a script. What the query says
 * already is filled in.
 *
 * @param shipped definitions that say what parameters and codes are about; absent: nothing says it
 */
export function searchBuilderPage(
  type: string,
  query: URLSearchParams,
  site: Site,
  paths: Paths,
  shipped: ShippedResources | undefined,
): Page {
  const given = new Given(query);
  const fields = fieldsOf(type, site.tables, given, shipped);
  const results = Object.entries(RESULTS).map(([name, about]) => ({ name, about, value: given.take(name) ?? '' }));
  const isCommon = ({ name }: Field): boolean => name.startsWith('_');
  const content = renderBuilder({
    ...{ paths, type, results, hasDocs: site.hasDocs },
    own: fields.filter((field) => !isCommon(field)),
    common: fields.filter(isCommon),
    isCommonOpen: fields.some((field) => isCommon(field) && field.value !== ''),
    more: given.rest(),
  });
  return framedPage(site, paths, `Search ${type}`, content);
}

/** The criteria of a query, each taken by the field that shows it. */
class Given {
  private readonly left: [string, string][];

  constructor(query: URLSearchParams) {
    this.left = [...query];
  }

  has(name: string): boolean {
    return this.left.some(([each]) => each === name);
  }

  /** The first value of a name, which counts as shown. */
  take(name: string): string | undefined {
    const at = this.left.findIndex(([each]) => each === name);
    return at < 0 ? undefined : this.left.splice(at, 1)[0]?.[1];
  }

  /** What no field shows, as a query. */
  rest(): string {
    return new URLSearchParams(this.left).toString();
  }
}

function fieldsOf(
  type: string,
  tables: SearchTables & Pick<Tables, 'types' | 'codes'>,
  given: Given,
  shipped: ShippedResources | undefined,
): Field[] {
  const definitions = searchDefinitions(tables);
  const hierarchy = { type, hierarchies: definitions.hierarchies() };
  const rows = definitions.rowsOf(type);
  // Definitions that follow each other are unpacked together.
  const urls = [...rows.values()].flatMap(({ isStored, url }) => (isStored === true ? [] : [url])).sort();
  const texts = new Map(shipped === undefined ? [] : urls.map((url) => [url, parameterText(type, url, shipped)]));
  return codesOf(rows).flatMap((name) => {
    const row = rows.get(name);
    if (row === undefined) return [];
    const field = fieldOf(name, row, modifiersIn(row, modifiersOf(row, hierarchy)), given);
    return [
      {
        ...field,
        text: texts.get(row.url) ?? '',
        isDate: row.type === 'date',
        codes: boundCodes(type, row, tables, shipped),
      },
    ];
  });
}

/** `[type]` becomes the names of types, where there are not too many of them. */
function modifiersIn({ targets = [] }: SearchRow, modifiers: readonly string[]): readonly string[] {
  return modifiers.flatMap((each) => {
    if (each !== '[type]') return [each];
    return targets.length <= TYPES_LISTED ? targets : [];
  });
}

function fieldOf(
  name: string,
  row: SearchRow,
  modifiers: readonly string[],
  given: Given,
): Omit<Field, 'text' | 'isDate' | 'codes'> {
  const modifier = ['', ...modifiers].find((each) => given.has(nameWith(name, each)));
  const text = modifier === undefined ? '' : (given.take(nameWith(name, modifier)) ?? '');
  const isPrefixed = PREFIXED.has(row.type) && ownMember(OF_THEIR_OWN, row.code) === undefined;
  const { prefix, rest } = isPrefixed ? splitPrefix(text) : { prefix: 'eq', rest: text };
  return {
    name,
    type: row.type,
    about: aboutOf(row),
    modifiers: optionsOf(modifiers, modifier),
    prefixes: isPrefixed
      ? optionsOf(
          prefixesOf(row).filter((each) => each !== 'eq'),
          prefix,
        )
      : undefined,
    value: rest,
  };
}

/** Codes that the element of a parameter may have; undefined: they are not limited. */
function boundCodes(
  type: string,
  { type: kind, paths: [path, ...others] }: SearchRow,
  { types, codes }: Pick<Tables, 'types' | 'codes'>,
  shipped: ShippedResources | undefined,
): readonly Code[] | undefined {
  const [step, ...rest] = path?.steps ?? [];
  if (kind !== 'token' || others.length > 0 || rest.length > 0 || step === undefined || !('get' in step))
    return undefined;
  const elements = types.find(({ name }) => name === type)?.elements ?? [];
  const binding = elements.find(({ name }) => name === step.get)?.binding;
  if (binding?.strength !== 'required') return undefined;
  const found = codes.find(({ url }) => url === binding.valueSet);
  if (found === undefined) return undefined;
  const texts = new Map<string, string>();
  for (const [system, members] of Object.entries(found.codes)) {
    const known = shipped === undefined ? undefined : codeTexts(system, shipped);
    for (const code of members) texts.set(code, texts.get(code) ?? known?.get(code) ?? '');
  }
  return [...texts].map(([code, text]) => ({ code, text }));
}

function nameWith(name: string, modifier: string): string {
  return modifier === '' ? name : `${name}:${modifier}`;
}

function optionsOf(values: readonly string[], chosen: string | undefined): Option[] | undefined {
  return values.length === 0 ? undefined : values.map((value) => ({ value, isChosen: value === chosen }));
}

function aboutOf(row: SearchRow): string {
  const own = ownMember(OF_THEIR_OWN, row.code);
  if (own !== undefined) return own;
  if (isWords(row)) return 'Words and "phrases" with AND, OR, NOT and parentheses';
  const form = placesOf(row)?.form;
  if (form !== undefined) return form;
  return row.targets === undefined || row.targets.length > TYPES_LISTED ? '' : row.targets.join(', ');
}
