import type { Stall } from './run-stall.js';
import type { StallCase } from './stall-case.js';

/** What the server is started with: no token is needed, and everything is allowed. */
export const SETTINGS: readonly string[] = [
  ...['serve', '--port', '0', '--auth', 'open', '--log-level', 'error'],
  ...['--admin-expunge', 'true', '--delete-multiple', 'true', '--reindex-automatic', 'false'],
  ...['--subscriptions-websocket', 'true', '--publish-types', 'Linkage'],
];

/** What the main thread may compute while another client waits, in milliseconds, on a processor of the usual speed. */
const LONGEST = 100;

/** How far the memory of the process may rise, in bytes. */
const RISE = 500 * 2 ** 20;

/** Rows whose names have one of these, separated by `|`, are run alone. */
const ONLY = process.env['KILN_BENCH_ONLY'];

/** Whether a row is to be run. */
export function isChosen({ name }: StallCase): boolean {
  return ONLY === undefined || ONLY.split('|').some((each) => name.includes(each));
}

/**
 * What is not as it should be. Time is that of the processor, not of the clock, and less is counted where a loop takes longer than usual just
 * then: other processes have the processor, or its caches.
 *
 * @param allowance how many times as much as promised, of time and of memory, is let pass
 */
export function faultsOf(stall: Stall, allowance = 1): readonly string[] {
  const { name, longest, computed = longest, slowness, risen, known } = stall;
  const isLong = computed > LONGEST * slowness * allowance;
  if (known !== undefined) return unexpectedOf(stall);
  return [
    ...(isLong
      ? [`${name}: the main thread computed ${computed.toFixed(0)} ms (${slowness.toFixed(1)} times as slow as usual)`]
      : []),
    ...(risen > RISE * allowance ? [`${name}: the memory rose by ${megabytes(risen)}`] : []),
    ...unexpectedOf(stall),
  ];
}

function unexpectedOf({ name, unexpected }: Stall): readonly string[] {
  return unexpected.slice(0, 1).map((each) => `${name}: answered ${each}`);
}

/** A line about a row. */
export function describeStall({ name, reads, longest, computed, slowness, risen, took, known }: Stall): string {
  const main = computed === undefined ? '' : `, the main thread computed ${computed.toFixed(0)} ms of it`;
  const slow = slowness > 1 ? `, ${slowness.toFixed(1)} times as slow as usual` : '';
  return (
    `${name}: of ${reads} reads meanwhile one waited ${longest.toFixed(0)} ms${main}${slow}; the memory rose by ` +
    `${megabytes(risen)}; answered after ${took.toFixed(0)} ms${known === undefined ? '' : ` (known: ${known})`}`
  );
}

function megabytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(0)} MB`;
}
