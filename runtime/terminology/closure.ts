import type { JsonObject } from '../fhir/resource.js';
import { subsumesByHierarchy, type CodeSystemIndex } from './concepts.js';
import { Effort } from './effort.js';

/** A code that a client has put into a closure table. */
export interface ClosureConcept {
  readonly system: string;
  readonly code: string;
  /** The version of the table that came of it. */
  readonly since: number;
}

/**
 * A closure table: the codes of a client. How they relate follows from their code systems.
 * https://hl7.org/fhir/R5/terminology-service.html#closure
 */
export interface ClosureTable {
  readonly version: number;
  readonly concepts: readonly ClosureConcept[];
  /** By URL, what each code system was when its first code came. */
  readonly systems: Readonly<Record<string, string>>;
}

/** A table without codes. */
export const EMPTY_CLOSURE: ClosureTable = { version: 0, concepts: [], systems: {} };

/** The table with further codes. Those that it has are left out; its version grows in any case. */
export function withConcepts(
  { version, concepts, systems }: ClosureTable,
  added: readonly { readonly system: string; readonly code: string }[],
  states: Readonly<Record<string, string>>,
): ClosureTable {
  const since = version + 1;
  const all = new Map(concepts.map((each) => [keyOf(each), each]));
  for (const { system, code } of added) {
    const key = keyOf({ system, code });
    if (!all.has(key)) all.set(key, { system, code, since });
  }
  return { version: since, concepts: [...all.values()], systems: { ...states, ...systems } };
}

/**
 * The groups of a ConceptMap with how codes of the table relate: what came after a version. A code that another one subsumes is mapped to
 * it; of codes with the same meaning the later one is mapped to the earlier.
 *
 * @param indexOf the code system of a URL; undefined: its codes have no hierarchy
 * @throws FhirError `expansion-too-costly` where the codes have too many above them
 */
export function closureGroups(
  { concepts }: ClosureTable,
  after: number,
  indexOf: (system: string) => CodeSystemIndex | undefined,
): readonly JsonObject[] {
  const effort = new Effort();
  return [...grouped(concepts, ({ system }) => system)].flatMap(([system, codes]) => {
    const index = indexOf(system);
    const element = index === undefined ? [] : elementsOf(codes, after, index, effort);
    return element.length === 0 ? [] : [{ source: system, target: system, element }];
  });
}

function elementsOf(
  codes: readonly ClosureConcept[],
  after: number,
  index: CodeSystemIndex,
  effort: Effort,
): JsonObject[] {
  // Where case does not count, several codes may mean one concept.
  const meaning = ({ code }: ClosureConcept): string => index.find(code)?.code ?? code;
  const byMeaning = grouped(codes, meaning);
  return codes.flatMap((source) => {
    const isNew = (target: ClosureConcept): boolean => Math.max(source.since, target.since) > after;
    const own = meaning(source);
    const same = (byMeaning.get(own) ?? []).slice(0, byMeaning.get(own)?.indexOf(source));
    const above = subsumesByHierarchy(index) ? [...effort.closure('above', index, own)].flatMap((code) => byMeaning.get(code) ?? []) : []; // prettier-ignore
    const target = [
      ...same.filter(isNew).map(({ code }): JsonObject => ({ code, relationship: 'equivalent' })),
      ...above.filter(isNew).map(({ code }): JsonObject => ({ code, relationship: 'source-is-narrower-than-target' })),
    ];
    return target.length === 0 ? [] : [{ code: source.code, target }];
  });
}

function keyOf({ system, code }: { readonly system: string; readonly code: string }): string {
  return `${system}|${code}`;
}

function grouped<T>(all: readonly T[], keyOf: (each: T) => string): ReadonlyMap<string, readonly T[]> {
  const found = new Map<string, T[]>();
  for (const each of all) {
    const key = keyOf(each);
    const group = found.get(key);
    if (group === undefined) found.set(key, [each]);
    else group.push(each);
  }
  return found;
}
