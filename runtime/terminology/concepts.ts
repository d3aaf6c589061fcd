import { isObject, type JsonObject, type JsonValue, type Resource } from '../fhir/resource.js';

/** Another name of a concept. https://hl7.org/fhir/R5/codesystem-definitions.html#CodeSystem.concept.designation */
export interface Designation {
  readonly language?: string;
  readonly use?: JsonObject;
  readonly value: string;
}

/** A property with its `value[x]`. */
export interface ConceptProperty {
  readonly code: string;
  /** Name of the member: `valueCode`, `valueString` … */
  readonly kind: string;
  readonly value: JsonValue;
}

/** A concept with its place in the hierarchy. */
export interface Concept {
  readonly code: string;
  readonly display?: string;
  readonly definition?: string;
  readonly designations: readonly Designation[];
  readonly properties: readonly ConceptProperty[];
  readonly parents: readonly string[];
  readonly children: readonly string[];
  /** It is only there to group others. */
  readonly isAbstract: boolean;
  readonly isInactive: boolean;
}

/** A code system ready to be asked. */
export interface CodeSystemIndex {
  readonly url: string;
  readonly version?: string;
  readonly resource: Resource;
  /** `complete`, `fragment`, `example`, `not-present`, `supplement`. */
  readonly content: string;
  /** By code, in the order of the definition. */
  readonly concepts: ReadonlyMap<string, Concept>;
  /** Codes without a parent. */
  readonly roots: readonly string[];
  /** A concept, whatever the case of the code where the system does not tell cases apart. */
  find(code: string): Concept | undefined;
}

const PROPERTIES = 'http://hl7.org/fhir/concept-properties#';
/** Values of the property `status` that take a concept out of use. */
const RETIRED: ReadonlySet<unknown> = new Set(['retired', 'inactive', 'withdrawn']);

interface Draft {
  readonly source: JsonObject;
  readonly parents: Set<string>;
  readonly children: Set<string>;
}

/**
 * Makes the index of a CodeSystem: hierarchies of nested concepts and of the properties `parent` and `child`, in time linear in
 * the number of concepts. https://hl7.org/fhir/R5/codesystem.html
 *
 * @param supplements CodeSystems whose designations and properties count as well
 */
export function indexCodeSystem(resource: Resource, supplements: readonly Resource[] = []): CodeSystemIndex {
  const names = propertyNames(resource);
  const drafts = new Map<string, Draft>();
  const visit = (list: JsonValue | undefined, parent: string | undefined): void => {
    for (const source of objectsOf(list)) {
      const code = String(source['code']);
      const draft = drafts.get(code) ?? { source, parents: new Set<string>(), children: new Set<string>() };
      drafts.set(code, draft);
      if (parent !== undefined) {
        draft.parents.add(parent);
        drafts.get(parent)?.children.add(code);
      }
      for (const { code: property, value } of propertiesOf(source)) {
        if (property === names.parent) draft.parents.add(String(value));
        if (property === names.child) draft.children.add(String(value));
      }
      visit(source['concept'], code);
    }
  };
  visit(resource['concept'], undefined);
  for (const [code, { parents, children }] of drafts) {
    for (const parent of parents) drafts.get(parent)?.children.add(code);
    for (const child of children) drafts.get(child)?.parents.add(code);
  }
  const more = supplements.map((each) => supplementOf(each));
  const concepts = new Map<string, Concept>();
  for (const [code, draft] of drafts) concepts.set(code, toConcept(code, draft, names, more));
  const isFolded = resource['caseSensitive'] === false;
  const folded = isFolded ? new Map([...concepts].map(([code, each]) => [code.toLowerCase(), each])) : undefined;
  const version = resource['version'];
  return {
    url: String(resource['url'] ?? ''),
    ...(typeof version === 'string' && { version }),
    resource,
    content: String(resource['content'] ?? 'complete'),
    concepts,
    roots: [...concepts.values()].filter(({ parents }) => parents.length === 0).map(({ code }) => code),
    find: (code) => concepts.get(code) ?? folded?.get(code.toLowerCase()),
  };
}

/** Codes below a concept, without itself, each once. */
export function descendantsOf(system: CodeSystemIndex, code: string): ReadonlySet<string> {
  return reach(system, code, ({ children }) => children);
}

