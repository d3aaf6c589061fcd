import type { CompartmentRow, SearchRow, SearchTable } from '../../contract/search.js';
import { isId } from '../../fhir/id.js';

/** The compartment whose resource an audit event names. https://profiles.ihe.net/ITI/BALP */
const PATIENT = 'Patient';
const REFERENCE = new RegExp(`"reference":"(?:[^"]*/)?${PATIENT}/([A-Za-z0-9.-]{1,64})(?:/_history/[^"]*)?"`, 'g');

/** Patients named in one event, at most. */
const MOST = 20;

/** Finds out which patients a request is about. */
export interface PatientFinder {
  /** Of a resource, by its JSON text. */
  ofResource(type: string, id: string | undefined, json: string | undefined): readonly string[];
  /** Of a search: those that its criteria or its compartment name. */
  ofSearch(type: string | undefined, params: URLSearchParams): readonly string[];
}

/** @param tables the compartment tells by which parameters a type refers to its patient */
export function createPatientFinder(tables: {
  readonly compartments: readonly CompartmentRow[];
  readonly search: readonly SearchTable[];
}): PatientFinder {
  const members = tables.compartments.find(({ type }) => type === PATIENT)?.members ?? {};
  const links = new Map(tables.search.map((table) => [table.type, linksOf(table, members[table.type] ?? [])]));
  return {
    ofResource(type, id, json) {
      if (type === PATIENT) return id === undefined ? [] : [id];
      return json === undefined ? [] : referredTo(json, links.get(type)?.elements ?? []);
    },
    ofSearch(type, params) {
      if (params.size === 0 || type === undefined) return [];
      const codes = type === PATIENT ? ['_id'] : (links.get(type)?.codes ?? []);
      const values = codes.flatMap((code) => [...params.getAll(code), ...params.getAll(`${code}:${PATIENT}`)]);
      const ids = values.flatMap((value) => value.split(',')).map((value) => value.replace(/^(?:.*\/)?Patient\//, ''));
      return distinct(ids.filter(isId));
    },
  };
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

/** References to patients in these elements. The text is that of the store: one line, without white space. */
function referredTo(json: string, elements: readonly string[]): readonly string[] {
  if (!json.includes(`${PATIENT}/`)) return [];
  const resource = JSON.parse(json) as Readonly<Record<string, unknown>>;
  const ids = elements.flatMap((name) => {
    const text = resource[name] === undefined ? '' : JSON.stringify(resource[name]);
    return [...text.matchAll(REFERENCE)].map(([, id]) => id!);
  });
  return distinct(ids);
}

function distinct(names: readonly string[]): readonly string[] {
  return [...new Set(names)].slice(0, MOST);
}
