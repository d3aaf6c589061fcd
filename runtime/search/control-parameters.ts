/** Scope of a search: a type, all types, or a type in a compartment. */
export type SearchKind = 'type' | 'system' | 'compartment';

/** A parameter that is no criterion, as documentation has it. */
export interface ControlParameter {
  readonly about: string;
  /** Its values; absent: one text. */
  readonly values?: 'integer' | 'boolean' | 'several';
  /** The searches that take it; absent: all of them. */
  readonly searches?: readonly SearchKind[];
}

type Group = Readonly<Record<string, ControlParameter>>;

/** The parameters that every request takes: about the form of the answer. https://hl7.org/fhir/R5/http.html#parameters */
export const FORM_PARAMETERS = {
  _format: { about: 'What the answer is written as, whatever Accept says: json, xml, html or a media type.' },
  _pretty: { about: 'true: the answer is indented.', values: 'boolean' },
} as const satisfies Group;

/** Their names. */
export const FORM: ReadonlySet<string> = new Set(Object.keys(FORM_PARAMETERS));

/** The parameters of searches about their matches, each of which may appear once. https://hl7.org/fhir/R5/search.html#modifyingresults */
export const RESULT_PARAMETERS = {
  _sort: { about: 'Parameters to sort by, separated by commas; a minus sorts descending.' },
  _count: { about: 'Matches of a page; 0: the total alone.', values: 'integer' },
  _total: { about: 'none, estimate or accurate.' },
  _summary: { about: 'true, text, data, count or false.' },
  _elements: { about: 'Names of elements of the first level, separated by commas.' },
  _maxresults: { about: 'Matches on all pages, from 1.', values: 'integer' },
  _score: { about: 'true: matches have a score for the words that are searched; it goes with such words.' },
  _contained: {
    about: 'true: contained resources are searched; both: they too; false.',
    searches: ['type'],
  },
  _containedType: {
    about: 'container or contained: which of them a match of _contained shows.',
    searches: ['type'],
  },
  _graph: { about: 'A GraphDefinition whose resources are added: id, reference or canonical URL.' },
} as const satisfies Group;

/** The parameters of searches that name references to follow. https://hl7.org/fhir/R5/search.html#include */
export const INCLUDE_PARAMETERS = {
  _include: {
    about:
      'References to follow: [type]:[parameter] or [type]:[parameter]:[target]. With :iterate from what was included, too.',
    values: 'several',
  },
  _revinclude: {
    about: 'References to follow backwards: [type]:[parameter]. With :iterate to what was included, too.',
    values: 'several',
  },
} as const satisfies Group;

/** The parameters of searches that are named with what they ask. https://hl7.org/fhir/R5/search.html#has */
export const LINK_PARAMETERS = {
  _has: {
    about: 'What refers to the matches: _has:[type]:[reference]:[parameter].',
    searches: ['type', 'compartment'],
  },
} as const satisfies Group;

/** The parameters of searches over several types. https://hl7.org/fhir/R5/search.html#_type */
export const TYPE_PARAMETERS = {
  _type: { about: 'Types to search, separated by commas.', searches: ['system'] },
} as const satisfies Group;

/** The parameters of reads. https://hl7.org/fhir/R5/search.html#summary */
export const VIEW_PARAMETERS = {
  _summary: { about: 'true, text, data or false.' },
  _elements: RESULT_PARAMETERS._elements,
} as const satisfies Group;

/** The parameters of histories. https://hl7.org/fhir/R5/http.html#history */
export const HISTORY_PARAMETERS = {
  _since: { about: 'Versions from this instant on.' },
  _at: { about: 'Versions that were current at some time in this period.' },
  _count: { about: 'Versions of a page; 0: the total alone.', values: 'integer' },
  _sort: { about: '-_lastUpdated: newest first, as they are in any case.' },
  _summary: RESULT_PARAMETERS._summary,
  _elements: RESULT_PARAMETERS._elements,
} as const satisfies Group;

/** The parameters of `/metadata`, beside those of reads. https://hl7.org/fhir/R5/http.html#capabilities */
export const CAPABILITY_PARAMETERS = {
  mode: { about: 'full, normative or terminology.' },
} as const satisfies Group;
