import type { SearchRow } from '../../contract/search.js';
import { isId } from '../../fhir/id.js';
import { ValueError, type ValueContext, splitAt, unescape } from './parse-value.js';
import type { Hierarchy } from '../query/query.js';

/** Hierarchies that a criterion on a parameter may follow. */
export interface HierarchyContext {
  /** The type that is searched. */
  readonly type: string;
  /** By type, codes of its parameters that lead up its hierarchy. */
  readonly hierarchies: ReadonlyMap<string, readonly string[]>;
}

/** Modifiers of references that follow hierarchies. https://hl7.org/fhir/R5/search.html#modifierabove */
export const HIERARCHY_MODIFIERS: readonly Hierarchy['direction'][] = ['above', 'below'];

/** Whether a modifier is one of them. */
export function isDirection(modifier: string): modifier is Hierarchy['direction'] {
  return HIERARCHY_MODIFIERS.some((each) => each === modifier);
}

/** Whether a parameter can refer into a hierarchy. */
export function takesHierarchies(
  { code, type, targets }: Pick<SearchRow, 'code' | 'type' | 'targets'>,
  context: HierarchyContext,
): boolean {
  if (type !== 'reference') return false;
  return (targets ?? [...context.hierarchies.keys()]).some((target) => leading(target, code, context).length === 1);
}

/** The parameters that may lead up from resources of a type: the one that is asked itself, or those of the type. */
function leading(target: string, code: string, { type, hierarchies }: HierarchyContext): readonly string[] {
  const codes = hierarchies.get(target) ?? [];
  return target === type && codes.includes(code) ? [code] : codes;
}

/**
 * Reads one value of `:above` or `:below` on a reference: `Type/id`, the same as a URL of this server, or an id alone
 * where the parameter has one target.
 *
 * @throws ValueError for what is no such value, or whose type has no hierarchy, or several
 */
export function parseHierarchy(
  text: string,
  direction: Hierarchy['direction'],
  row: SearchRow,
  context: HierarchyContext & Pick<ValueContext, 'isResourceType' | 'own'>,
): Hierarchy {
  const { type, id } = readRoot(text, row, context);
  const [by, ...others] = leading(type, row.code, context);
  if (by === undefined) {
    const types = [...context.hierarchies.keys()].sort().join(', ');
    throw new ValueError(`refers to ${type}, which has no hierarchy of references; those of ${types} are followed`);
  }
  if (others.length > 0) {
    const codes = [by, ...others].join(', ');
    throw new ValueError(
      `refers to ${type}, which has several hierarchies: only ${codes} of ${type} itself take :${direction}`,
    );
  }
  return { direction, type, by, ids: [id] };
}

function readRoot(
  text: string,
  { targets }: SearchRow,
  { isResourceType, own }: Pick<ValueContext, 'isResourceType' | 'own'>,
): { readonly type: string; readonly id: string } {
  const [named = '', ...more] = splitAt(text, '|').map(unescape);
  if (more.length === 0 && isId(named)) {
    const [only, second] = targets ?? [];
    if (only !== undefined && second === undefined) return { type: only, id: named };
    throw new ValueError('needs the type before the id, as in Type/id');
  }
  const read = more.length === 0 ? own.readLocal(named) : undefined;
  if (read === undefined || read.version !== undefined || !isResourceType(read.type)) {
    throw new ValueError('is Type/id, a resource of this server without its version');
  }
  const { type, id } = read;
  if (targets?.includes(type) === false) {
    throw new ValueError(`never refers to ${type}, but to ${targets.join(', ')}`);
  }
  return { type, id };
}

/** Joins hierarchies of one type, parameter and direction, so that they are followed together. */
export function joinHierarchies(hierarchies: readonly Hierarchy[]): Hierarchy[] {
  const joined = new Map<string, { readonly hierarchy: Hierarchy; readonly ids: Set<string> }>();
  for (const hierarchy of hierarchies) {
    const key = `${hierarchy.direction} ${hierarchy.type} ${hierarchy.by}`;
    const { ids } = joined.get(key) ?? { ids: new Set<string>() };
    for (const id of hierarchy.ids) ids.add(id);
    joined.set(key, { hierarchy, ids });
  }
  return [...joined.values()].map(({ hierarchy, ids }) => ({ ...hierarchy, ids: [...ids] }));
}
