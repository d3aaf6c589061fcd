import type { Issue, JsonPath } from '../fhir/errors.js';
import { locatePaths } from './locate-paths.js';

/**
 * Faults with line and column in `diagnostics`, as far as the text has their places.
 *
 * @param text makes the JSON that was read; undefined: it came in another form
 * @param way leads to the resource in it
 */
export function locateFaults<T extends Issue>(
  faults: readonly T[],
  text: (() => string | undefined) | undefined,
  way: JsonPath = [],
): readonly T[] {
  const json = faults.length === 0 ? undefined : text?.();
  if (json === undefined) return faults;
  const positions = locatePaths(
    json,
    faults.map(({ path = [] }) => [...way, ...path]),
  );
  return faults.map((fault, i) => {
    const position = positions[i];
    return position === undefined
      ? fault
      : { ...fault, diagnostics: `line ${position.line}, column ${position.column}` };
  });
}
