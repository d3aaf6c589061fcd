import { FhirError } from '../fhir/errors.js';
import { type JsonObject, type JsonValue, objectsOf, type Resource } from '../fhir/resource.js';
import { Effort } from './effort.js';
import { keptMembers, type KeptMembers } from './kept-members.js';
import { designationsIn, displayIn, isLanguageOf, type Languages } from './systems/languages.js';
import { keyOf, type Member, type ValueSetContext } from './value-set.js';

/** Options of an expansion. https://hl7.org/fhir/R5/valueset-operation-expand.html */
export interface ExpansionOptions {
  readonly filter?: string;
  readonly offset?: number;
  readonly count?: number;
  readonly activeOnly: boolean;
  readonly excludeNested: boolean;
  readonly excludeNotForUI: boolean;
  readonly includeDesignations: boolean;
  /** The designations that are wanted; undefined: all. */
  readonly designations: WantedDesignations | undefined;
  readonly languages: Languages;
  /** Codes or URIs of properties; `*`: all. */
  readonly properties: ReadonlySet<string>;
  /** Systems whose codes are left out, perhaps with a version. */
  readonly excludedSystems: ReadonlySet<string>;
}

/** Designations in some languages, and of some uses. */
export interface WantedDesignations {
  /** In lower case. */
  readonly languages: ReadonlySet<string>;
  /** As `system|code`. */
  readonly uses: ReadonlySet<string>;
}

/** Reads the parameters `designation`: languages or uses. None: all designations are wanted. */
export function wantedDesignations(texts: readonly string[]): WantedDesignations | undefined {
  if (texts.length === 0) return undefined;
  const [languages, uses] = [new Set<string>(), new Set<string>()];
  for (const each of texts) {
    const [system = '', code] = each.split('|', 2);
    if (code === undefined) languages.add(each.toLowerCase());
    else if (system === 'urn:ietf:bcp:47') languages.add(code.toLowerCase());
    else uses.add(`${system}|${code}`);
  }
  return { languages, uses };
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
  const { effort = new Effort(context.signal) } = context;
  const kept = await keptMembers(valueSet, context);
  const isPaged = offset !== undefined || count !== undefined;
  const from = offset ?? 0;
  const to = count === undefined ? undefined : from + count;
  const { total, page } = isAll(options) && filter !== '' ? await pageByWords(kept, filter, from, to, effort) : await pageOf(kept, options, from, to, effort); // prettier-ignore
  if (!isPaged && total > MOST) {
    const text = `The value set has ${total} codes; ask for pages with count and offset`;
    throw new FhirError('expansion-too-costly', text);
  }
  const isTree = !isPaged && filter === '' && !options.excludeNested && isOneSystem(valueSet);
  const hasProperties = options.properties.size > 0 || page.some(({ isInactive }) => isInactive);
  const declared = hasProperties ? await declaredProperties(page, context) : NONE;
  const written = new Map<Member, JsonObject>();
  const property = new Map<string, JsonObject>();
  const write = (member: Member): void => {
    const made = toContains(member, options, declared);
    written.set(member, made);
    if (made['property'] !== undefined) noteProperties(made, declared, property);
  };
  await effort.forEach(page, write, costOf);
  const contains = isTree ? nested(page, written) : [...written.values()];
  return {
    total,
    ...(isPaged && { offset: from }),
    ...(property.size > 0 && { property: [...property.values()] }),
    ...(page.length > 0 && { contains }),
  };
}

interface Page {
  /** Members of all pages. */
  readonly total: number;
  readonly page: readonly Member[];
}

/** Steps that it takes to write a member. */
function costOf({ designations, concept }: Member): number {
  const { properties, parents, children } = concept ?? { properties: [], parents: [], children: [] };
  return 1 + designations.length + properties.length + parents.length + children.length;
}

/** Only the members of the page are looked at, however many match. */
async function pageByWords(
  kept: KeptMembers,
  filter: string,
  from: number,
  to: number | undefined,
  effort: Effort,
): Promise<Page> {
  const found = await (await kept.texts(effort)).find(filter, effort);
  return { total: found.length, page: found.slice(from, to).map((at) => kept.members[at]!) };
}

