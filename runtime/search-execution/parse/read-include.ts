import type { SearchRow } from '../../contract/search.js';
import { FhirError } from '../../fhir/errors.js';
import { nearest } from '../../fhir/nearest.js';
import type { SearchDefinitions } from '../../indexing/definitions.js';
import { isInline, isSearchable, namesByUrl } from '../../indexing/parameter-kinds.js';
import { some, suggest } from '../../search/parse/unknown-parameter.js';
import type { IncludeDirective } from '../../store/store.js';
import { clip, quote } from '../../fhir/quote.js';

/** Context that includes are read in. */
export interface IncludeContext {
  /** The types that are searched. */
  readonly types: readonly string[];
  readonly definitions: Pick<SearchDefinitions, 'rowsOf' | 'resourceTypes' | 'isResourceType'>;
}

/** All parameters, or all types. */
const ALL = '*';

const FORM = 'is written Type:parameter, Type:parameter:Target, Type:* or *, as in Observation:subject';

/** Whether a parameter is `_include` or `_revinclude`. */
export function isInclude(name: string): boolean {
  return /^_(?:rev)?include(?::|$)/.test(name);
}

/**
 * Checks the name of such a parameter. https://hl7.org/fhir/R5/search.html#include
 *
 * @returns whether it is followed backwards, and whether also from included resources
 * @throws FhirError `modifier-unknown`
 */
export function readIncludeName(name: string): Pick<IncludeDirective, 'isReverse' | 'iterates'> {
  const colon = name.indexOf(':');
  const [code, modifier] = colon < 0 ? [name, ''] : [name.slice(0, colon), name.slice(colon + 1)];
  const isReverse = code === '_revinclude';
  if (modifier === '' && colon < 0) return { isReverse, iterates: false };
  if (modifier === 'iterate') return { isReverse, iterates: true };
  const text = `The parameter "${code}" takes :iterate, not :${clip(modifier)}: ${code}:iterate is followed from what was included, too`;
  throw new FhirError('modifier-unknown', text);
}

/**
 * Reads `_include` or `_revinclude`, with or without `:iterate`: the references to follow.
 * https://hl7.org/fhir/R5/search.html#include
 *
 * @throws FhirError `modifier-unknown`; `parameter-unknown` for a type or parameter that does not exist;
 * `parameter-invalid` for a value of another form, or one that could find nothing
 */
export function readInclude(name: string, value: string, context: IncludeContext): readonly IncludeDirective[] {
  const kind = readIncludeName(name);
  const { types, definitions } = context;
  if (value === ALL) return kind.iterates ? everyReference(kind, context) : readAll(kind, context);
  const [source = '', param = '', target, ...more] = value.slice(0, LONGEST).split(':');
  if (param === '' || target === '' || more.length > 0) throw invalid(name, value, FORM);
  for (const type of [source, ...(target === undefined ? [] : [target])]) checkType(name, type, definitions);
  if (!kind.isReverse && !kind.iterates && !types.includes(source)) {
    const instead = `it is followed from the matches, ${typesText(types)}; from what was included ${name}:iterate is`;
    throw invalid(name, value, `begins at ${source}, so that it finds nothing: ${instead}`);
  }
  const asked = target === undefined ? undefined : [target];
  if (param === ALL) return directivesOf(kind, source, rowsWithin(kind, source, target, context), asked);
  const row = referenceRow(name, source, param, definitions);
  checkTarget(name, value, row, target);
  if (kind.isReverse && !kind.iterates && !reaches(row, target, types)) {
    const to = target ?? some(row.targets ?? []);
    const instead = `the matches are ${typesText(types)}; from what was included ${name}:iterate is followed`;
    throw invalid(name, value, `refers to ${to}, so that it finds nothing: ${instead}`);
  }
  // A reverse include looks only at types that the parameter may refer to; with `*` this would make too many directives.
  return directivesOf(kind, source, [row], asked ?? (kind.isReverse ? row.targets : undefined));
}

/** `*` with `:iterate` means thousands of references, the same ones in every search: they are kept by definitions. */
const EVERY = new WeakMap<object, Map<boolean, readonly IncludeDirective[]>>();

function everyReference(kind: Kind, context: IncludeContext): readonly IncludeDirective[] {
  const { definitions } = context;
  const known = EVERY.get(definitions) ?? new Map<boolean, readonly IncludeDirective[]>();
  EVERY.set(definitions, known);
  const every = known.get(kind.isReverse) ?? mergeIncludes(readAll(kind, context));
  known.set(kind.isReverse, every);
  return every;
}

function readAll(kind: Kind, context: IncludeContext): readonly IncludeDirective[] {
  const sources = kind.isReverse || kind.iterates ? context.definitions.resourceTypes : context.types;
  return sources.flatMap((source) =>
    directivesOf(kind, source, rowsWithin(kind, source, undefined, context), undefined),
  );
}

/** Longest value that can be valid, in characters. */
const LONGEST = 500;

