import type { Element, Structure } from '../model.js';
import { choiceName } from '../names.js';

/** Looks elements and types up by name: what the expression compiler knows of FHIR. */
export interface TypeIndex {
  readonly isType: (name: string) => boolean;
  /** Whether it is a resource type that resources can be of. */
  readonly isConcreteResource: (name: string) => boolean;
  readonly isAbstract: (name: string) => boolean;
  /** The type and those that it specialises. */
  readonly ancestors: (name: string) => readonly string[];
  readonly element: (type: string, name: string) => Element | undefined;
}

/** Indexes structures and primitives. `parents` holds the base of each type, also of primitives. */
export function indexTypes(structures: readonly Structure[], parents: ReadonlyMap<string, string>): TypeIndex {
  const byName = new Map(structures.map((structure) => [structure.name, structure]));
  const elements = new Map(
    structures.map((structure) => [
      structure.name,
      new Map(structure.elements.map((element) => [element.name, element])),
    ]),
  );
  const ancestors = (name: string): readonly string[] => {
    const result = [name];
    for (let base = parents.get(name); base !== undefined; base = parents.get(base)) result.push(base);
    return result;
  };
  return {
    isType: (name) => byName.has(name) || parents.has(name),
    isConcreteResource: (name) => byName.get(name)?.kind === 'resource' && byName.get(name)?.abstract !== true,
    isAbstract: (name) => byName.get(name)?.abstract === true || name === 'PrimitiveType',
    ancestors,
    element: (type, name) => elements.get(type)?.get(name),
  };
}

/** JSON name and type of each form that an element takes. */
export function formsOf(element: Element): (readonly [string, string])[] {
  return element.types.map((type) => [element.choice === true ? choiceName(element.name, type) : element.name, type]);
}
