import type { PathStep, SearchTable, Tables } from '../../../runtime/contract/index.js';
import { compilePath } from '../../../runtime/path/compile-path.js';
import { oracle, type Oracle, type OracleValue } from './fhirpath-oracle.js';

/** One branch of a search expression; of a composite's component: after the branch of the composite. */
export interface Branch {
  /** Where it stands: `Patient.telecom`, `Observation.code-value-date.clinical-code`. */
  readonly name: string;
  readonly text: string;
  readonly steps: readonly PathStep[];
  readonly types: readonly string[];
  readonly component: boolean;
}

/** A branch, compiled by the library and by us. */
export interface Contest {
  readonly branch: Branch;
  readonly library: Oracle;
  readonly ours: (resource: object) => OracleValue[];
}

/** All branches of a table. */
export function branchesOf(table: SearchTable): readonly Branch[] {
  return table.parameters.flatMap((row) =>
    row.paths.flatMap((path) => {
      const name = `${table.type}.${row.code}`;
      const own: Branch = { name, text: path.text, steps: path.steps, types: path.types, component: false };
      const parts = (row.components ?? []).flatMap(({ code, paths }) =>
        paths.map((part): Branch => ({
          name: `${name}.${code}`,
          text: `(${path.text}).select(${part.text})`,
          steps: [...path.steps, ...part.steps],
          types: part.types,
          component: true,
        })),
      );
      return [own, ...parts];
    }),
  );
}

/** Compiles the branches of all tables, by the type whose table they are in. */
export function contests(tables: Tables): ReadonlyMap<string, readonly Contest[]> {
  return new Map(tables.search.map((table) => [table.type, branchesOf(table).map(contest)]));
}

/** Compiles one branch both ways. */
export function contest(branch: Branch): Contest {
  const visitAll = compilePath(branch);
  return {
    branch,
    library: oracle(branch.text),
    ours: (resource) => {
      const values: OracleValue[] = [];
      visitAll(resource, (value, type) => values.push({ value, type }));
      return values;
    },
  };
}

/** The type and those whose parameters it inherits. */
export function tableTypes(tables: Tables, type: string): readonly string[] {
  const table = tables.search.find((candidate) => candidate.type === type);
  if (table === undefined) return [];
  return [type, ...(table.base === undefined ? [] : tableTypes(tables, table.base))];
}

/** What both reach from a resource: how many values, and where they differ (undefined: nowhere). */
export function compare({ branch, library, ours }: Contest, resource: object): { count: number; difference?: string } {
  // A primitive with nothing but extensions is a node there, and no value.
  const theirs = library(resource).filter(({ value }) => value !== null && value !== undefined);
  const mine = ours(resource);
  const equal =
    mine.length === theirs.length &&
    mine.every(({ value, type }, i) => {
      const other = theirs[i];
      return (
        other !== undefined &&
        sameValue(value, other.value) &&
        (sameType(type, other.type) || (type === '' && branch.types.includes(other.type)))
      );
    });
  if (equal) return { count: mine.length };
  return {
    count: mine.length,
    difference: `${branch.name} (${branch.text}): ${show(mine)} instead of ${show(theirs)}`,
  };
}

/** Both read one tree, so equal objects are the same one; the library makes numbers anew. */
function sameValue(ours: unknown, theirs: unknown): boolean {
  return ours === theirs;
}

/**
 * The library calls every backbone element `BackboneElement`, a resource in another by its own type, and what its
 * model leaves out (ids of resources, `Subscription.filterBy.value`) `String`. It takes a `Consent.provision` for a
 * resource, because that has an element `resourceType`, and so knows nothing (`Object`) of what is in it.
 */
function sameType(ours: string, theirs: string): boolean {
  return ours === theirs || ours.includes('.') || ours === 'Resource' || theirs === 'String' || theirs === 'Object';
}

function show(values: readonly OracleValue[]): string {
  return JSON.stringify(values.slice(0, 3)).slice(0, 400);
}