/** Merges the directives that differ in their parameters only. */
export function mergeIncludes(directives: readonly IncludeDirective[]): readonly IncludeDirective[] {
  const merged = new Map<string, { readonly first: IncludeDirective; readonly params: Set<string> }>();
  for (const each of directives) {
    const { isReverse, source, targets, iterates } = each;
    const key = JSON.stringify([isReverse, source, targets, iterates]);
    const { params } = merged.get(key) ?? merged.set(key, { first: each, params: new Set() }).get(key)!;
    for (const param of each.params) params.add(param);
  }
  return [...merged.values()].map(({ first, params }) => ({ ...first, params: [...params] }));
}

type Kind = Pick<IncludeDirective, 'isReverse' | 'iterates'>;

function directivesOf(
  kind: Kind,
  source: string,
  rows: readonly SearchRow[],
  targets: readonly string[] | undefined,
): readonly IncludeDirective[] {
  return rows.map((row) => {
    // A resource of another type may have the same URL as a target.
    const named = namesByUrl(row) ? row.targets : undefined;
    const wanted = targets ?? named;
    return { ...kind, source, params: [row.code], ...(wanted !== undefined && { targets: wanted }) };
  });
}

/** The reference parameters of a type that may refer to a target; backwards, to the types that are followed. */
function rowsWithin(
  { isReverse, iterates }: Kind,
  source: string,
  target: string | undefined,
  { types, definitions }: IncludeContext,
): readonly SearchRow[] {
  const wanted = isReverse && !iterates ? types : definitions.resourceTypes;
  return references(source, definitions).filter((row) => reaches(row, target, wanted));
}

function reaches({ targets }: SearchRow, target: string | undefined, types: readonly string[]): boolean {
  const wanted = target === undefined ? types : types.filter((type) => type === target);
  return wanted.some((type) => targets?.includes(type) !== false);
}

function references(type: string, { rowsOf }: IncludeContext['definitions']): readonly SearchRow[] {
  return [...rowsOf(type).values()].filter(isFollowed);
}

function isFollowed(row: SearchRow): boolean {
  return row.type === 'reference' && isSearchable(row) && !isInline(row);
}

/** Reference parameters of a type that can be followed, in code-point order, each once. */
function includableCodes(type: string, definitions: IncludeContext['definitions']): readonly string[] {
  return [...new Set(references(type, definitions).map(({ code }) => code))].sort();
}

/** The values of `_include` by the type that is searched, and those of `_revinclude` by the type of the target. */
export interface Includable {
  readonly forwards: ReadonlyMap<string, readonly string[]>;
  readonly backwards: ReadonlyMap<string, readonly string[]>;
}

/** The values of both parameters in code-point order, `*` first. Types without any are left out. */
export function includableOf(definitions: IncludeContext['definitions']): Includable {
  const { resourceTypes } = definitions;
  const forwards = new Map<string, string[]>();
  const backwards = new Map<string, string[]>();
  const add = (map: Map<string, string[]>, type: string, value: string): void => {
    const values = map.get(type);
    if (values === undefined) map.set(type, [ALL, value]);
    else values.push(value);
  };
  for (const source of resourceTypes) {
    const rows = new Map(references(source, definitions).map((row) => [row.code, row]));
    for (const code of [...rows.keys()].sort()) {
      // One string object for all types that have it.
      const value = `${source}:${code}`;
      add(forwards, source, value);
      for (const target of rows.get(code)?.targets ?? resourceTypes) add(backwards, target, value);
    }
  }
  return { forwards, backwards };
}

function whyNot(row: SearchRow): string {
  if (row.type !== 'reference') return `it is of type ${row.type}`;
  return isInline(row) ? 'it leads to a part of the resource itself' : 'that is not supported yet';
}

function referenceRow(
  name: string,
  source: string,
  param: string,
  definitions: IncludeContext['definitions'],
): SearchRow {
  const row = definitions.rowsOf(source).get(param);
  if (row !== undefined && isFollowed(row)) return row;
  const codes = includableCodes(source, definitions);
  const what =
    row === undefined
      ? `${source} has no parameter ${quote(param)}`
      : `${quote(`${source}:${param}`)} cannot be followed: ${whyNot(row)}`;
  const hint = codes.length === 0 ? `${source} has no references` : suggest(param, codes);
  throw new FhirError('parameter-unknown', `The parameter ${quote(name)}: ${what}; ${hint}`);
}

function checkType(name: string, type: string, { isResourceType, resourceTypes }: IncludeContext['definitions']): void {
  if (isResourceType(type)) return;
  const near = type.length > 64 ? undefined : nearest(type, resourceTypes);
  const hint = near === undefined ? '' : `; did you mean ${near}?`;
  throw new FhirError('parameter-unknown', `The parameter ${quote(name)}: unknown resource type ${quote(type)}${hint}`);
}

function checkTarget(name: string, value: string, { targets }: SearchRow, target: string | undefined): void {
  if (target === undefined || targets?.includes(target) !== false) return;
  throw invalid(name, value, `never refers to ${target}, but to ${some(targets)}`);
}

function typesText(types: readonly string[]): string {
  return some(types, 5);
}

function invalid(name: string, value: string, what: string): FhirError {
  return new FhirError('parameter-invalid', `The parameter ${quote(name)} ${what}; it has ${quote(value)}`);
}
