/** What is computed of at least one value; percentiles are interpolated between neighbours. */
const STATISTICS = {
  average: (sorted) => mean(sorted),
  maximum: (sorted) => sorted[sorted.length - 1]!,
  minimum: (sorted) => sorted[0]!,
  count: (sorted) => sorted.length,
  median: (sorted) => quantile(sorted, 0.5),
  'std-dev': (sorted) => Math.sqrt(variance(sorted)),
  sum: (sorted) => sorted.reduce((sum, each) => sum + each, 0),
  variance: (sorted) => variance(sorted),
  '20-percent': (sorted) => quantile(sorted, 0.2),
  '80-percent': (sorted) => quantile(sorted, 0.8),
  '4-lower': (sorted) => quantile(sorted, 0.25),
  '4-upper': (sorted) => quantile(sorted, 0.75),
  '4-dev': (sorted) => quantile(sorted, 0.75) - quantile(sorted, 0.25),
  '5-1': (sorted) => quantile(sorted, 0.2),
  '5-2': (sorted) => quantile(sorted, 0.4),
  '5-3': (sorted) => quantile(sorted, 0.6),
  '5-4': (sorted) => quantile(sorted, 0.8),
  skew: (sorted) => moment(sorted, 3),
  kurtosis: (sorted) => moment(sorted, 4),
} as const satisfies Record<string, (sorted: readonly number[]) => number>;

/** A code of https://hl7.org/fhir/R5/codesystem-observation-statistics.html that is computed here. */
export type Statistic = keyof typeof STATISTICS | 'total-count';

/** Statistics that have no unit. */
export const UNITLESS: ReadonlySet<Statistic> = new Set(['count', 'total-count', 'skew', 'kurtosis']);

/** All codes, for checks and messages; `regression` is not computed. */
export const STATISTIC_CODES: readonly Statistic[] = [...(Object.keys(STATISTICS) as Statistic[]), 'total-count'];

/**
 * One statistic of some values; undefined: there is none of no values.
 *
 * @param sorted ascending
 * @param total measurements, those without a usable value included
 */
export function computeStatistic(code: Statistic, sorted: readonly number[], total: number): number | undefined {
  if (code === 'total-count') return total;
  if (code === 'count') return sorted.length;
  if (sorted.length === 0) return undefined;
  const value = STATISTICS[code](sorted);
  // Sums of decimals end in digits that no measurement has.
  return Number.isFinite(value) ? Number(value.toPrecision(12)) : undefined;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, each) => sum + each, 0) / values.length;
}

/** Of the population: the values are all there are, not a sample. */
function variance(values: readonly number[]): number {
  const middle = mean(values);
  return mean(values.map((each) => (each - middle) ** 2));
}

/** The standardized moment; not a number where all values are the same. */
function moment(values: readonly number[], order: number): number {
  const middle = mean(values);
  const deviation = Math.sqrt(variance(values));
  return mean(values.map((each) => ((each - middle) / deviation) ** order));
}

function quantile(sorted: readonly number[], share: number): number {
  const at = (sorted.length - 1) * share;
  const low = Math.floor(at);
  const [below, above] = [sorted[low]!, sorted[Math.min(low + 1, sorted.length - 1)]!];
  return below + (above - below) * (at - low);
}
