import { append } from '../../fhir/lists.js';
import type { JsonValue, Resource } from '../../fhir/resource.js';
import { writeJson } from '../../format/write-json.js';
import { differencesOf, type Difference } from './content-diff.js';

/** Lines that are printed unless all are asked for. */
export const MOST_LINES = 40;

/** Characters of a value, and of it before a difference. */
const MOST = { value: 80, context: 20 };

/** A resource that changes: its name, and a line for each difference. */
export interface Changed {
  readonly key: string;
  readonly lines: readonly string[];
}

/** Compares two versions of a resource. */
export function changeOf(key: string, before: Resource, after: Resource): Changed {
  return { key, lines: differencesOf(before, after).map(describe) };
}

/** Returns lines for people: what all of several resources have in common is one line. */
export function describeChanges(changed: readonly Changed[]): readonly string[] {
  const lines: string[] = [];
  const shared = sharedLines(changed);
  if (shared.length > 0) lines.push(`~ all ${changed.length} that change: ${shared.join('; ')}`);
  const isShared = new Set(shared);
  const only: string[] = [];
  for (const { key, lines: own } of changed) {
    const rest = own.filter((line) => !isShared.has(line));
    if (rest.length === 0) only.push(key);
    else append(lines, [`~ ${key}`, ...rest.map((line) => `    ${line}`)]);
  }
  if (only.length > 0) lines.push(`~ nothing else in ${only.join(', ')}`);
  return lines;
}

/** Changes that all of several resources have in common, as those of their versions. */
function sharedLines(changed: readonly Changed[]): readonly string[] {
  const [first, ...others] = changed;
  if (first === undefined || others.length === 0) return [];
  return first.lines.filter((line) => others.every(({ lines }) => lines.includes(line)));
}

function describe({ path, before, after }: Difference): string {
  if (before === undefined) return `${path}: + ${shown(after)}`;
  if (after === undefined) return `${path}: - ${shown(before)}`;
  const [from, to] = withoutCommonStart(textOf(before), textOf(after));
  return `${path}: ${shown(from)} → ${shown(to)}`;
}

/** Of long texts that begin alike what is there from a little before the first difference on. */
function withoutCommonStart(from: string, to: string): readonly [string, string] {
  let start = 0;
  while (start < from.length && from[start] === to[start]) start++;
  const cut = start - MOST.context;
  if (cut <= 0 || Math.max(from.length, to.length) <= MOST.value) return [from, to];
  return [`…${from.slice(cut)}`, `…${to.slice(cut)}`];
}

function textOf(value: JsonValue): string {
  return typeof value === 'string' ? value : writeJson(value);
}

function shown(value: JsonValue | undefined): string {
  const text = textOf(value ?? null);
  return text.length > MOST.value ? `${text.slice(0, MOST.value)}…` : text;
}
