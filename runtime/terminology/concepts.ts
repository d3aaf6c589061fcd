import { FhirError } from '../fhir/errors.js';
import { isObject, type JsonObject, type JsonValue, type Resource } from '../fhir/resource.js';
import { TerminologyFault } from './fault.js';

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
  /** Canonical of the supplement that it comes from. */
  readonly source?: string;
}

/** A concept with its place in the hierarchy. */
export interface Concept {
  readonly code: string;
  /** In the order of the code system. */
  readonly position: number;
  readonly display?: string;
  /** Of the display. */
  readonly language?: string;
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
  /** Canonicals of the supplements that are in it. */
  readonly supplements: readonly string[];
  /** Properties that it or a supplement declares, with their URIs. */
  readonly properties: ReadonlyMap<string, string | undefined>;
  /** By code, in the order of the definition. */
  readonly concepts: ReadonlyMap<string, Concept>;
  /** Codes without a parent. */
  readonly roots: readonly string[];
  /** Whether codes that differ in case alone are the same code. */
  readonly ignoresCase: boolean;
  /** A concept, whatever the case of the code where the system does not tell cases apart. */
  find(code: string): Concept | undefined;
}

const PROPERTIES = 'http://hl7.org/fhir/concept-properties#';
/** https://hl7.org/fhir/extensions/StructureDefinition-structuredefinition-standards-status.html */
const STANDARDS_STATUS = 'http://hl7.org/fhir/StructureDefinition/structuredefinition-standards-status';
/** Values of the property `status`, and of the extension where there is no property, that take a concept out of use. */
const RETIRED: ReadonlySet<unknown> = new Set(['retired', 'inactive', 'withdrawn']);
const WITHDRAWN: ReadonlySet<unknown> = new Set(['withdrawn', 'deprecated']);

/** Concepts that a code system may have here. */
const MOST_CONCEPTS = 500_000;

const NONE: readonly never[] = [];

interface Draft {
  readonly source: JsonObject;
  parents: Set<string> | undefined;
  children: Set<string> | undefined;
}

/**
 * Makes the index of a CodeSystem: hierarchies of nested concepts and of the properties `parent` and `child`, in time linear in
 * the number of concepts. https://hl7.org/fhir/R5/codesystem.html
 *
 * @param supplements CodeSystems whose designations and properties count as well
 */
export function indexCodeSystem(resource: Resource, supplements: readonly Resource[] = []): CodeSystemIndex {
  const names = propertyNames(resource);
  const drafts = readDrafts(resource, names);
  const more = supplements.map((each) => supplementOf(each));
  const language = resource['language'];
  const concepts = new Map<string, Concept>();
  for (const [code, draft] of drafts) {
    const place = { code, position: concepts.size };
    concepts.set(code, toConcept(place, draft, names, more, typeof language === 'string' ? language : undefined));
  }
  // "When the rule is not known, Postel's law should be followed": CodeSystem.caseSensitive
  const ignoresCase = resource['caseSensitive'] !== true;
  let folded: ReadonlyMap<string, Concept> | undefined;
  const findFolded = (code: string): Concept | undefined =>
    (folded ??= new Map([...concepts].reverse().map(([each, concept]) => [each.toLowerCase(), concept]))).get(
      code.toLowerCase(),
    );
  const version = resource['version'];
  return {
    url: String(resource['url'] ?? ''),
    ...(typeof version === 'string' && { version }),
    resource,
    supplements: supplements.map((each) => canonicalOf(each)),
    content: String(resource['content'] ?? 'complete'),
    properties: new Map(
      [...supplements, resource]
        .flatMap((each) => objectsOf(each['property']))
        .map(({ code, uri }) => [String(code), typeof uri === 'string' ? uri : undefined]),
    ),
    concepts,
    roots: [...concepts.values()].filter(({ parents }) => parents.length === 0).map(({ code }) => code),
    ignoresCase,
    find: (code) => concepts.get(code) ?? (ignoresCase ? findFolded(code) : undefined),
  };
}

/** URL and version. */
export function canonicalOf({ url, version }: Resource): string {
  return version === undefined ? String(url) : `${String(url)}|${String(version)}`;
}

/** What a message says of the versions that the server knows instead of one that is asked for. */
export function latestKnown({ version }: CodeSystemIndex): string {
  return version === undefined ? 'it knows one without a version' : `the latest that it knows is ${version}`;
}

/** All concepts with their parents and children, from the nesting and from properties. The first of two concepts with the same code counts. */
function readDrafts(resource: Resource, names: Names): ReadonlyMap<string, Draft> {
  const drafts = new Map<string, Draft>();
  // The order of the definition: what is nested comes directly after what it is nested in.
  const visit = (list: JsonValue | undefined, parent: string | undefined): void => {
    // Before anything is made of a million.
    if (Array.isArray(list) && list.length > MOST_CONCEPTS) throw tooMany(resource);
    for (const source of objectsOf(list)) {
      const code = String(source['code']);
      const known = drafts.get(code);
      const draft: Draft = known ?? { source, parents: undefined, children: undefined };
      if (known === undefined) drafts.set(code, draft);
      if (drafts.size > MOST_CONCEPTS) throw tooMany(resource);
      if (parent !== undefined) {
        (draft.parents ??= new Set()).add(parent);
        const above = drafts.get(parent)!;
        (above.children ??= new Set()).add(code);
      }
      if (source['property'] !== undefined) {
        for (const { code: property, value } of propertiesOf(source)) {
          if (names.parents.has(property)) (draft.parents ??= new Set()).add(codeIn(value));
          if (property === names.child) (draft.children ??= new Set()).add(codeIn(value));
        }
      }
      if (source['concept'] !== undefined) visit(source['concept'], code);
    }
  };
  visit(resource['concept'], undefined);
  for (const [code, { parents, children }] of drafts) {
    for (const parent of parents ?? NONE) {
      const above = drafts.get(parent);
      if (above !== undefined) (above.children ??= new Set()).add(code);
    }
    for (const child of children ?? NONE) {
      const below = drafts.get(child);
      if (below !== undefined) (below.parents ??= new Set()).add(code);
    }
  }
  return drafts;
}