async function pageOf(
  kept: KeptMembers,
  options: ExpansionOptions,
  from: number,
  to: number | undefined,
  effort: Effort,
): Promise<Page> {
  const { filter = '' } = options;
  const named = filter === '' ? kept.members : (await pageByWords(kept, filter, 0, undefined, effort)).page;
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
function nested(members: readonly Member[], written: ReadonlyMap<Member, JsonObject>): JsonObject[] {
  const byKey = new Map(members.map((member) => [keyOf(member.system, member.code), member]));
  const below = new Map<string, Member[]>();
  const roots: Member[] = [];
  for (const member of members) {
    const code = member.concept?.parents.find((each) => byKey.has(keyOf(member.system, each)));
    const parent = code === undefined ? undefined : keyOf(member.system, code);
    const siblings = parent === undefined ? roots : below.get(parent);
    if (siblings === undefined) below.set(parent!, [member]);
    else siblings.push(member);
  }
  const seen = new Set<string>();
  const deeper: Member[] = [];
  const write = (member: Member, level: number, into: JsonObject[]): void => {
    const key = keyOf(member.system, member.code);
    if (seen.has(key)) return;
    seen.add(key);
    const children = below.get(key) ?? [];
    const contains: JsonObject[] = [];
    for (const child of children) {
      if (level === MOST_LEVELS) deeper.push(child);
      else write(child, level + 1, contains);
    }
    into.push({ ...written.get(member), ...(contains.length > 0 && { contains }) });
  };
  const trees: JsonObject[] = [];
  // What is left after the roots is in a circle of parents.
  for (const begin of [roots, members]) {
    for (const member of begin) {
      write(member, 1, trees);
      for (let next = deeper.pop(); next !== undefined; next = deeper.pop()) write(next, 1, trees);
    }
  }
  return trees;
}

function toContains(member: Member, options: ExpansionOptions, declared: Declared): JsonObject {
  const { system, version, code, isAbstract, isInactive } = member;
  const display = displayIn(member, options.languages);
  const designation = options.includeDesignations || options.designations !== undefined ? designationsOf(member, display, options) : []; // prettier-ignore
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
  if (concept === undefined || (properties.size === 0 && !isInactive)) return [];
  const isAsked = (code: string, uri?: string): boolean =>
    properties.has('*') || properties.has(code) || (uri !== undefined && properties.has(uri)) ||
    (isInactive && code === 'status'); // prettier-ignore
  const found = concept.properties
    .filter(({ code }) => isAsked(code, String(declared?.get(code)?.['uri'] ?? `${PROPERTIES}${code}`)))
    .map(({ code, kind, value }): JsonObject => ({ code, [kind]: value }));
  const { definition, parents, children } = concept;
  if (definition !== undefined && isAsked('definition')) found.push({ code: 'definition', valueString: definition });
  const links = (code: string, codes: readonly string[]): void => {
    if (!isAsked(code, `${PROPERTIES}${code}`) || found.some((each) => each['code'] === code)) return;
    for (const valueCode of codes) found.push({ code, valueCode });
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
 * Notes the properties that a code of an expansion comes with, each once, with its URI where there is one.
 * https://hl7.org/fhir/R5/valueset-definitions.html#ValueSet.expansion.property
 */
function noteProperties(contains: JsonObject, declared: Declared, found: Map<string, JsonObject>): void {
  const own = declared.get(String(contains['system']));
  for (const { code } of objectsOf(contains['property'])) {
    const name = String(code);
    if (found.get(name)?.['uri'] !== undefined) continue;
    const standard = { code: name, ...(STANDARD.has(name) && { uri: `${PROPERTIES}${name}` }) };
    found.set(name, own?.get(name) ?? standard);
  }
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
      if (wanted === undefined) return true;
      if (language !== undefined && isLanguageOf(language, wanted.languages)) return true;
      return use !== undefined && wanted.uses.has(`${String(use['system'])}|${String(use['code'])}`);
    })
    .map(({ language, use, value }) => ({
      ...(language !== undefined && { language }),
      ...(use !== undefined && { use }),
      value,
    }));
}
