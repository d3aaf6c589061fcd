import { FhirError } from '../fhir/errors.js';
import { yieldToEventLoop, type Yield } from '../fhir/yield-to-event-loop.js';
import { isObject, type JsonObject, type JsonValue, objectsOf, type Resource } from '../fhir/resource.js';
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
  /** Properties that concepts have, whether or not the code system declares them. */
  readonly usedProperties: ReadonlySet<string>;
  /** A concept, whatever the case of the code where the system does not tell cases apart. */
  find(code: string): Concept | undefined;
  /** The first concept whose code differs in case at most. */
  findAnyCase(code: string): Concept | undefined;
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
  /** Perhaps several times. */
  parents: string[] | undefined;
  /** The same. */
  children: string[] | undefined;
  /** Children that properties name. */
  given: string[] | undefined;
}

/** Counts steps. @throws FhirError where there were too many */
export type Spend = (steps: number) => void;

/** Steps that one of the concepts takes that come with a request, and are read for it alone. */
const STEPS_OF_CONCEPT = 8;

const FREE: Spend = () => undefined;

/**
 * Makes the index of a CodeSystem: hierarchies of nested concepts and of the properties `parent` and `child`, in time linear in
 * the number of concepts. Other requests have their turn meanwhile. https://hl7.org/fhir/R5/codesystem.html
 *
 * @param supplements CodeSystems whose designations and properties count as well
 * @param spend counts its concepts, where it is made for one request alone
 */
export async function indexCodeSystem(
  resource: Resource,
  supplements: readonly Resource[] = [],
  spend: Spend = FREE,
): Promise<CodeSystemIndex> {
  const pace = yieldToEventLoop();
  const names = propertyNames(resource);
  const drafts = await readDrafts(resource, names, pace, spend);
  const added = new Map<string, Addition[]>();
  for (const each of supplements) await addSupplement(each, added, pace);
  const language = typeof resource['language'] === 'string' ? resource['language'] : undefined;
  const concepts = new Map<string, Concept>();
  const roots: string[] = [];
  const usedProperties = new Set<string>();
  // "When the rule is not known, Postel's law should be followed": CodeSystem.caseSensitive
  const ignoresCase = resource['caseSensitive'] !== true;
  /** Of the codes that are not in lower case. */
  const folded = new Map<string, Concept>();
  for (const [code, draft] of drafts) {
    const turn = pace();
    if (turn !== undefined) await turn;
    const concept = toConcept(code, concepts.size, draft, names, added.get(code) ?? NONE, language);
    concepts.set(code, concept);
    if (concept.parents.length === 0) roots.push(code);
    for (const { code: property } of concept.properties) usedProperties.add(property);
    const lower = code.toLowerCase();
    if (lower !== code && !folded.has(lower)) folded.set(lower, concept);
  }
  const findAnyCase = (code: string): Concept | undefined => {
    const lower = code.toLowerCase();
    const [one, other] = [concepts.get(lower), folded.get(lower)];
    return one === undefined || (other !== undefined && other.position < one.position) ? other : one;
  };
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
    ...{ usedProperties, concepts, roots, ignoresCase, findAnyCase },
    find: (code) => concepts.get(code) ?? (ignoresCase ? findAnyCase(code) : undefined),
  };
}

/** URL and version. */
export function canonicalOf({ url, version }: Resource): string {
  return version === undefined ? String(url) : `${String(url)}|${String(version)}`;
}

/** Describes, for a message, the version that the server knows instead of one that was asked for. */
export function latestKnown({ version }: CodeSystemIndex): string {
  return version === undefined ? 'it knows one without a version' : `the latest that it knows is ${version}`;
}

/** All concepts with their parents and children, from the nesting and from properties. The first of two concepts with the same code counts. */
async function readDrafts(
  resource: Resource,
  names: Names,
  pace: Yield,
  spend: Spend,
): Promise<ReadonlyMap<string, Draft>> {
  const drafts = new Map<string, Draft>();
  const begin = (list: JsonValue | undefined, parent: string | undefined): Level => {
    // Before anything is made of a million.
    if (Array.isArray(list) && list.length > MOST_CONCEPTS) throw tooMany(resource);
    return { concepts: objectsOf(list), at: 0, parent };
  };
  // The order of the definition: what is nested comes directly after what it is nested in.
  const open: Level[] = [begin(resource['concept'], undefined)];
  for (let level = open.at(-1); level !== undefined; level = open.at(-1)) {
    const source = level.concepts[level.at++];
    if (source === undefined) {
      open.pop();
      continue;
    }
    const turn = pace();
    if (turn !== undefined) await turn;
    spend(STEPS_OF_CONCEPT);
    const { parent } = level;
    const code = String(source['code']);
    const known = drafts.get(code);
    const draft: Draft = known ?? { source, parents: undefined, children: undefined, given: undefined };
    if (known === undefined) drafts.set(code, draft);
    if (drafts.size > MOST_CONCEPTS) throw tooMany(resource);
    if (parent !== undefined) (draft.parents ??= []).push(parent);
    if (source['property'] !== undefined) {
      for (const { code: property, value } of propertiesOf(source)) {
        if (names.parents.has(property)) (draft.parents ??= []).push(codeIn(value));
        if (property === names.child) (draft.given ??= []).push(codeIn(value));
      }
    }
    if (source['concept'] !== undefined) open.push(begin(source['concept'], code));
  }
  for (const [code, { parents }] of drafts) {
    const turn = pace();
    if (turn !== undefined) await turn;
    for (const parent of parents ?? NONE) {
      const above = drafts.get(parent);
      if (above !== undefined) (above.children ??= []).push(code);
    }
  }
  for (const [code, draft] of drafts) {
    for (const child of draft.given ?? NONE) {
      (draft.children ??= []).push(child);
      const below = drafts.get(child);
      if (below !== undefined) (below.parents ??= []).push(code);
    }
  }
  return drafts;
}

