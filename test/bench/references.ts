import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { tables } from '../../generated/tables.js';
import { loadItems } from '../../runtime/cli/load/load-items.js';
import { readItems } from '../../runtime/cli/load/items.js';
import { readDocuments } from '../../runtime/cli/load/read-documents.js';
import type { Outcome } from '../../runtime/cli/load/sink.js';
import { storeSink } from '../../runtime/cli/load/store-sink.js';
import { createIntegrity, type IntegrityMode } from '../../runtime/core/references/integrity.js';
import { createServing } from '../../runtime/http/create-services.js';
import type { Resource } from '../../runtime/fhir/resource.js';
import { OwnBases } from '../../runtime/path/own-bases.js';
import { createExtractor } from '../../runtime/indexing/extract.js';
import { openSqliteStore } from '../../runtime/store/sqlite/sqlite-store.js';
import type { Store } from '../../runtime/store/store.js';
import { createValidator } from '../../runtime/validate/create-validator.js';
import { compare } from './measuring/measure.js';
import type { Bench } from './measuring/row.js';

/** Targets that the Observations refer to, each of these types so often. */
const TARGETS = 200;
/** Observations in one file. */
const COUNT = 400;
/** Observations of one round that are created each by itself. */
const FEW = 20;

/**
 * Creates of Observations with three references each, one at a time and in bulk, with `integrity: written` against the same with `none`
 * in another store.
 */
export const bench: Bench = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-bench-'));
  const [written, none] = [openSubject(folder, 'written'), openSubject(folder, 'none')];
  try {
    const targets = join(folder, 'targets.ndjson');
    writeFileSync(targets, targetLines());
    const observations = join(folder, 'observations.ndjson');
    writeFileSync(observations, Array.from({ length: COUNT }, (_, n) => JSON.stringify(observation(n))).join('\n'));
    for (const { load } of [written, none]) await load(targets);

    const single = await compare(written.create, none.create, { roundMs: 1000 });
    const bulk = await compare(
      () => written.load(observations),
      () => none.load(observations),
      { roundMs: 1500 },
    );
    const floorOf = (measured: (typeof single)['floor']) => ({ name: 'integrity: none', measured });
    return [
      { name: 'create with three references, written', unit: 'resources', measured: single.measured, floor: floorOf(single.floor), goal: { ratio: 0.85 } }, // prettier-ignore
      { name: 'kiln load of the same, written', unit: 'resources', measured: bulk.measured, floor: floorOf(bulk.floor), goal: { ratio: 0.85 } }, // prettier-ignore
    ];
  } finally {
    for (const { store } of [written, none]) await store.close();
    rmSync(folder, { recursive: true });
  }
};

interface Subject {
  readonly store: Store;
  /** Creates one Observation after the other, and returns how many. */
  create(): Promise<number>;
  /** Loads a file, and returns how many resources it created. */
  load(path: string): Promise<number>;
}

function openSubject(folder: string, mode: IntegrityMode): Subject {
  const store = openSqliteStore(`sqlite:${join(folder, `${mode}.db`)}`);
  const integrity = createIntegrity({ mode, paths: {} }, { tables, own: new OwnBases(), isShipped: () => false });
  const options = { tables, store, extract: createExtractor(tables), validate: createValidator(tables) };
  const { services } = createServing({ ...options, ...(integrity !== undefined && { integrity }) })();
  const sink = (): ReturnType<typeof storeSink> => storeSink(services);
  const fail = (place: string, error: unknown): never => {
    throw new Error(`${place}: ${String(error)}`);
  };
  return {
    store,
    async create() {
      const one = sink();
      const done = (item: { readonly place: string }, outcome: Outcome): void => {
        if (outcome !== 'created') fail(item.place, outcome);
      };
      for (let n = 0; n < FEW; n++) {
        await one.take([{ resource: observation(n), place: String(n), id: undefined, size: 500 }], done);
        await one.end();
      }
      return FEW;
    },
    async load(path) {
      const documents = readDocuments([{ path, size: 0, named: true }], () => {}, 1024 ** 3);
      const items = readItems(documents, { resourceTypes: tables.resourceTypes, bundles: 'store' });
      return (await loadItems(items, sink(), fail)).created;
    },
  };
}

function targetLines(): string {
  const types = ['Patient', 'Encounter', 'Practitioner'];
  const lines = types.flatMap((resourceType) =>
    Array.from({ length: TARGETS }, (_, n) => ({
      ...{ resourceType, id: `t${n}` },
      ...(resourceType === 'Encounter' && { status: 'completed' }),
    })),
  );
  return lines.map((line) => JSON.stringify(line)).join('\n');
}

function observation(n: number): Resource {
  const id = `t${n % TARGETS}`;
  return {
    resourceType: 'Observation',
    status: 'final',
    code: { coding: [{ system: 'http://loinc.org', code: '29463-7' }] },
    subject: { reference: `Patient/${id}` },
    encounter: { reference: `Encounter/${id}` },
    performer: [{ reference: `Practitioner/${id}` }],
    effectiveDateTime: '2026-11-01T08:00:00Z',
    valueQuantity: { value: 60 + (n % 40), unit: 'kg', system: 'http://unitsofmeasure.org', code: 'kg' },
  };
}
