import type { SearchRow } from '../../contract/search.js';
import { ownMember } from '../../fhir/own-member.js';
import type { JsonObject } from '../../fhir/resource.js';
import { searchDefinitions } from '../../indexing/definitions.js';
import { placesOf, isWords, isInline, OF_ONE_TYPE, OF_THEIR_OWN } from '../../indexing/parameter-kinds.js';
import { modifiersOf, prefixesOf } from '../../search/parse/modifiers.js';
import type { HierarchyContext } from '../../search/parse/parse-hierarchy.js';
import {
  FORM_PARAMETERS,
  INCLUDE_PARAMETERS,
  LINK_PARAMETERS,
  RESULT_PARAMETERS,
  TYPE_PARAMETERS,
  type ControlParameter,
  type SearchKind,
} from '../../search/control-parameters.js';
import { codesOf } from '../../search/parse/unknown-parameter.js';
import { rootOf } from '../../search-execution/parse/search-context.js';
import type { Includable } from '../../search-execution/parse/read-include.js';
import type { Services } from '../../core/services.js';

/** Types whose values take prefixes. https://hl7.org/fhir/R5/search.html#prefix */
const PREFIXED: ReadonlySet<string> = new Set(['date', 'number', 'quantity']);

const WORDS = 'Words and "phrases" with AND, OR, NOT and parentheses; no modifiers.';

/** Describes the searches of a type for a CapabilityStatement: the parameters that work, those of all types included. */
export function describeSearch(
  type: string,
  { tables }: Pick<Services, 'tables'>,
  { forwards, backwards }: Includable,
): JsonObject {
  const definitions = searchDefinitions(tables);
  const hierarchy = { type, hierarchies: definitions.hierarchies() };
  const searchParam = describeRows(definitions.rowsOf(type), hierarchy);
  if (searchParam.length === 0) return {};
  return {
    ...listed('searchInclude', forwards.get(type)),
    ...listed('searchRevInclude', backwards.get(type)),
    searchParam,
  };
}

function listed(name: string, values: readonly string[] = []): JsonObject {
  return values.length === 0 ? {} : { [name]: [...values] };
}

/** Describes the searches over all types for a CapabilityStatement. */
export function describeCommon({ tables }: Pick<Services, 'tables'>): JsonObject {
  const definitions = searchDefinitions(tables);
  const searchParam = describeRows(definitions.rowsOf(rootOf(tables.search)), undefined).filter(
    ({ name }) => typeof name !== 'string' || !OF_ONE_TYPE.has(name),
  );
  return searchParam.length === 0 ? {} : { searchParam };
}

/** Parameters of searches that are no criteria. */
export function controlParameters(
  kind: SearchKind,
  { subset }: Pick<Services, 'subset'>,
): (readonly [string, ControlParameter])[] {
  const { _elements, ...withoutViews } = RESULT_PARAMETERS;
  const all: Readonly<Record<string, ControlParameter>> = {
    ...(subset === undefined ? withoutViews : RESULT_PARAMETERS),
    ...INCLUDE_PARAMETERS,
    ...LINK_PARAMETERS,
    ...TYPE_PARAMETERS,
    ...FORM_PARAMETERS,
  };
  return Object.entries(all).filter(([, { searches }]) => searches?.includes(kind) ?? true);
}

/**
 * Describes the parameters of `controlParameters` for a CapabilityStatement. Most of them have no definition that gives a type.
 * https://hl7.org/fhir/R5/capabilitystatement-definitions.html#CapabilityStatement.rest.resource.searchParam
 */
export function describeControls(kind: SearchKind, services: Pick<Services, 'tables' | 'subset'>): JsonObject[] {
  const { tables } = services;
  const rows = searchDefinitions(tables).rowsOf(rootOf(tables.search));
  return controlParameters(kind, services).map(([name, { about }]) => {
    const definition = rows.get(name)?.url;
    return { name, ...(definition !== undefined && { definition }), type: 'special', documentation: about };
  });
}

/** The rows that searches go by, other names for them too. */
function describeRows(rows: ReadonlyMap<string, SearchRow>, hierarchy: HierarchyContext | undefined): JsonObject[] {
  return codesOf(rows).flatMap((name) => {
    const row = rows.get(name);
    return row === undefined ? [] : [describeParameter(name, row, hierarchy)];
  });
}

function describeParameter(name: string, row: SearchRow, hierarchy: HierarchyContext | undefined): JsonObject {
  const own = ownMember(OF_THEIR_OWN, row.code);
  if (own !== undefined) return { name, definition: row.url, type: row.type, documentation: `${own}.` };
  if (isWords(row)) return { name, definition: row.url, type: row.type, documentation: WORDS };
  const modifiers = modifiersOf(row, hierarchy).map((modifier) => `:${modifier}`);
  const taken = modifiers.length === 0 ? 'No modifiers' : `Modifiers: ${modifiers.join(', ')}`;
  const prefixes = PREFIXED.has(row.type) ? ` Prefixes: ${prefixesOf(row).join(', ')}.` : '';
  const alias = name === row.code ? '' : ` Another name for ${row.code}.`;
  // Over several types nothing leads from one to others.
  const chains =
    row.type === 'reference' && !isInline(row) && hierarchy !== undefined
      ? ` Chains: ${name}.[parameter], ${name}:[type].[parameter].`
      : '';
  const places = placesOf(row);
  const form = places === undefined ? '' : ` Values: ${places.form}.`;
  return {
    name,
    definition: row.url,
    type: row.type,
    documentation: `${taken}.${form}${prefixes}${alias}${chains}`,
  };
}
