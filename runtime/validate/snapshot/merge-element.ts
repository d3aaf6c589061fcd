import type { DefinedConstraint, DefinedElement } from '../profiles/definition/structure-definition.js';

/** Texts that a differential may add to: `...` at the beginning means what was there, and this. */
const TEXTS = ['definition', 'comment', 'requirements', 'meaningWhenMissing'];

/** Lists that grow: what is new is added to what was there. */
const LISTS = ['alias', 'condition', 'mapping', 'example', 'code'];

/**
 * An element as its base has it, with what a differential says about it.
 *
 * @param source canonical of the definition that says it
 */
export function mergeElement(base: DefinedElement | undefined, said: DefinedElement, source: string): DefinedElement {
  if (base === undefined) return said;
  const merged: Record<string, unknown> = { ...base, ...said };
  // One fixed value, pattern or limit replaces another, of whatever type.
  for (const stem of ['fixed', 'pattern', 'minValue', 'maxValue']) {
    const own = Object.keys(said).some((key) => isValue(key, stem));
    if (own) for (const key of Object.keys(base)) if (isValue(key, stem) && !(key in said)) delete merged[key];
  }
  for (const name of TEXTS) {
    const text = said[name];
    if (typeof text === 'string' && text.startsWith('...'))
      merged[name] = `${String(base[name] ?? '')}\n${text.slice(3)}`;
  }
  for (const name of LISTS) merged[name] = joined(base[name], said[name]);
  merged['constraint'] = constraintsOf(base.constraint, said.constraint, source);
  merged['binding'] = bindingOf(base.binding, said.binding);
  // That an element is like another one says its type; that is often repeated.
  if (base.contentReference !== undefined) merged['type'] = base.type;
  merged['base'] = base.base ?? { path: base.path, min: base.min ?? 0, max: base.max ?? '*' };
  return Object.fromEntries(
    Object.entries(merged).filter(([, value]) => value !== undefined),
  ) as unknown as DefinedElement;
}

type Binding = DefinedElement['binding'];

/** A binding may change only the strength, or only the value set. */
function bindingOf(base: Binding, said: Binding): Binding {
  if (base === undefined || said === undefined) return said ?? base;
  return said.valueSet === undefined ? { ...base, ...said } : { ...said, strength: said.strength ?? base.strength };
}

function isValue(key: string, stem: string): boolean {
  return key.startsWith(stem) && /^[A-Z]/.test(key.slice(stem.length));
}

function joined(base: unknown, said: unknown): unknown {
  if (!Array.isArray(base) || !Array.isArray(said)) return said ?? base;
  const texts = new Set(base.map((each) => JSON.stringify(each)));
  return [...(base as unknown[]), ...(said as unknown[]).filter((each) => !texts.has(JSON.stringify(each)))];
}

/** A constraint of the same key replaces the one of the base. */
function constraintsOf(
  base: readonly DefinedConstraint[] = [],
  said: readonly DefinedConstraint[] = [],
  source: string,
): readonly DefinedConstraint[] | undefined {
  const keys = new Set(said.map(({ key }) => key));
  const all = [
    ...base.filter(({ key }) => !keys.has(key)),
    ...said.map((each) => (each.source === undefined ? { ...each, source } : each)),
  ];
  return all.length === 0 ? undefined : all;
}
