import { tables } from '../../../generated/tables.js';
import type { Interaction } from '../../../runtime/contract/rest.js';
import { isWired } from '../../../runtime/interactions/registry.js';
import { OPERATIONS, SWITCHES } from '../../../runtime/operations/registry.js';
import { replacementParameters } from '../operations/replacement-support.js';
import { FORM_TYPE } from '../search-server.js';
import { CATEGORY, observed } from './support.js';

/**
 * What exists when a request comes, and where: an Observation, its id and an identifier that it alone has, and a Device of the same
 * id that it refers to.
 */
export interface Target {
  readonly id: string;
  readonly value: string;
  readonly category: 'laboratory' | 'vital-signs';
}

/** A request to Observations, and what it needs. */
export interface MatrixRow {
  readonly interaction: Interaction;
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** By type, the letters that are needed; `*`: that any type has. */
  readonly needs: Readonly<Record<string, string>>;
  /** Status for who has just that. */
  readonly done: number;
  /**
   * Status for who has it within the laboratory where the target does not lie there; a list: what it finds, which is
   * nothing then.
   */
  readonly outside: number | 'list';
  /** What is given always, beside what is needed. */
  readonly also?: string;
  /** Stands in no Bundle. */
  readonly isAlone?: true;
}

const PATCH = { 'content-type': 'application/json-patch+json' };
const LABEL = { resourceType: 'Parameters', parameter: [{ name: 'meta', valueMeta: { tag: [{ code: 'matrix' }] } }] };
const HFQL = {
  resourceType: 'Parameters',
  parameter: [
    { name: 'action', valueCode: 'search' },
    { name: 'query', valueString: 'select id, status from Observation' },
  ],
};
const NOTE = [{ op: 'add', path: '/note', value: [{ text: 'more' }] }];

