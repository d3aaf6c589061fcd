import { FhirError } from '../fhir/errors.js';
import type { JsonObject, JsonValue, Resource } from '../fhir/resource.js';
import { objectsOf } from './concepts.js';
import { keptMembers, type KeptMembers } from './kept-members.js';
import { designationsIn, displayIn, isLanguage, type Languages } from './systems/languages.js';
import { keyOf, type Member, type ValueSetContext } from './value-set.js';

/** What a client wants of an expansion. https://hl7.org/fhir/R5/valueset-operation-expand.html */
export interface ExpansionOptions {
  readonly filter?: string;
  readonly offset?: number;
  readonly count?: number;
  readonly activeOnly: boolean;
  readonly excludeNested: boolean;
  readonly excludeNotForUI: boolean;
  readonly includeDesignations: boolean;
  /** Languages or uses (`system|code`) of the designations that are wanted; empty: all. */
  readonly designations: readonly string[];
  readonly languages: Languages;
  /** Codes or URIs of properties; `*`: all. */
  readonly properties: readonly string[];
  /** Systems whose codes are left out, perhaps with a version. */
  readonly excludedSystems: ReadonlySet<string>;
}

/** Codes that an expansion without pages may have. */
const MOST = 10_000;

/**
 * The expansion of a value set. A single system is shown as its hierarchy, unless the client wants a flat list, a page, or codes by text.
 *
 * @throws FhirError as `membersOf`, and `expansion-too-costly`
 */
export async function expand(
  valueSet: Resource,
  options: ExpansionOptions,
  context: ValueSetContext,
): Promise<JsonObject> {
  const { offset, count, filter = '' } = options;
  const kept = await keptMembers(valueSet, context);
  const isPaged = offset !== undefined || count !== undefined;
  const from = offset ?? 0;
  const to = count === undefined ? undefined : from + count;
  const { total, page } = isAll(options) && filter !== '' ? pageByWords(kept, filter, from, to) : pageOf(kept, options, from, to); // prettier-ignore
  if (!isPaged && total > MOST) {
    const text = `The value set has ${total} codes; ask for pages with count and offset`;
    throw new FhirError('expansion-too-costly', text);
  }
  const isTree = !isPaged && filter === '' && !options.excludeNested && isOneSystem(valueSet);
  const hasProperties = options.properties.length > 0 || page.some(({ isInactive }) => isInactive);
  const declared = hasProperties ? await declaredProperties(page, context) : NONE;
  const contains = isTree ? nested(page, options, declared) : page.map((each) => toContains(each, options, declared));
  const property = hasProperties ? usedProperties(contains, declared) : [];
  return {
    total,
    ...(isPaged && { offset: from }),
    ...(property.length > 0 && { property }),
    ...(page.length > 0 && { contains }),
  };
}

interface Page {
  /** Members of all pages. */
  readonly total: number;
  readonly page: readonly Member[];
}

/** Only the members of the page are looked at, however many match. */
function pageByWords(kept: KeptMembers, filter: string, from: number, to: number | undefined): Page {
  const found = kept.texts().find(filter);
  return { total: found.length, page: found.slice(from, to).map((at) => kept.members[at]!) };
}

function pageOf(kept: KeptMembers, options: ExpansionOptions, from: number, to: number | undefined): Page {
  const { filter = '' } = options;
  const named = filter === '' ? kept.members : pageByWords(kept, filter, 0, undefined).page;
  const members = isAll(options) ? named : named.filter((member) => isWanted(member, options));
  return { total: members.length, page: members.slice(from, to) };
}

function isAll({ activeOnly, excludeNotForUI, excludedSystems }: ExpansionOptions): boolean {
  return !activeOnly && !excludeNotForUI && excludedSystems.size === 0;
}

function isWanted({ system, version, isInactive, isAbstract }: Member, options: ExpansionOptions): boolean {
  if (options.activeOnly && isInactive) return false;
  if (options.excludeNotForUI && isAbstract) return false;
  const { excludedSystems } = options;
  return !excludedSystems.has(system) && (version === undefined || !excludedSystems.has(`${system}|${version}`));
}

/** Whether a value set is a system, or the part of it that filters choose. */
function isOneSystem(valueSet: Resource): boolean {
  const compose = valueSet['compose'] as JsonObject | undefined;
  const [include, ...others] = objectsOf(compose?.['include']);
  if (include === undefined || others.length > 0 || compose?.['exclude'] !== undefined) return false;
  return include['concept'] === undefined && include['valueSet'] === undefined;
}

/** Levels of an expansion. A hierarchy can be as deep as a code system has codes, and an answer cannot. */
const MOST_LEVELS = 50;

