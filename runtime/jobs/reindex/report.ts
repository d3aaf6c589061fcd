import { formatInstant } from '../../fhir/instant.js';

/** Counts and failures of a reindexing. */
export interface Counts {
  readonly types: Readonly<Record<string, TypeCounts>>;
  /** `Type/id: why`; the first ones. */
  readonly failures: readonly string[];
  /** There are failures beside these, of types that are not counted. */
  readonly hasUnnamedFailures?: true;
}

/** Counts of a reindexing for one type. */
export interface TypeCounts {
  /** Resources whose entries were replaced. */
  readonly changed: number;
  /** Resources that were written meanwhile, so that they have new entries, or that were only looked at. */
  readonly unchanged: number;
  /** Resources of which no entries could be made. */
  readonly failed: number;
}

/** Text of a report about failures of types that are not counted. */
export const UNNAMED =
  'Some resources of types that the token may not search could not be indexed; kiln reindex names them';

/** The sum over all types. */
export function sumOf({ types }: Pick<Counts, 'types'>): TypeCounts {
  const sum = { changed: 0, unchanged: 0, failed: 0 };
  for (const each of Object.values(types)) {
    sum.changed += each.changed;
    sum.unchanged += each.unchanged;
    sum.failed += each.failed;
  }
  return sum;
}

/** The report as plain text. @param started and ended in milliseconds since the epoch */
export function writeReport(counts: Counts, started: number, ended: number): string {
  const { changed, unchanged, failed } = sumOf(counts);
  const seconds = (ended - started) / 1000;
  const rate = seconds > 0 ? ` (${Math.round(changed / seconds)} per second)` : '';
  const blocks = Object.entries(counts.types).map(([type, each]) => [
    '',
    `ResourceType[${type}]`,
    `    Changed: ${each.changed}`,
    `    Unchanged: ${each.unchanged}`,
    `    Failures: ${each.failed}`,
  ]);
  const more = failed - counts.failures.length;
  const failures = failed === 0 ? [] : ['', 'Failures:', ...counts.failures, ...(more > 0 ? [`and ${more} more`] : [])];
  const unnamed = counts.hasUnnamedFailures === true ? ['', UNNAMED] : [];
  return [
    'Reindex Report',
    '-'.repeat(50),
    `Start Time: ${formatInstant(started)}`,
    `Duration: ${seconds.toFixed(1)} s`,
    `Total Resources Changed: ${changed}${rate}`,
    `Total Resources Unchanged: ${unchanged}`,
    `Total Failed Changes: ${failed}`,
    ...blocks.flat(),
    ...failures,
    ...unnamed,
    '',
  ].join('\n');
}
