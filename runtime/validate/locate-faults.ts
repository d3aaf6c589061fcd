import type { Fault } from './fault.js';
import { locatePaths, type Position } from './locate-paths.js';

/** A fault, and where it is in the text that the resource was read from. */
export interface LocatedFault extends Fault {
  /** Absent: there is no text, or it has no such place. */
  readonly position?: Position;
}

/** Finds the places of faults. @param text the JSON that was read; undefined: it came in another form */
export function locateFaults(faults: readonly Fault[], text: string | undefined): readonly LocatedFault[] {
  if (text === undefined || faults.length === 0) return faults;
  const positions = locatePaths(
    text,
    faults.map(({ path }) => path),
  );
  return faults.map((fault, index) => {
    const position = positions[index];
    return position === undefined ? fault : { ...fault, position };
  });
}