/** Codes above a concept, without itself, each once. */
export function ancestorsOf(system: CodeSystemIndex, code: string): ReadonlySet<string> {
  return reach(system, code, ({ parents }) => parents);
}

function reach(
  system: CodeSystemIndex,
  code: string,
  next: (concept: Concept) => readonly string[],
): ReadonlySet<string> {
  const start = system.find(code);
  const found = new Set<string>();
  const open = start === undefined ? [] : [...next(start)];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (found.has(at) || at === start?.code) continue;
    found.add(at);
    const concept = system.find(at);
    if (concept !== undefined) open.push(...next(concept));
  }
  return found;
}

/** The display in a language, if there is one: a designation of it, or of the same language elsewhere, else the display. */
export function displayIn(
  { display, designations }: Concept,
  languages: readonly string[],
  own?: string,
): string | undefined {
  for (const language of languages) {
    if (own !== undefined && isLanguage(own, language)) return display;
    const found = designations.find((each) => each.language === language) ?? designations.find((each) => each.language !== undefined && isLanguage(each.language, language)); // prettier-ignore
    if (found !== undefined) return found.value;
  }
  return display;
}

/** Whether a tag is of a language: `de-AT` is of `de`. */
export function isLanguage(tag: string, language: string): boolean {
  const [one, other] = [tag.toLowerCase(), language.toLowerCase()];
  return one === other || one.startsWith(`${other}-`);
}

interface Names {
  readonly parent: string;
  readonly child: string;
  readonly inactive: string;
  readonly status: string;
  readonly notSelectable: string;
}

/** The codes under which a code system has the standard properties. */
function propertyNames(resource: Resource): Names {
  const byUri = new Map(objectsOf(resource['property']).map(({ uri, code }) => [String(uri), String(code)]));
  const of = (name: string): string => byUri.get(`${PROPERTIES}${name}`) ?? name;
  return {
    parent: of('parent'),
    child: of('child'),
    inactive: of('inactive'),
    status: of('status'),
    notSelectable: of('notSelectable'),
  };
}

function toConcept(
  code: string,
  { source, parents, children }: Draft,
  names: Names,
  more: readonly ReadonlyMap<string, JsonObject>[],
): Concept {
  const all: readonly JsonObject[] = [
    source,
    ...more.flatMap((each): readonly JsonObject[] => listOfOne(each.get(code))),
  ];
  const properties = all.flatMap(propertiesOf);
  const { display, definition } = source;
  const has = (name: string, value: (value: JsonValue) => boolean): boolean =>
    properties.some((each) => each.code === name && value(each.value));
  return {
    code,
    ...(typeof display === 'string' && { display }),
    ...(typeof definition === 'string' && { definition }),
    designations: all.flatMap((each) => objectsOf(each['designation'])).map(toDesignation),
    properties,
    parents: [...parents],
    children: [...children],
    isAbstract: has(names.notSelectable, isTrue) || has('abstract', isTrue),
    isInactive: has(names.inactive, isTrue) || has(names.status, (value) => RETIRED.has(value)),
  };
}

function supplementOf(resource: Resource): ReadonlyMap<string, JsonObject> {
  const found = new Map<string, JsonObject>();
  const visit = (list: JsonValue | undefined): void => {
    for (const each of objectsOf(list)) {
      found.set(String(each['code']), each);
      visit(each['concept']);
    }
  };
  visit(resource['concept']);
  return found;
}

function propertiesOf(source: JsonObject): ConceptProperty[] {
  return objectsOf(source['property']).flatMap((property) => {
    const kind = Object.keys(property).find((name) => name.startsWith('value'));
    const value = kind === undefined ? undefined : property[kind];
    if (kind === undefined || value === undefined) return [];
    return [{ code: String(property['code']), kind, value }];
  });
}

function toDesignation({ language, use, value }: JsonObject): Designation {
  return {
    ...(typeof language === 'string' && { language }),
    ...(isObject(use) && { use }),
    value: String(value),
  };
}

function listOfOne(value: JsonObject | undefined): readonly JsonObject[] {
  return value === undefined ? [] : [value];
}

function isTrue(value: JsonValue): boolean {
  return value === true;
}

/** The objects of a list; none where it is no list. */
export function objectsOf(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
