import type { CompartmentRow, SearchRow, SearchTable } from '../contract/search.js';
import { isId } from '../fhir/id.js';
import { isObject, type JsonObject, type JsonValue } from '../fhir/resource.js';

/** The compartment whose resource an audit event names. https://profiles.ihe.net/ITI/BALP */
const PATIENT = 'Patient';
/** Its parts are bounded: in a text that ends within a string it would go over the rest again and again. */
const REFERENCE = new RegExp(
  `"reference":"(?:[^"]{0,2000}/)?${PATIENT}/([A-Za-z0-9.-]{1,64})(?:/_history/[^"]{0,64})?"`,
  'g',
);

/** Patients named in one event, at most: of a request about one resource, and of one that reads several. */
const MOST = 20;
const MOST_READ = 100;

/** Finds out which patients a request is about. */
export interface PatientFinder {
  /** Of a resource, or its JSON text. */
  ofResource(type: string, id: string | undefined, content: JsonValue | undefined): readonly string[];
  /** Of a search: those that its criteria or its compartment name. */
  ofSearch(type: string | undefined, params: URLSearchParams): readonly string[];
  /** An empty list for an event. */
  begin(): PatientList;
}

/** The patients of one event, each once. */
export interface PatientList {
  readonly ids: readonly string[];
  /** There are more than an event names. */
  readonly isCut: boolean;
  add(ids: readonly string[]): void;
  addAll(other: PatientList): void;
  /** As `ofResource`. */
  about(type: string, id: string | undefined, content: JsonValue | undefined): void;
  /** A text that may be a reference to a patient. */
  value(text: string): void;
  /** JSON text with any resources in it: patients, and references to patients. */
  text(json: string): void;
  /** The same, parsed. */
  tree(value: JsonValue): void;
}

