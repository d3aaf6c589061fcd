import type { PathStep, SearchRow, SearchType } from '../contract/search.js';
import { fillPath, type Filling } from './fill-path.js';
import type { MutableJson } from './probe.js';
import type { SampleValue } from './sample-values.js';

/** Returns the reference to a resource of one of some types, which is there; `Resource` means any type. */
export type ChooseTarget = (allowed: readonly string[]) => Promise<string>;

type Values = Pick<Filling, 'rows' | 'minimal' | 'word'>;

/** A way to a value, and what it is searched as. */
interface Way {
  readonly search: SearchType;
  readonly steps: readonly PathStep[];
  readonly types: readonly string[];
}

/**
 * Puts a value where a search parameter reads it, by the first of its paths that can be filled.
 *
 * @param content changed
 * @returns what finds it; undefined: no value is known that would show it
 */
export async function fillRow(
  content: MutableJson,
  row: SearchRow,
  choose: ChooseTarget,
  values: Values,
): Promise<SampleValue | undefined> {
  for (const { steps, types } of row.paths) {
    const ways = row.components?.map(({ type: search, paths: [path] }): Way => {
      return { search, steps: [...steps, ...(path?.steps ?? [])], types: path?.types ?? [] };
    }) ?? [{ search: row.type, steps, types }];
    const found: SampleValue[] = [];
    for (const way of ways) {
      const value = await fillWay(content, way, row.targets, choose, values);
      if (value !== undefined) found.push(value);
    }
    const [value] = found;
    if (value === undefined || found.length < ways.length) continue;
    if (row.components === undefined) return value;
    const joined = (of: (each: SampleValue) => string): string => found.map(of).join('$');
    return { value: undefined, finds: joined(({ finds }) => finds), misses: joined(({ misses }) => misses) };
  }
  return undefined;
}

async function fillWay(
  content: MutableJson,
  { search, steps, types }: Way,
  targets: readonly string[] | undefined,
  choose: ChooseTarget,
  values: Values,
): Promise<SampleValue | undefined> {
  const type = String(content['resourceType']);
  const refers = steps.flatMap((step) => ('refers' in step ? [step.refers] : []));
  // The first walk tells what is referred to; that has to be there before it can be named.
  let allowed: readonly string[] | undefined;
  const note = (own: readonly string[] | undefined): string => {
    allowed = [refers, own, targets].find((each) => each !== undefined && each.length > 0) ?? ['Resource'];
    return 'Patient/x';
  };
  const common = { ...values, search, types };
  if (fillPath(structuredClone(content), type, steps, { ...common, reference: note }) === undefined) return undefined;
  const target = allowed === undefined ? '' : await choose(allowed);
  return fillPath(content, type, steps, { ...common, reference: () => target });
}
