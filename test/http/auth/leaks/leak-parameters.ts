import { tables } from '../../../../generated/tables.js';
import type { Resource } from '../../../../runtime/fhir/resource.js';
import { openDefinitions, type Definitions } from '../../../../runtime/core/definitions/definitions.js';
import { readIndexRecord, swapIndexRecord } from '../../../../runtime/core/definitions/index-status.js';
import { createParameterContext } from '../../../../runtime/indexing/parameters/parameter-context.js';
import { readParameterSet, withParameters } from '../../../../runtime/indexing/parameters/parameter-set.js';
import type { Store } from '../../../../runtime/store/store.js';
import { parameter } from '../../../service/stored-parameters/stored-parameters-subject.js';

/** Where an expression fails: on resources that are never open, so that the other twin has none of them where they are hidden. */
const failing = (type: string, value: string): string =>
  `${type}.select(iif(id.endsWith('1') and language = 'de', (id | language).single(), ${value}))`;

/** What is open by a parameter of the store. */
export const STORED_OPEN = 'x-open=en';

/** Parameters of the store of every twin. */
export const STORED = [
  parameter('x-family', { type: 'string', expression: 'Patient.name.family' }),
  parameter('x-of', {
    base: ['Observation', 'Condition'],
    type: 'reference',
    target: ['Patient'],
    expression: 'Observation.subject | Condition.subject',
  }),
  parameter('x-other', {
    type: 'reference',
    target: ['Patient'],
    expression: failing('Patient', 'link.other'),
  }),
  parameter('x-mark', { base: ['Resource'], expression: failing('Resource', 'language') }),
  parameter('x-open', { base: ['Resource'], expression: failing('Resource', 'language') }),
  parameter('x-title', { base: ['List'], type: 'string', expression: failing('List', 'title') }),
  parameter('x-when', { base: ['Encounter'], type: 'date', expression: 'Encounter.actualPeriod' }),
  parameter('x-amount', { base: ['Observation'], type: 'quantity', expression: 'Observation.value.ofType(Quantity)' }),
];

const context = createParameterContext(tables);
const { parameters, refused } = readParameterSet(STORED as unknown as readonly Resource[], context);
if (refused.length > 0) throw new Error(refused.map(({ id, fault }) => `${id} ${fault.text}`).join());

/** The tables with them. */
export const leakTables = { ...tables, search: withParameters(tables.search, parameters) };

/** The definitions of a store whose twin is made. */
export function definitionsOn(store: Store): Promise<Definitions> {
  return openDefinitions(store, { tables, zone: 'UTC', validate: () => [], isReader: false });
}

/**
 * Has the index entries of a store count as current, as they are once they have been made anew.
 *
 * @param stale the row that shall be the exception
 */
export async function settleIndex(store: Store, { current }: Definitions, stale: string | undefined): Promise<void> {
  const { text } = await readIndexRecord(store);
  const record = current().maker.record();
  const next = stale === undefined ? record : { whole: 'some', rows: { ...record.rows, [stale]: 'old' } };
  if (stale !== undefined && !(stale in record.rows)) throw new Error(`there is no ${stale}`);
  if (!(await swapIndexRecord(store, text, next))) throw new Error('somebody else has settled it');
  if ((await current().indexStatus.notCurrent('now')).length !== (stale === undefined ? 0 : 1))
    throw new Error('not settled');
}
