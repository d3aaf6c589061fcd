import type { InvariantRow } from '../../runtime/contract/index.js';
import type { FhirConstraint, FhirElement, StructureDefinition } from '../load/fhir-json.js';
import { byCodePoint } from './names.js';

const BEST_PRACTICE = 'http://hl7.org/fhir/StructureDefinition/elementdefinition-bestpractice';

/** Rules of every element and every extension, which the validator checks as structure. */
const STRUCTURAL = new Set(['ele-1', 'ext-1']);

/** All rules of a package, each once, with the ids that elements name them by. */
export interface Rules {
  readonly rows: readonly InvariantRow[];
  /** Ids of the rules on an element of a type; structural ones left out. */
  readonly idsOf: (element: FhirElement) => string[];
}

/**
 * Collects the rules. One key may name several rules (`inv-1` is three in R5), so a rule is identified by key and
 * expression, and its id includes the type if the key is ambiguous.
 */
export function buildRules(definitions: readonly StructureDefinition[]): Rules {
  const owners = new Map<string, { owner: string; constraint: FhirConstraint }>();
  const variants = new Map<string, Set<string>>();
  const ofProfile = profileRules(definitions);
  for (const definition of definitions) {
    if (definition.derivation === 'constraint' || definition.kind === 'logical') continue;
    for (const element of definition.snapshot.element) {
      for (const constraint of [...(element.constraint ?? []), ...ofProfile(element)]) {
        if (STRUCTURAL.has(constraint.key) || constraint.expression === undefined) continue;
        const identity = identityOf(constraint);
        if (!owners.has(identity)) owners.set(identity, { owner: definition.type, constraint });
        variants.set(constraint.key, (variants.get(constraint.key) ?? new Set()).add(identity));
      }
    }
  }
  const idOf = (constraint: FhirConstraint): string => {
    const owner = owners.get(identityOf(constraint))?.owner ?? '';
    return (variants.get(constraint.key)?.size ?? 0) > 1 ? `${constraint.key}@${owner}` : constraint.key;
  };
  return {
    rows: [...owners.values()]
      .map(({ constraint }) => ({
        id: idOf(constraint),
        severity: constraint.severity,
        expression: constraint.expression ?? '',
        human: constraint.human,
        ...(isBestPractice(constraint) ? { bestPractice: true as const } : {}),
      }))
      .sort((a, b) => byCodePoint(a.id, b.id)),
    idsOf: (element) =>
      [...(element.constraint ?? []), ...ofProfile(element)]
        .filter((constraint) => !STRUCTURAL.has(constraint.key) && constraint.expression !== undefined)
        .map(idOf),
  };
}

/** What the profiles of datatypes say that elements name for their values, such as SimpleQuantity: of the whole value, beyond its type. */
function profileRules(
  definitions: readonly StructureDefinition[],
): (element: FhirElement) => readonly FhirConstraint[] {
  const byUrl = new Map(definitions.map((definition) => [definition.url, definition]));
  return ({ type = [] }) => {
    const urls = type.flatMap(({ profile = [] }) => profile);
    return urls.flatMap((url) => {
      const profile = byUrl.get(url);
      if (profile?.kind !== 'complex-type' || profile.derivation !== 'constraint') return [];
      const base = profile.baseDefinition === undefined ? undefined : byUrl.get(profile.baseDefinition);
      const known = new Set(base?.snapshot.element[0]?.constraint?.map(identityOf));
      return profile.snapshot.element[0]?.constraint?.filter((each) => !known.has(identityOf(each))) ?? [];
    });
  };
}

function identityOf(constraint: FhirConstraint): string {
  return `${constraint.key}\n${constraint.expression ?? ''}`;
}

function isBestPractice(constraint: FhirConstraint): boolean {
  return constraint.extension?.some((ext) => ext.url === BEST_PRACTICE && ext.valueBoolean === true) ?? false;
}
