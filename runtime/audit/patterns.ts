import type { JsonObject } from '../fhir/resource.js';
import { AGENTS } from './codings.js';

/** How BALP has an interaction: what is done, and what parts client and server take in it. https://profiles.ihe.net/ITI/BALP */
export interface Pattern {
  readonly action: 'C' | 'R' | 'U' | 'D' | 'E';
  readonly client: JsonObject;
  readonly server: JsonObject;
}

const { application, source, destination, custodian } = AGENTS;
const READ: Pattern = { action: 'R', client: destination, server: source };
const SEARCH: Pattern = { action: 'E', client: source, server: destination };
const CREATE: Pattern = { action: 'C', client: source, server: destination };
const UPDATE: Pattern = { action: 'U', client: source, server: destination };
const DELETE: Pattern = { action: 'D', client: application, server: custodian };

const PATTERNS: Readonly<Record<string, Pattern>> = {
  read: READ,
  vread: READ,
  'history-instance': READ,
  'history-type': READ,
  'history-system': READ,
  create: CREATE,
  update: UPDATE,
  'conditional-update': UPDATE,
  patch: UPDATE,
  'conditional-patch': UPDATE,
  delete: DELETE,
  'conditional-delete': DELETE,
  'delete-history': DELETE,
  'delete-history-version': DELETE,
};

/** That of an interaction; others, and what is not known, are recorded as searches are. */
export function patternOf(interaction: string): Pattern {
  return PATTERNS[interaction] ?? SEARCH;
}
