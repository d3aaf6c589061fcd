import type { OwnBases } from '../path/own-bases.js';
import type { IndexEntry } from './entry.js';

/**
 * Names of the index entries of a Binary's `securityContext`. The parameter is a separate one, because the context
 * decides who may see the Binary and the specification has no search parameter for it.
 * https://hl7.org/fhir/R5/binary.html#security
 */
export const CONTEXT = { type: 'Binary', element: 'securityContext', param: '.securityContext' } as const;

/**
 * That there is a context, wherever it leads (a token), and the resource that it names, of whatever version (a reference).
 */
export function contextEntries(resource: Readonly<Record<string, unknown>>, own: OwnBases): IndexEntry[] {
  const { type, element, param } = CONTEXT;
  const context = resource['resourceType'] === type ? resource[element] : undefined;
  if (context === undefined) return [];
  const isThere: IndexEntry = { kind: 'token', param, code: 'present' };
  const text: unknown = typeof context === 'object' && context !== null ? Reflect.get(context, 'reference') : undefined;
  const named = typeof text === 'string' ? own.read(text) : undefined;
  if (named === undefined) return [isThere];
  const { version: _any, ...place } = named;
  return [isThere, { kind: 'reference', param, ...place }];
}
