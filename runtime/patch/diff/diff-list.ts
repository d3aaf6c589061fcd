import type { Pairs } from './diff-pairs.js';

/** A step that brings a list into the order of another; positions from 0, in the list as it is then. */
export type ListStep =
  | { readonly type: 'delete'; readonly index: number }
  | { readonly type: 'insert'; readonly index: number; /** Position in the new list. */ readonly item: number }
  | { readonly type: 'move'; readonly source: number; readonly destination: number };

/**
 * The steps that make an old list the new one, but for the contents of items that are paired and differ: first what
 * goes, from the end on, then what comes and what moves, from the beginning on.
 *
 * @param length of the old list
 */
export function listSteps(length: number, { source, stays }: Pairs): readonly ListStep[] {
  const used = new Set(source);
  const steps: ListStep[] = [];
  for (let index = length - 1; index >= 0; index--) if (!used.has(index)) steps.push({ type: 'delete', index });
  /** The list as it is at each step, by old positions; what is new by -1. */
  const list = Array.from({ length }, (_, i) => i).filter((i) => used.has(i));
  // What stays and what was placed already is in the right order, so each item belongs right behind the one before it.
  let before = -1;
  source.forEach((from, item) => {
    if (from === undefined) {
      list.splice(before + 1, 0, -1);
      steps.push({ type: 'insert', index: ++before, item });
    } else if (stays[item] === true) {
      before = list.indexOf(from, before + 1);
    } else {
      const at = list.indexOf(from);
      list.splice(at, 1);
      if (at < before) before--;
      list.splice(++before, 0, from);
      if (at !== before) steps.push({ type: 'move', source: at, destination: before });
    }
  });
  return steps;
}
