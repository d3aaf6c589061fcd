import fhirpath from 'fhirpath';
import r5 from 'fhirpath/fhir-context/r5';
import { OwnBases } from '../../runtime/path/own-bases.js';
import type { PathRow, SearchRow, Tables } from '../../runtime/contract/index.js';
import { inTurn, type Visit } from '../../runtime/path/visit.js';
import type { IndexEntry } from '../../runtime/indexing/entry.js';
import { createValueExtractor, type Extractor } from '../../runtime/indexing/extract.js';
import { createFindConverter } from '../../runtime/indexing/extract-converters.js';
import type { Harvest, ValueSearchType } from '../../runtime/indexing/values/converter.js';
import { utc } from '../../runtime/indexing/values/zone.js';
import { compare } from './measuring/measure.js';
import { patients } from './data/patients.js';
import type { Bench } from './measuring/row.js';

/** Patients a second, single-threaded: the best of the rounds, because what else runs on the machine only slows. */
export interface ExtractionRates {
  readonly kiln: number;
  /** The same branches evaluated by the FHIRPath library, their values converted by the same converters. */
  readonly library: number;
  /** How many times faster. */
  readonly ratio: number;
  /** Index entries of a Patient, on average; the same for both. */
  readonly entries: number;
}

/** What `npm run bench -- extraction` measures. */
export const bench: Bench = async () => {
  const { tables } = await import('../../generated/tables.js');
  const { kiln, library } = ways(tables);
  const measured = await compare(kiln, library);
  return [
    {
      name: 'extract the index entries of a Patient, words apart',
      unit: 'Patients',
      measured: measured.measured,
      floor: { name: 'the FHIRPath library', measured: measured.floor },
      goal: { rate: 80_000, ratio: 8 },
    },
  ];
};

/** Measures both ways in turns, after a round of each to warm up, so that both meet the same moods of the machine. */
export function benchExtraction(tables: Tables, rounds = 7, roundMs = 300): ExtractionRates {
  const { kiln, library, entries } = ways(tables);
  const best = { kiln: 0, library: 0 };
  for (let round = 0; round <= rounds; round++) {
    const once = { kiln: rate(kiln, roundMs), library: rate(library, roundMs) };
    if (round === 0) continue;
    best.kiln = Math.max(best.kiln, once.kiln);
    best.library = Math.max(best.library, once.library);
  }
  return { ...best, ratio: best.kiln / best.library, entries };
}

/** Both ways, each over the same 500 Patients. */
function ways(tables: Tables): { kiln: () => number; library: () => number; entries: number } {
  const pool = patients(500);
  const over = (extract: Extractor) => (): number => {
    for (const patient of pool) extract(patient);
    return pool.length;
  };
  const [kiln, library] = [createValueExtractor(tables), libraryExtractor(tables)];
  const count = (extract: Extractor): number => pool.reduce((sum, patient) => sum + extract(patient).length, 0);
  const entries = count(kiln);
  if (entries !== count(library)) throw new Error(`not the same work: ${entries} entries and ${count(library)}`);
  return { kiln: over(kiln), library: over(library), entries: entries / pool.length };
}

function rate(work: () => number, roundMs: number): number {
  const start = performance.now();
  let done = 0;
  let elapsed = 0;
  while (elapsed < roundMs) {
    done += work();
    elapsed = performance.now() - start;
  }
  return (done / elapsed) * 1000;
}

/** How one would extract with the library: each branch compiled once, internal nodes kept (its quickest mode). */
function libraryExtractor(tables: Tables): Extractor {
  const find = createFindConverter(tables);
  const convert = (row: SearchRow, path: PathRow): Visit<Harvest> => {
    const target = {
      param: row.code,
      zone: utc,
      isResourceType: (name: string) => tables.resourceTypes.includes(name),
      own: new OwnBases(),
    };
    const system = path.system === undefined ? {} : { system: path.system };
    const converters = new Set(path.types.map((type) => find(row.type as ValueSearchType, type)));
    return inTurn([...converters].flatMap((converter) => (converter ? [converter({ ...target, ...system })] : [])));
  };
  const rows = tables.search
    .filter(({ type }) => ['Resource', 'DomainResource', 'Patient'].includes(type))
    .flatMap(({ parameters }) => parameters)
    // Neither extracts a union, whose entries are those of its parts.
    .filter(({ type, unionOf }) => type !== 'special' && unionOf === undefined);
  const branches = rows.flatMap((row) =>
    row.paths.map((path) => ({
      run: fhirpath.compile(path.text, r5, { resolveInternalTypes: false }),
      visit: convert(row, path),
    })),
  );
  return (resource) => {
    const out: IndexEntry[] = [];
    const harvest: Harvest = { root: resource, resource, out };
    for (const { run, visit } of branches) {
      for (const node of run(resource, {}) as unknown[]) visit(dataOf(node), harvest);
    }
    return out;
  };
}

function dataOf(node: unknown): unknown {
  return typeof node === 'object' && node !== null && 'data' in node ? node.data : node;
}
