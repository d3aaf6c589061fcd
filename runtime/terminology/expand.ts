import { FhirError } from '../fhir/errors.js';
import { fold } from '../search/values/fold.js';
import type { JsonObject, JsonValue, Resource } from '../fhir/resource.js';
import { displayIn, isLanguage, objectsOf } from './concepts.js';
import { keyOf, membersOf, type Member, type ValueSetContext } from './value-set.js';

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
  readonly languages: readonly string[];
  readonly properties: readonly string[];
  /** Systems whose codes are left out. */
  readonly excludedSystems: ReadonlySet<string>;
}

/** Codes that an expansion without pages may have. */
const MOST = 10_000;

/**
 * The expansion of a value set. A single system without filters is shown as its hierarchy, unless the client wants a flat list,
 * a page, or codes by text. @throws FhirError as `membersOf`, and `expansion-too-costly`
 */
export async function expand(
  valueSet: Resource,
  options: ExpansionOptions,
  context: ValueSetContext,
): Promise<JsonObject> {
  const { offset, count, filter } = options;
  const all = [...(await membersOf(valueSet, context)).values()].filter(
    ({ system, concept }) =>
      !options.excludedSystems.has(system) &&
      !(options.activeOnly && concept?.isInactive === true) &&
      !(options.excludeNotForUI && concept?.isAbstract === true),
  );
  const words =
    filter === undefined
      ? []
      : fold(filter)
          .split(' ')
          .filter((word) => word !== '');
  const members = words.length === 0 ? all : all.filter((member) => isNamed(member, words));
  const isPaged = offset !== undefined || count !== undefined;
  if (!isPaged && members.length > MOST) {
    throw new FhirError(
      'expansion-too-costly',
      `The value set has ${members.length} codes; ask for pages with count and offset`,
    );
  }
  const from = offset ?? 0;
  const page = isPaged ? members.slice(from, count === undefined ? undefined : from + count) : members;
  const isTree = !isPaged && words.length === 0 && !options.excludeNested && isOneSystem(valueSet);
  return {
    total: members.length,
    ...(isPaged && { offset: from }),
    ...(page.length > 0 &&
      count !== 0 && { contains: isTree ? nested(page, options) : page.map((each) => toContains(each, options)) }),
  };
}

function isOneSystem(valueSet: Resource): boolean {
  const compose = valueSet['compose'] as JsonObject | undefined;
  const [include, ...others] = objectsOf(compose?.['include']);
  if (include === undefined || others.length > 0 || compose?.['exclude'] !== undefined) return false;
  return include['concept'] === undefined && include['filter'] === undefined && include['valueSet'] === undefined;
}

/** Each code below its first parent that is a member too. */
function nested(members: readonly Member[], options: ExpansionOptions): JsonObject[] {
  const byKey = new Map(members.map((member) => [keyOf(member.system, member.code), member]));
  const below = new Map<string, Member[]>();
  const roots: Member[] = [];
  for (const member of members) {
    const parent = member.concept?.parents.map((code) => keyOf(member.system, code)).find((key) => byKey.has(key));
    if (parent === undefined) roots.push(member);
    else below.set(parent, [...(below.get(parent) ?? []), member]);
  }
  const seen = new Set<string>();
  const write = (member: Member): JsonObject[] => {
    const key = keyOf(member.system, member.code);
    if (seen.has(key)) return [];
    seen.add(key);
    const contains = (below.get(key) ?? []).flatMap(write);
    return [{ ...toContains(member, options), ...(contains.length > 0 && { contains }) }];
  };
  return roots.flatMap(write);
}

function toContains(member: Member, options: ExpansionOptions): JsonObject {
  const { system, version, code, concept } = member;
  const display = memberDisplay(member, options.languages);
  const designation =
    options.includeDesignations || options.designations.length > 0 ? designationsOf(member, options) : [];
  const property = concept?.properties.filter((each) => options.properties.includes(each.code)) ?? [];
  const definition = options.properties.includes('definition') ? concept?.definition : undefined;
  const properties = [
    ...property.map(({ code: name, kind, value }) => ({ code: name, [kind]: value })),
    ...(definition === undefined ? [] : [{ code: 'definition', valueString: definition }]),
  ];
  return {
    system,
    ...(concept?.isAbstract === true && { abstract: true }),
    ...(concept?.isInactive === true && { inactive: true }),
    ...(version !== undefined && { version }),
    code,
    ...(display !== undefined && { display }),
    ...(designation.length > 0 && { designation }),
    ...(properties.length > 0 && { property: properties }),
  };
}

/** The display of a member in the wanted language. */
export function memberDisplay(member: Member, languages: readonly string[]): string | undefined {
  if (languages.length === 0) return member.display;
  const { display, designations, code } = member;
  const base = { code, designations, properties: [], parents: [], children: [], isAbstract: false, isInactive: false };
  return displayIn({ ...base, ...(display !== undefined && { display }) }, languages);
}

function designationsOf({ designations }: Member, { designations: wanted }: ExpansionOptions): JsonValue[] {
  return designations
    .filter(({ language, use }) => {
      if (wanted.length === 0) return true;
      return wanted.some((each) => {
        const [system = '', code] = each.split('|');
        if (system === 'urn:ietf:bcp:47' && code !== undefined)
          return language !== undefined && isLanguage(language, code);
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

/** Whether each word begins a word of the code, the display or a designation. */
function isNamed({ code, display = '', designations }: Member, words: readonly string[]): boolean {
  const texts = [code, display, ...designations.map(({ value }) => value)].map(
    (text) => ` ${fold(text).replaceAll(/[^\p{L}\p{N}]+/gu, ' ')}`,
  );
  return words.every((word) => {
    const plain = word.replaceAll(/[^\p{L}\p{N}]+/gu, ' ').trim();
    return texts.some((text) => text.includes(` ${plain}`)) || fold(code).includes(word);
  });
}
