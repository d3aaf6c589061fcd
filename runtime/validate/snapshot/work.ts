import type { ElementNode } from '../profiles/definition/element-tree.js';
import { CORE, type StructureDefinition } from '../profiles/definition/structure-definition.js';

/** The snapshot of one definition in the making, and what it is made of. */
export interface Work {
  /** Canonical of the definition. */
  readonly url: string;
  /** The snapshot in the making. */
  readonly root: ElementNode;
  readonly find: (canonical: string) => StructureDefinition | undefined;
  /** The elements of a definition, which are not to be changed; undefined: it is not known here. @throws ProfileFault */
  readonly tree: (canonical: string) => ElementNode | undefined;
  /** A copy that may be changed. @throws ProfileFault where there would be too many elements */
  readonly copy: (node: ElementNode) => ElementNode;
  /** Profiles of elements that were walked into as their types have them, because the profile is not known here. */
  readonly unknown: Set<string>;
  /** The definition is of a type: it adds elements to those of its base. */
  readonly isType: boolean;
}

/** Types of FHIRPath: those of ids, and of the values of primitives. */
const SYSTEM = 'http://hl7.org/fhirpath/';

/** Whether a type is one of FHIRPath, which says nothing about the type in FHIR. */
export function isSystemType(code: string): boolean {
  return code.startsWith(SYSTEM);
}

/** Canonical of the definition of a type. The types of logical models are named by theirs. */
export function typeUrl(code: string): string {
  if (isSystemType(code)) return `${CORE}string`;
  return code.includes('/') ? code : CORE + code;
}

/** Definitions in a row that may derive from each other. */
const MOST_ANCESTORS = 20;

/** Whether a type is this one, or specializes it. */
export function isKindOf(code: string, other: string, { find }: Pick<Work, 'find'>): boolean {
  const goal = typeUrl(other);
  let at: string | undefined = typeUrl(code);
  for (let i = 0; at !== undefined && i < MOST_ANCESTORS; i++) {
    if (at === goal) return true;
    at = find(at)?.baseDefinition;
  }
  return false;
}

/** How often an extension may be in one place, as its definition says; undefined: that is not known here. */
export function greatestNumber(profile: string, { find }: Pick<Work, 'find'>): string | undefined {
  let at = find(profile);
  for (let i = 0; at !== undefined && i < MOST_ANCESTORS; i++) {
    const { snapshot, differential, baseDefinition } = at;
    const [root] = snapshot?.element ?? differential?.element ?? [];
    if (root?.max !== undefined && !root.path.includes('.')) return root.max;
    at = baseDefinition === undefined ? undefined : find(baseDefinition);
  }
  return undefined;
}
