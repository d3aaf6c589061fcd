import type { JsonObject } from '../fhir/resource.js';
import { CATEGORIES, ENTITIES, IMPORT_CODE, interactionCode, transactionCode } from './codings.js';

/** How the profiles of a transaction of IHE have its event. */
interface TransactionRow {
  readonly name: string;
  /** The interaction that it is recorded as. */
  readonly interaction: string;
  /** Code of the event. Absent: that it is a RESTful operation. */
  readonly code?: JsonObject;
  /** Role of what it is about. */
  readonly role: keyof typeof ENTITIES;
}

/** IHE MHD 5.1.0 and PDQm 3.2.0, profiles of AuditEvent. */
const TRANSACTIONS: Readonly<Record<string, TransactionRow>> = {
  'ITI-65': { name: 'Provide Document Bundle', interaction: 'create', code: IMPORT_CODE, role: 'job' },
  'ITI-66': { name: 'Find Document Lists', interaction: 'search-type', role: 'resource' },
  'ITI-67': { name: 'Find Document References', interaction: 'search-type', role: 'resource' },
  'ITI-68': { name: 'Retrieve Document', interaction: 'read', role: 'report' },
  'ITI-78': { name: 'Patient Demographics Query', interaction: 'search-type', role: 'resource' },
  'ITI-105': { name: 'Simplified Publish', interaction: 'create', role: 'resource' },
  'ITI-106': { name: 'Generate Metadata', interaction: 'create', role: 'resource' },
  'ITI-119': { name: 'Patient Demographics Match', interaction: 'search-type', role: 'resource' },
};

/** Elements of an event that depend on the transaction. */
interface TransactionShape {
  readonly interaction: string;
  readonly category: readonly JsonObject[];
  readonly code: JsonObject;
}

/** Returns the shape of the event of a transaction; undefined: it has none of its own. */
export function transactionShape(transaction: string | undefined): TransactionShape | undefined {
  const row = transaction === undefined ? undefined : TRANSACTIONS[transaction];
  if (transaction === undefined || row === undefined) return undefined;
  const { name, interaction, code } = row;
  const own = transactionCode(transaction, name);
  // The profiles have the interaction as a category, but for what is imported.
  const category = code === undefined ? [interactionCode(interaction), own] : [own];
  return { interaction, category, code: code ?? CATEGORIES.rest };
}

/** Returns the role of what an event is about. */
export function roleOf(transaction: string | undefined): JsonObject {
  return ENTITIES[(transaction === undefined ? undefined : TRANSACTIONS[transaction]?.role) ?? 'resource'];
}
