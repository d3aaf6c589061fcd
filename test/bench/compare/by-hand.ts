import type { Resource } from '../../../runtime/fhir/resource.js';

/** Resources of a page. */
export const PAGE = 20;

/** Totals are counted this far, as Kiln counts them unless more is asked for. */
export const COUNTED = 1000;

/**
 * A clinic's records in a database, written and searched by hand: on tables or collections made for just these requests, with nothing of
 * FHIR. It is what the database itself takes.
 */
export interface ByHand {
  fill(resources: readonly Resource[]): Promise<void>;
  create(resource: Resource): Promise<unknown>;
  /** All in one transaction. */
  transaction(resources: readonly Resource[]): Promise<unknown>;
  /** Replaces a version by the next and keeps the old one. */
  update(resource: Resource, version: number): Promise<unknown>;
  /** The same without a copy of the old version. */
  replace(resource: Resource, version: number): Promise<unknown>;
  read(type: string, id: string): Promise<unknown>;
  /** A page of what has a value in a column, with its total. */
  find(type: string, column: Column, value: string): Promise<unknown>;
  /** Observations of a code whose value in a unit is above a number. */
  quantity(code: string, unit: string, above: number): Promise<unknown>;
  /** Observations of the encounters of who has a medical record number. */
  chain(mrn: string): Promise<unknown>;
  /** A page of a code's Observations, and their Patients. */
  include(code: string): Promise<unknown>;
  /** Observations with a status, all of them. */
  count(status: string): Promise<unknown>;
  /** A page of the history of a type or of the system, with its total. */
  history(type?: string): Promise<unknown>;
  /** What the store itself writes, by hand; absent: there is no such measurement. */
  readonly sameKeys?: SameKeys;
  /** The first pages of a code's Observations, the latest first. */
  pagesByDate(code: string, pages: number): Promise<unknown>;
  /** Processor time of processes beside this one, in milliseconds. */
  cpu(): Promise<number>;
  close(): Promise<void>;
}

/**
 * Writes of the documents or rows that the store writes, which were made before, under the indexes that it has: what its schema costs any
 * program that writes it.
 */
export interface SameKeys {
  /** @param n another one each time */
  create(n: number): Promise<unknown>;
  /** So many in one transaction. */
  transaction(n: number, count: number): Promise<unknown>;
  /** Keeps a copy of a version and replaces it, as the store does. */
  update?(n: number): Promise<unknown>;
}

/** Columns of what is stored by hand, beside id, version and body. */
export const COLUMNS = ['status', 'mrn', 'patient', 'encounter', 'code', 'effective', 'unit', 'value'] as const;

/** A column that is searched by. */
export type Column = (typeof COLUMNS)[number];

/** Indexes made for what is measured. */
export const INDEXES: Readonly<Record<string, readonly (readonly (readonly [column: string, order: 1 | -1])[])[]>> = {
  Patient: [[['mrn', 1]]],
  Encounter: [
    [
      ['patient', 1],
      ['id', 1],
    ],
  ],
  Observation: [
    [
      ['status', 1],
      ['id', 1],
    ],
    [
      ['encounter', 1],
      ['id', 1],
    ],
    [
      ['patient', 1],
      ['id', 1],
    ],
    [
      ['code', 1],
      ['id', 1],
    ],
    [
      ['code', 1],
      ['effective', -1],
      ['id', 1],
    ],
    [
      ['code', 1],
      ['unit', 1],
      ['value', 1],
    ],
  ],
};

interface Searched {
  readonly subject?: { readonly reference: string };
  readonly encounter?: { readonly reference: string };
  readonly effectiveDateTime?: string;
  readonly valueQuantity?: { readonly code: string; readonly value: number };
  readonly status?: string;
  readonly identifier?: readonly { readonly value: string }[];
  readonly code?: { readonly coding: readonly { readonly code: string }[] };
}

/** Reads the columns off a resource. */
export function toColumns(resource: Resource): Partial<Record<Column, string | number>> {
  const { subject, encounter, effectiveDateTime, valueQuantity, status, identifier, code } = resource as Searched;
  const idIn = (reference: { readonly reference: string } | undefined) => reference?.reference.split('/')[1];
  const columns = {
    status,
    mrn: identifier?.[0]?.value,
    patient: idIn(subject),
    encounter: idIn(encounter),
    code: resource.resourceType === 'Observation' ? code?.coding[0]?.code : undefined,
    effective: effectiveDateTime,
    unit: valueQuantity?.code,
    value: valueQuantity?.value,
  };
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined));
}

/** Resources by their types. */
export function byType(resources: readonly Resource[]): Map<string, Resource[]> {
  const types = new Map<string, Resource[]>();
  for (const resource of resources) {
    const those = types.get(resource.resourceType) ?? [];
    those.push(resource);
    types.set(resource.resourceType, those);
  }
  return types;
}