/** @param tables the compartment tells by which parameters a type refers to its patient */
export function createPatientFinder(tables: {
  readonly compartments: readonly CompartmentRow[];
  readonly search: readonly SearchTable[];
}): PatientFinder {
  const members = tables.compartments.find(({ type }) => type === PATIENT)?.members ?? {};
  const links = new Map(tables.search.map((table) => [table.type, linksOf(table, members[table.type] ?? [])]));
  return {
    ofResource(type, id, content) {
      // What is no id is no patient, and may be of any length.
      if (type === PATIENT) return id === undefined || !isId(id) ? [] : [id];
      return content === undefined ? [] : referredTo(content, links.get(type)?.elements ?? []);
    },
    ofSearch(type, params) {
      if (params.size === 0 || type === undefined) return [];
      // Of what is contained it is an id within another resource.
      const ids = params.get('_contained') === 'true' ? [] : ['_id'];
      const codes = type === PATIENT ? ids : (links.get(type)?.codes ?? []);
      const values = codes.flatMap((code) => [...params.getAll(code), ...params.getAll(`${code}:${PATIENT}`)]);
      const named = values
        .flatMap((value) => value.split(','))
        .map((value) => value.replace(/^(?:.*\/)?Patient\//, ''));
      return mostOf(new Set(named.filter(isId)));
    },
    begin() {
      return new Patients((...resource) => this.ofResource(...resource));
    },
  };
}

/** What is looked through for one event, in characters and values: an answer may be large. */
const LOOKED = { characters: 1_000_000, values: 20_000 };

/** A resource as this server writes it, or a reference. */
const NAMED = new RegExp(`"resourceType":"${PATIENT}","id":"([A-Za-z0-9.-]{1,64})"|${REFERENCE.source}`, 'g');
const ONE = new RegExp(`^(?:.*/)?${PATIENT}/([A-Za-z0-9.-]{1,64})(?:/_history/.*)?$`);

/** Longer texts are no references, in characters. */
const LONGEST_REFERENCE = 2000;

class Patients implements PatientList {
  readonly #ids = new Set<string>();
  #isCut = false;
  #characters = LOOKED.characters;
  #values = LOOKED.values;

  constructor(private readonly ofResource: PatientFinder['ofResource']) {}

  get ids(): readonly string[] {
    return [...this.#ids];
  }

  get isCut(): boolean {
    return this.#isCut;
  }

  add(ids: readonly string[]): void {
    for (const id of ids) {
      if (this.#ids.has(id)) continue;
      if (this.#ids.size >= MOST_READ) this.#isCut = true;
      else this.#ids.add(id);
    }
  }

  addAll({ ids, isCut }: PatientList): void {
    this.add(ids);
    this.#isCut ||= isCut;
  }

  about(type: string, id: string | undefined, content: JsonValue | undefined): void {
    if (!this.#isCut) this.add(this.ofResource(type, id, content));
  }

  value(text: string): void {
    const id = text.length > LONGEST_REFERENCE ? undefined : ONE.exec(text)?.[1];
    if (id !== undefined) this.add([id]);
  }

  text(json: string): void {
    if (this.#isCut) return;
    const looked = json.slice(0, this.#characters);
    this.#characters -= looked.length;
    if (looked.length < json.length) this.#isCut = true;
    for (const [, own, referred] of looked.matchAll(NAMED)) this.add([own ?? referred!]);
  }

  tree(value: JsonValue): void {
    const left = [value];
    for (let each = left.pop(); each !== undefined && !this.#isCut; each = left.pop()) {
      if (--this.#values < 0) this.#isCut = true;
      if (typeof each === 'string') this.value(each);
      else if (Array.isArray(each)) for (const one of each.slice(0, LOOKED.values)) left.push(one);
      else if (isObject(each)) {
        const { resourceType, id } = each;
        if (resourceType === PATIENT && typeof id === 'string') this.add([id]);
        for (const one of Object.values(each)) if (one !== undefined) left.push(one);
      }
    }
  }
}

/** How a type refers to its patient. */
interface Links {
  /** Elements on the first level that the parameters of the compartment are read from. */
  readonly elements: readonly string[];
  /** Reference parameters that are read from these. */
  readonly codes: readonly string[];
}

function linksOf({ type, parameters }: SearchTable, members: readonly string[]): Links {
  const begin = new RegExp(`^${type}\\.(\\w+)`);
  const elementsOf = ({ paths }: SearchRow): string[] => paths.flatMap(({ text }) => begin.exec(text)?.[1] ?? []);
  const elements = new Set(parameters.filter(({ code }) => members.includes(code)).flatMap(elementsOf));
  const referring = parameters.filter((row) => row.type === 'reference');
  const codes = referring.filter((row) => elementsOf(row).some((name) => elements.has(name)));
  return { elements: [...elements], codes: codes.map(({ code }) => code) };
}

/** Larger texts are not parsed, in characters: any reference to a patient in them counts. */
const LARGE = 65_536;

/** References to patients in these elements. */
function referredTo(content: JsonValue, elements: readonly string[]): readonly string[] {
  if (typeof content === 'string') {
    if (elements.length === 0 || !content.includes(`${PATIENT}/`)) return [];
    if (content.length > LARGE) return patientsIn([content]);
  }
  const resource: unknown = typeof content === 'string' ? JSON.parse(content) : content;
  if (!isObject(resource as JsonValue)) return [];
  const values = elements.map((name) => (resource as JsonObject)[name]).filter((value) => value !== undefined);
  return patientsIn(values.map((value) => JSON.stringify(value)));
}

function patientsIn(texts: readonly string[]): readonly string[] {
  const ids = new Set<string>();
  for (const text of texts) {
    // `matchAll` compiles the pattern again each time.
    REFERENCE.lastIndex = 0;
    for (let found = REFERENCE.exec(text); found !== null; found = REFERENCE.exec(text)) ids.add(found[1]!);
  }
  return mostOf(ids);
}

function mostOf(names: ReadonlySet<string>): readonly string[] {
  return names.size > MOST ? [...names].slice(0, MOST) : [...names];
}
