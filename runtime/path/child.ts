import { isObject, type Focus, type Visit } from './visit.js';

/**
 * How much of a primitive counts. `values`: only what has a value. `presence`: also a primitive that has nothing but
 * extensions (`_name` in JSON) counts, visited as `undefined`; FHIRPath's `exists()` and positions see such ones.
 */
export type PrimitiveMatch = 'values' | 'presence';

/** The children of one name, arrays flattened. https://hl7.org/fhir/R5/json.html#primitive */
export function childStep<F extends Focus>(name: string, sight: PrimitiveMatch, next: Visit<F>): Visit<F> {
  return sight === 'values' ? valuesOf(name, next) : presenceOf(name, next);
}

/** The value of a choice element: each JSON name has a way onward of its own. */
export function choiceStep<F extends Focus>(
  alternatives: readonly (readonly [name: string, next: Visit<F>])[],
  sight: PrimitiveMatch,
): Visit<F> {
  const steps = alternatives.map(([name, next]) => childStep(name, sight, next));
  return (value, focus) => {
    for (let i = 0; i < steps.length; i++) steps[i]?.(value, focus);
  };
}

/** The extensions of one url, of a complex value or (through `_name`) of a primitive. */
export function extensionStep<F extends Focus>(url: string, next: Visit<F>): Visit<F> {
  return valuesOf<F>('extension', (extension, focus) => {
    if (isObject(extension) && extension['url'] === url) next(extension, focus);
  });
}

/** As `childStep`, followed by the `_name` twins: what a step to extensions has to look at. */
export function childAndTwinStep<F extends Focus>(name: string, next: Visit<F>): Visit<F> {
  const values = valuesOf(name, next);
  const twins = valuesOf(`_${name}`, next);
  return (value, focus) => {
    values(value, focus);
    twins(value, focus);
  };
}

function valuesOf<F extends Focus>(name: string, next: Visit<F>): Visit<F> {
  return (value, focus) => {
    if (typeof value !== 'object' || value === null) return;
    const child = (value as Record<string, unknown>)[name];
    if (child === undefined || child === null) return;
    if (!Array.isArray(child)) {
      next(child, focus);
      return;
    }
    for (let i = 0; i < child.length; i++) {
      const item: unknown = child[i];
      if (item !== null && item !== undefined) next(item, focus);
    }
  };
}

function presenceOf<F extends Focus>(name: string, next: Visit<F>): Visit<F> {
  const twinName = `_${name}`;
  return (value, focus) => {
    if (!isObject(value)) return;
    const child = value[name];
    const twin = value[twinName];
    if (Array.isArray(child) || Array.isArray(twin)) {
      presenceInArrays(asArray(child), asArray(twin), focus, next);
    } else if (child !== undefined && child !== null) next(child, focus);
    else if (isObject(twin)) next(undefined, focus);
  };
}

function presenceInArrays<F extends Focus>(
  children: readonly unknown[],
  twins: readonly unknown[],
  focus: F,
  next: Visit<F>,
): void {
  const count = Math.max(children.length, twins.length);
  for (let i = 0; i < count; i++) {
    const child = children[i] ?? undefined;
    if (child !== undefined || isObject(twins[i])) next(child, focus);
  }
}

function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}