/** Concepts of one level of a hierarchy, and how far they were read. */
interface Level {
  readonly concepts: readonly JsonObject[];
  at: number;
  readonly parent: string | undefined;
}

function tooMany({ url }: Resource): FhirError {
  const text = `The code system ${String(url)} has more than ${MOST_CONCEPTS} concepts`;
  return new FhirError('expansion-too-costly', text);
}

/** Counts the steps of a question. @throws FhirError where it takes too many */
interface StepCounter {
  spend(steps: number): void;
}

/** Codes below a concept, without itself, each once. @throws TerminologyFault where the hierarchy is not known; FhirError where there are too many */
export function descendantsOf(system: CodeSystemIndex, code: string, effort: StepCounter): ReadonlySet<string> {
  return reach(system, code, effort, ({ children }) => children);
}

/** Codes above a concept, without itself, each once. @throws as `descendantsOf` */
export function ancestorsOf(system: CodeSystemIndex, code: string, effort: StepCounter): ReadonlySet<string> {
  return reach(system, code, effort, ({ parents }) => parents);
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
  effort: StepCounter,
  next: (concept: Concept) => readonly string[],
): ReadonlySet<string> {
  if (isFlat(system)) {
    throw new TerminologyFault('system', system.url, `The server knows the codes of ${system.url}, and not how they are arranged`); // prettier-ignore
  }
  const start = system.find(code);
  const found = new Set<string>();
  const open: Concept[] = start === undefined ? [] : [start];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const codes = next(at);
    effort.spend(1 + codes.length);
    for (const each of codes) {
      if (found.has(each) || each === start?.code) continue;
      found.add(each);
      const concept = system.find(each);
      if (concept !== undefined) open.push(concept);
    }
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
  code: string,
  position: number,
  { source, parents, children }: Draft,
  names: Names,
  added: readonly Addition[],
  language: string | undefined,
): Concept {
  const own = source['property'] === undefined ? NONE : propertiesOf(source);
  const properties = added.length === 0 ? own : [...own, ...added.flatMap(({ canonical, found }) => propertiesOf(found).map((each) => ({ ...each, source: canonical })))]; // prettier-ignore
  const { display, definition } = source;
  // Properties are added one by one, because spreads take most of the time of large code systems.
  const concept: { -readonly [name in keyof Concept]: Concept[name] } = {
    code,
    position,
    designations: source['designation'] === undefined && added.length === 0 ? NONE : designationsOf(source, added),
    properties,
    parents: eachOnce(parents),
    children: eachOnce(children),
    isAbstract: false,
    isInactive: false,
  };
  if (typeof display === 'string') concept.display = display;
  if (language !== undefined) concept.language = language;
  if (typeof definition === 'string') concept.definition = definition;
  let hasStatus = false;
  for (const { code: property, value } of properties) {
    if (property === names.notSelectable || property === 'abstract') concept.isAbstract ||= isTrue(value);
    if (property === names.inactive) concept.isInactive ||= isTrue(value);
    if (property === names.status) {
      hasStatus = true;
      concept.isInactive ||= RETIRED.has(value);
    }
  }
  if (!hasStatus && source['extension'] !== undefined) concept.isInactive ||= isWithdrawn(source);
  return concept;
}

function designationsOf(source: JsonObject, added: readonly Addition[]): readonly Designation[] {
  return [source, ...added.map(({ found }) => found)]
    .flatMap((each) => objectsOf(each['designation']))
    .map(toDesignation);
}

function eachOnce(codes: readonly string[] = NONE): readonly string[] {
  return codes.length < 2 ? codes : [...new Set(codes)];
}

function isWithdrawn(source: JsonObject): boolean {
  return objectsOf(source['extension']).some(
    ({ url, valueCode }) => url === STANDARDS_STATUS && WITHDRAWN.has(valueCode),
  );
}

/** What a supplement says of a concept. */
interface Addition {
  /** Of the supplement. */
  readonly canonical: string;
  readonly found: JsonObject;
}

/** Adds what a CodeSystem says that supplements another one: of two concepts with the same code the last counts. */
async function addSupplement(resource: Resource, to: Map<string, Addition[]>, pace: Yield): Promise<void> {
  const byCode = new Map<string, JsonObject>();
  const open = [resource['concept']];
  for (let list = open.shift(); list !== undefined; list = open.shift()) {
    for (const each of objectsOf(list)) {
      const turn = pace();
      if (turn !== undefined) await turn;
      byCode.set(String(each['code']), each);
      if (each['concept'] !== undefined) open.push(each['concept']);
    }
  }
  const canonical = canonicalOf(resource);
  for (const [code, found] of byCode) {
    const all = to.get(code);
    if (all === undefined) to.set(code, [{ canonical, found }]);
    else all.push({ canonical, found });
  }
}

function propertiesOf(source: JsonObject): ConceptProperty[] {
  return objectsOf(source['property']).flatMap((property) => {
    const kind = Object.keys(property).find((name) => name.startsWith('value'));
    const value = kind === undefined ? undefined : property[kind];
    if (kind === undefined || value === undefined) return [];
    return [{ code: String(property['code']), kind, value }];
  });
}

/** Reads a designation. */
export function toDesignation({ language, use, value }: JsonObject): Designation {
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