/** Each code below its first parent that is a member too; what lies below the last level begins a tree of its own. */
function nested(members: readonly Member[], options: ExpansionOptions, declared: Declared): JsonObject[] {
  const byKey = new Map(members.map((member) => [keyOf(member.system, member.code), member]));
  const below = new Map<string, Member[]>();
  const roots: Member[] = [];
  for (const member of members) {
    const parent = member.concept?.parents.map((code) => keyOf(member.system, code)).find((key) => byKey.has(key));
    const siblings = parent === undefined ? roots : below.get(parent);
    if (siblings === undefined) below.set(parent!, [member]);
    else siblings.push(member);
  }
  const seen = new Set<string>();
  const deeper: Member[] = [];
  const write = (member: Member, level = 1): JsonObject[] => {
    const key = keyOf(member.system, member.code);
    if (seen.has(key)) return [];
    seen.add(key);
    const children = below.get(key) ?? [];
    if (level === MOST_LEVELS) for (const child of children) deeper.push(child);
    const contains = level === MOST_LEVELS ? [] : children.flatMap((child) => write(child, level + 1));
    return [{ ...toContains(member, options, declared), ...(contains.length > 0 && { contains }) }];
  };
  const trees: JsonObject[] = [];
  // What is left after the roots is in a circle of parents.
  for (const begin of [roots, members]) {
    for (const member of begin) {
      trees.push(...write(member));
      for (let next = deeper.pop(); next !== undefined; next = deeper.pop()) trees.push(...write(next));
    }
  }
  return trees;
}

function toContains(member: Member, options: ExpansionOptions, declared: Declared): JsonObject {
  const { system, version, code, isAbstract, isInactive } = member;
  const display = displayIn(member, options.languages);
  const designation = options.includeDesignations || options.designations.length > 0 ? designationsOf(member, display, options) : []; // prettier-ignore
  const property = propertiesOf(member, options, declared.get(member.system));
  return {
    system,
    ...(isAbstract && { abstract: true }),
    ...(isInactive && { inactive: true }),
    ...(version !== undefined && { version }),
    code,
    ...(display !== undefined && { display }),
    ...(designation.length > 0 && { designation }),
    ...(property.length > 0 && { property }),
  };
}

/** The properties that are asked for, and why a concept is inactive. */
function propertiesOf(
  { concept, isInactive }: Member,
  { properties }: ExpansionOptions,
  declared: ReadonlyMap<string, JsonObject> | undefined,
): JsonObject[] {
  if (concept === undefined || (properties.length === 0 && !isInactive)) return [];
  const isAsked = (code: string, uri?: string): boolean =>
    properties.includes('*') || properties.includes(code) || (uri !== undefined && properties.includes(uri)) ||
    (isInactive && code === 'status'); // prettier-ignore
  const found = concept.properties
    .filter(({ code }) => isAsked(code, String(declared?.get(code)?.['uri'] ?? `${PROPERTIES}${code}`)))
    .map(({ code, kind, value }): JsonObject => ({ code, [kind]: value }));
  const { definition, parents, children } = concept;
  if (definition !== undefined && isAsked('definition')) found.push({ code: 'definition', valueString: definition });
  const links = (code: string, codes: readonly string[]): void => {
    if (!isAsked(code, `${PROPERTIES}${code}`) || found.some((each) => each['code'] === code)) return;
    found.push(...codes.map((valueCode) => ({ code, valueCode })));
  };
  links('parent', parents);
  links('child', children);
  return found;
}

const PROPERTIES = 'http://hl7.org/fhir/concept-properties#';

/** By system and code, the properties that systems declare. */
type Declared = ReadonlyMap<string, ReadonlyMap<string, JsonObject>>;

const NONE: Declared = new Map();

/** Properties that concepts have by their definition, whether or not their system declares them. */
const STANDARD: ReadonlySet<string> = new Set(['definition', 'parent', 'child', 'status']);

/**
 * The properties that the codes of an expansion come with, each once, with its URI where there is one.
 * https://hl7.org/fhir/R5/valueset-definitions.html#ValueSet.expansion.property
 */
function usedProperties(contains: readonly JsonObject[], declared: Declared): JsonObject[] {
  const found = new Map<string, JsonObject>();
  const visit = (list: readonly JsonObject[]): void => {
    for (const each of list) {
      const own = declared.get(String(each['system']));
      for (const { code } of objectsOf(each['property'])) {
        const name = String(code);
        const before = found.get(name);
        if (before?.['uri'] !== undefined) continue;
        const standard = { code: name, ...(STANDARD.has(name) && { uri: `${PROPERTIES}${name}` }) };
        found.set(name, own?.get(name) ?? standard);
      }
      visit(objectsOf(each['contains']));
    }
  };
  visit(contains);
  return [...found.values()];
}

/** The properties that the systems of some codes declare. */
async function declaredProperties(page: readonly Member[], { resolver }: ValueSetContext): Promise<Declared> {
  const found = new Map<string, ReadonlyMap<string, JsonObject>>();
  for (const [system, version] of new Map(page.map((each) => [each.system, each.version]))) {
    const index = await resolver.codeSystem(system, version);
    const own = [...(index?.properties ?? [])];
    found.set(system, new Map(own.map(([code, uri]) => [code, { code, ...(uri !== undefined && { uri }) }])));
  }
  return found;
}

function designationsOf(
  member: Member,
  shown: string | undefined,
  { designations: wanted }: ExpansionOptions,
): JsonValue[] {
  return designationsIn(member, shown)
    .filter(({ language, use }) => {
      if (wanted.length === 0) return true;
      return wanted.some((each) => {
        const [system = '', code] = each.split('|');
        if (system === 'urn:ietf:bcp:47' && code !== undefined) return language !== undefined && isLanguage(language, code); // prettier-ignore
        if (code !== undefined) return use?.['system'] === system && use['code'] === code;
        return language !== undefined && isLanguage(language, each);
      });
    })
    .map(({ language, use, value }) => ({
      ...(language !== undefined && { language }),
      ...(use !== undefined && { use }),
      value,
    }));
}