function tooMany({ url }: Resource): FhirError {
  const text = `The code system ${String(url)} has more than ${MOST_CONCEPTS} concepts`;
  return new FhirError('expansion-too-costly', text);
}

/** Codes below a concept, without itself, each once. @throws TerminologyFault where the hierarchy is not known */
export function descendantsOf(system: CodeSystemIndex, code: string): ReadonlySet<string> {
  return reach(system, code, ({ children }) => children);
}

/** Codes above a concept, without itself, each once. @throws TerminologyFault where the hierarchy is not known */
export function ancestorsOf(system: CodeSystemIndex, code: string): ReadonlySet<string> {
  return reach(system, code, ({ parents }) => parents);
}

/** Meanings of a hierarchy in which what is above does not subsume what is below. https://hl7.org/fhir/R5/valueset-codesystem-hierarchy-meaning.html */
const NO_SUBSUMPTION: ReadonlySet<unknown> = new Set(['part-of', 'grouped-by', 'classified-with']);

/** Whether concepts subsume those below them. */
export function subsumesByHierarchy({ resource }: CodeSystemIndex): boolean {
  return !NO_SUBSUMPTION.has(resource['hierarchyMeaning']);
}

function reach(
  system: CodeSystemIndex,
  code: string,
  next: (concept: Concept) => readonly string[],
): ReadonlySet<string> {
  if (isFlat(system)) {
    throw new TerminologyFault('system', system.url, `The server knows the codes of ${system.url}, and not how they are arranged`); // prettier-ignore
  }
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

/** Whether only the codes are known: an official expansion lists them, and the FHIR package has no such code system. */
export function isFlat({ resource }: CodeSystemIndex): boolean {
  return objectsOf(resource['extension']).some(({ url }) => url === 'urn:kiln:hierarchy-unknown');
}

interface Names {
  readonly parents: ReadonlySet<string>;
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
    parents: new Set([of('parent'), 'subsumedBy']),
    child: of('child'),
    inactive: of('inactive'),
    status: of('status'),
    notSelectable: of('notSelectable'),
  };
}

function toConcept(
  { code, position }: Pick<Concept, 'code' | 'position'>,
  { source, parents, children }: Draft,
  names: Names,
  more: readonly Supplement[],
  language: string | undefined,
): Concept {
  const added = more.flatMap(({ canonical, byCode }) => {
    const found = byCode.get(code);
    return found === undefined ? [] : [{ canonical, found }];
  });
  const own = source['property'] === undefined ? NONE : propertiesOf(source);
  const properties = added.length === 0 ? own : [...own, ...added.flatMap(({ canonical, found }) => propertiesOf(found).map((each) => ({ ...each, source: canonical })))]; // prettier-ignore
  const { display, definition } = source;
  const values = (name: string): readonly JsonValue[] =>
    properties.length === 0 ? NONE : properties.filter((each) => each.code === name).map(({ value }) => value);
  const status = values(names.status);
  return {
    ...{ code, position },
    ...(typeof display === 'string' && { display }),
    ...(language !== undefined && { language }),
    ...(typeof definition === 'string' && { definition }),
    designations:
      source['designation'] === undefined && added.length === 0
        ? NONE
        : [source, ...added.map(({ found }) => found)]
            .flatMap((each) => objectsOf(each['designation']))
            .map(toDesignation),
    properties,
    parents: parents === undefined ? NONE : [...parents],
    children: children === undefined ? NONE : [...children],
    isAbstract: values(names.notSelectable).some(isTrue) || values('abstract').some(isTrue),
    isInactive:
      values(names.inactive).some(isTrue) ||
      status.some((value) => RETIRED.has(value)) ||
      (status.length === 0 && source['extension'] !== undefined && isWithdrawn(source)),
  };
}

function isWithdrawn(source: JsonObject): boolean {
  return objectsOf(source['extension']).some(
    ({ url, valueCode }) => url === STANDARDS_STATUS && WITHDRAWN.has(valueCode),
  );
}

/** Concepts of a CodeSystem that adds to another one. */
interface Supplement {
  readonly canonical: string;
  readonly byCode: ReadonlyMap<string, JsonObject>;
}

function supplementOf(resource: Resource): Supplement {
  const byCode = new Map<string, JsonObject>();
  const visit = (list: JsonValue | undefined): void => {
    for (const each of objectsOf(list)) {
      byCode.set(String(each['code']), each);
      visit(each['concept']);
    }
  };
  visit(resource['concept']);
  return { canonical: canonicalOf(resource), byCode };
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

/** The code of a value that may be a Coding. */
export function codeIn(value: JsonValue): string {
  return isObject(value) ? String(value['code'] ?? '') : String(value);
}

function isTrue(value: JsonValue): boolean {
  return value === true || value === 'true';
}

/** The objects of a list; none where it is no list. */
export function objectsOf(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