/** All interactions that there are, in all their forms. */
export function matrixFor({ id, value, category }: Target): readonly MatrixRow[] {
  const at = `/Observation/${id}`;
  const by = `/Observation?identifier=${value}`;
  const same = observed(category, { id, identifier: [{ value }], note: [{ text: 'new' }] });
  // What lies outside is refused wherever it is to go.
  const inside = observed('laboratory', { id, identifier: [{ value }], note: [{ text: 'new' }] });
  const anew = observed(category, { identifier: [{ value: `${value}-new` }] });
  const by2 = `identifier=${value}-new`;
  const O = (letters: string) => ({ Observation: letters });
  const list = { done: 200, outside: 'list' } as const;
  const row = (
    interaction: Interaction,
    name: string,
    method: string,
    path: string,
    more: Omit<MatrixRow, 'interaction' | 'name' | 'method' | 'path'>,
  ): MatrixRow => ({ interaction, name, method, path, ...more });
  return [
    row('read', 'read', 'GET', at, { needs: O('r'), done: 200, outside: 404 }),
    row('read', 'HEAD', 'HEAD', at, { needs: O('r'), done: 200, outside: 404, isAlone: true }),
    row('vread', 'vread', 'GET', `${at}/_history/1`, { needs: O('r'), done: 200, outside: 404 }),
    row('history-instance', 'history', 'GET', `${at}/_history`, { needs: O('r'), done: 200, outside: 404 }),
    row('history-type', 'history of a type', 'GET', '/Observation/_history?_count=1000', { needs: O('s'), ...list }),
    row('history-system', 'history of all', 'GET', '/_history?_count=1000', { needs: { '*': 's' }, ...list }),
    row('search-type', 'search', 'GET', by, { needs: O('s'), ...list }),
    row('search-type', 'count', 'GET', `${by}&_summary=count`, { needs: O('s'), ...list }),
    row('search-type', 'posted search', 'POST', '/Observation/_search', { body: `identifier=${value}`, headers: FORM_TYPE, needs: O('s'), ...list, isAlone: true }), // prettier-ignore
    row('search-type', 'chain', 'GET', `${by}&subject:Patient._id=p`, { needs: { ...O('s'), Patient: 's' }, done: 200, outside: 'list' }), // prettier-ignore
    row('search-type', 'reverse chain', 'GET', `/Patient?_has:Observation:patient:identifier=${value}`, { needs: { Patient: 's', ...O('s') }, ...list }), // prettier-ignore
    row('search-system', 'search of types', 'GET', `/?_type=Observation&_id=${id}`, { needs: O('s'), ...list }),
    row('search-system', 'search of all', 'GET', `/?_id=${id}`, { needs: { '*': 's' }, ...list }),
    row('search-system', 'posted search of all', 'POST', '/_search', { body: `_id=${id}`, headers: FORM_TYPE, needs: { '*': 's' }, ...list, isAlone: true }), // prettier-ignore
    row('search-compartment', 'compartment', 'GET', `/Patient/p/Observation?identifier=${value}`, { needs: { ...O('s'), Patient: 'r' }, ...list }), // prettier-ignore
    row('operation', '$meta', 'GET', `${at}/$meta`, { needs: O('r'), done: 200, outside: 404 }),
    row('operation', 'posted $meta', 'POST', `${at}/$meta`, { needs: O('r'), done: 200, outside: 404 }),
    row('operation', '$meta of a version', 'GET', `${at}/_history/1/$meta`, { needs: O('r'), done: 200, outside: 404 }),
    row('operation', '$meta-add', 'POST', `${at}/$meta-add`, {
      body: LABEL,
      needs: O('u'),
      done: 200,
      outside: 404,
      isAlone: true,
    }),
    row('operation', '$meta-delete', 'POST', `${at}/$meta-delete`, {
      body: LABEL,
      needs: O('u'),
      done: 200,
      outside: 404,
      isAlone: true,
    }),
    row('operation', '$meta of a type', 'GET', '/Observation/$meta', { needs: O('s'), done: 200, outside: 200 }),
    row('operation', '$validate of an instance', 'GET', `${at}/$validate`, { needs: O('r'), done: 200, outside: 404 }),
    row('operation', '$diff', 'GET', `${at}/$diff`, { needs: O('r'), done: 200, outside: 404 }),
    row('operation', '$diff of a version', 'GET', `${at}/_history/1/$diff`, { needs: O('r'), done: 200, outside: 404 }),
    row('operation', '$diff of two', 'GET', `/$diff?from=Observation/${id}&to=Observation/${id}`, {
      needs: O('r'),
      done: 200,
      outside: 404,
    }),
    row('operation', '$meta of all', 'GET', '/$meta', { needs: { '*': 's' }, done: 200, outside: 200 }),
    row('operation', '$get-resource-counts', 'GET', '/$get-resource-counts', { needs: { '*': 's' }, done: 200, outside: 200 }), // prettier-ignore
    row('operation', '$changes', 'GET', '/$changes', { needs: { '*': 'rs' }, done: 200, outside: 200 }),
    row('operation', '$changes of a type', 'GET', '/Observation/$changes', { needs: O('rs'), done: 200, outside: 200 }),
    row('operation', '$hfql-execute', 'POST', '/$hfql-execute', { body: HFQL, needs: O('s'), done: 200, outside: 200 }),
    row('operation', '$graphql, a search', 'POST', '/$graphql', { body: graphql(`{ ObservationList(identifier: "${value}") { id status } }`), needs: O('s'), done: 200, outside: 200 }), // prettier-ignore
    row('operation', '$graphql, a resource', 'POST', '/$graphql', { body: graphql(`{ Observation(id: "${id}") { id status } }`), needs: O('r'), done: 200, outside: 200 }), // prettier-ignore
    row('operation', '$graphql of an instance', 'POST', `${at}/$graphql`, { body: graphql('{ id status }'), needs: O('r'), done: 200, outside: 404 }), // prettier-ignore
    row('operation', '$svc.fhir.replace-references', 'POST', '/$svc.fhir.replace-references', {
      body: replacementParameters(`Device/${id}`, 'Device/d'),
      needs: O('u'),
      also: '__admin.replace-references system/Device.r',
      done: 200,
      // That something refers is no secret to who may administer; what it is stays one.
      outside: 403,
      isAlone: true,
    }),
    row('create', 'create', 'POST', '/Observation', { body: anew, needs: O('c'), done: 201, outside: 403 }),
    row('create', 'conditional create', 'POST', '/Observation', { body: anew, headers: { 'if-none-exist': by2 }, needs: O('cs'), done: 201, outside: 403 }), // prettier-ignore
    row('update', 'update', 'PUT', at, { body: inside, needs: O('u'), done: 200, outside: 404 }),
    row('update', 'update that creates', 'PUT', `${at}-new`, { body: { ...same, id: `${id}-new` }, needs: O('u'), done: 201, outside: 403 }), // prettier-ignore
    row('conditional-update', 'conditional update', 'PUT', by, { body: observed(category, { identifier: [{ value }], note: [{ text: 'new' }] }), needs: O('us'), done: 200, outside: 403 }), // prettier-ignore
    row('patch', 'patch', 'PATCH', at, { body: NOTE, headers: PATCH, needs: O('u'), done: 200, outside: 404, isAlone: true }), // prettier-ignore
    row('conditional-patch', 'conditional patch', 'PATCH', by, { body: NOTE, headers: PATCH, needs: O('us'), done: 200, outside: 404, isAlone: true }), // prettier-ignore
    row('delete', 'delete', 'DELETE', at, { needs: O('d'), done: 200, outside: 404 }),
    row('conditional-delete', 'conditional delete', 'DELETE', by, { needs: O('ds'), done: 200, outside: 200 }),
    row('bundle', 'conditional reference', 'POST', '/', { body: referring(value), needs: { ...O('s'), Basic: 'c' }, done: 200, outside: 404, isAlone: true }), // prettier-ignore
  ];
}

function graphql(query: string): object {
  return { resourceType: 'Parameters', parameter: [{ name: 'query', valueString: query }] };
}

/** A transaction with something that refers to an Observation by a search. */
function referring(value: string): object {
  const resource = {
    resourceType: 'Basic',
    code: { coding: [{ system: CATEGORY, code: 'x' }] },
    subject: { reference: `Observation?identifier=${value}` },
  };
  return {
    resourceType: 'Bundle',
    type: 'transaction',
    entry: [{ resource, request: { method: 'POST', url: 'Basic' } }],
  };
}

/** Interactions of the tables that are wired by default; `capabilities` is open. */
export function interactionsToCover(): readonly Interaction[] {
  const wired = tables.routes.filter(
    (route) => isWired(route, OPERATIONS) && SWITCHES.get(route.interaction) !== 'admin.expunge',
  );
  return [...new Set(wired.map(({ interaction }) => interaction))].filter((each) => each !== 'capabilities').sort();
}
