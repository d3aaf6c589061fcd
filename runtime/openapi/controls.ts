import type { Services } from '../core/services.js';
import { viewParameters } from '../core/view.js';
import type { JsonObject } from '../fhir/resource.js';
import { controlParameters } from '../interactions/capabilities/describe-search.js';
import { historyParameters } from '../interactions/history/history-query.js';
import {
  CAPABILITY_PARAMETERS,
  FORM,
  FORM_PARAMETERS,
  HISTORY_PARAMETERS,
  LINK_PARAMETERS,
  VIEW_PARAMETERS,
  type ControlParameter,
  type SearchKind,
} from '../search/control-parameters.js';

/**
 * Group of requests that take the same parameters besides criteria: every request, kinds of searches, reads, histories,
 * `/metadata`.
 */
export type ControlGroup = 'form' | SearchKind | 'view' | 'history' | 'capabilities';

/** Names of components, by what takes the parameters. */
export type ControlComponents = Readonly<Record<ControlGroup, readonly string[]>>;

type Listed = readonly (readonly [string, ControlParameter])[];

const SCHEMAS: Readonly<Record<NonNullable<ControlParameter['values']> | 'one', JsonObject>> = {
  one: { type: 'string' },
  integer: { type: 'integer', minimum: 0 },
  boolean: { type: 'boolean' },
  several: { type: 'array', items: { type: 'string' } },
};

/** A parameter of the query. */
export function queryParameter(name: string, description: string, schema: JsonObject, isRequired = false): JsonObject {
  return { name, in: 'query', description, ...(isRequired && { required: true }), schema };
}

/** The name of a parameter. Components are named after who takes them, a dot, and it. */
export function parameterName({ name, $ref: reference }: JsonObject): string {
  return typeof reference === 'string' ? reference.replace(/^.*\/[^.]*\./, '') : String(name);
}

/** The parameters that are no criteria, as components of a document. */
export function defineControls(services: Pick<Services, 'subset'>): JsonObject {
  return Object.fromEntries(
    Object.entries(groupsOf(services)).flatMap(([group, listed]) =>
      listed.map(([name, { about, values }]) => [
        `${group}.${name}`,
        queryParameter(name, about, SCHEMAS[values ?? 'one']),
      ]),
    ),
  );
}

/** Where they are, in the order of the tables. */
export function controlComponents(services: Pick<Services, 'subset'>): ControlComponents {
  const named = Object.entries(groupsOf(services)).map(([group, listed]) => [
    group,
    listed.map(([name]) => `${group}.${name}`),
  ]);
  return Object.fromEntries(named) as ControlComponents;
}

function groupsOf(services: Pick<Services, 'subset'>): Readonly<Record<ControlGroup, Listed>> {
  // The name of a link has its parts in it, so there is none to list.
  const ofSearch = (kind: SearchKind): Listed =>
    controlParameters(kind, services).filter(([name]) => !FORM.has(name) && !Object.hasOwn(LINK_PARAMETERS, name));
  return {
    form: Object.entries(FORM_PARAMETERS),
    type: ofSearch('type'),
    system: ofSearch('system'),
    compartment: ofSearch('compartment'),
    view: some(VIEW_PARAMETERS, viewParameters(services)),
    history: some(HISTORY_PARAMETERS, historyParameters(services)),
    capabilities: Object.entries(CAPABILITY_PARAMETERS),
  };
}

function some(table: Readonly<Record<string, ControlParameter>>, names: readonly string[]): Listed {
  return Object.entries(table).filter(([name]) => names.includes(name));
}
