import type { JsonObject } from '../fhir/resource.js';
import { subsumesByHierarchy, type CodeSystemIndex } from './concepts.js';
import type { Effort } from './effort.js';

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
 * @throws FhirError `expansion-too-costly` where the codes have too many above them, or too many mean the same
 */
export async function closureGroups(
  { concepts }: ClosureTable,
  after: number,
  indexOf: (system: string) => CodeSystemIndex | undefined,
  effort: Effort,
): Promise<readonly JsonObject[]> {
  const groups: JsonObject[] = [];
  for (const [system, codes] of grouped(concepts, ({ system }) => system)) {
    const index = indexOf(system);
    const element = index === undefined ? [] : await elementsOf(codes, after, index, effort);
    if (element.length > 0) groups.push({ source: system, target: system, element });
  }
  return groups;
}

async function elementsOf(
  codes: readonly ClosureConcept[],
  after: number,
  index: CodeSystemIndex,
  effort: Effort,
): Promise<JsonObject[]> {
  // Where case does not count, several codes may mean one concept.
  const meaning = ({ code }: ClosureConcept): string => index.find(code)?.code ?? code;
  const byMeaning = grouped(codes, meaning);
  const isAbove = subsumesByHierarchy(index);
  /** Of each meaning, the codes that came before. */
  const earlier = new Map<string, ClosureConcept[]>();
  const elements: JsonObject[] = [];
  await effort.forEach(codes, (source) => {
    const own = meaning(source);
    const same = earlier.get(own) ?? [];
    const target: JsonObject[] = [];
    const add = (relationship: string, { code, since }: ClosureConcept): void => {
      effort.spend(1);
      if (Math.max(source.since, since) > after) target.push({ code, relationship });
    };
    for (const each of same) add('equivalent', each);
    for (const code of isAbove ? effort.closure('above', index, own) : []) {
      for (const each of byMeaning.get(code) ?? []) add('source-is-narrower-than-target', each);
    }
    if (target.length > 0) elements.push({ code: source.code, target });
    same.push(source);
    earlier.set(own, same);
  });
  return elements;
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
