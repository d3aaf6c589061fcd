/**
 * From the first low end to the last high end of all values of a parameter. A search for spans that
 * begin before one instant and end after another is an interval overlap. An index helps with it only if the width of the spans is
 * known. So wide spans have a row of their own, by width.
 */
export interface Span<End> {
  /** `~1date`: of a width between the first and the second. */
  readonly p: string;
  readonly g?: undefined;
  readonly low: End;
  readonly high: End;
}

const DAY = 86_400_000;

/** Widths in milliseconds, within, of which spans without a row are at most the first: a day, a month, a year. */
export const DATE_WIDTHS: readonly number[] = [DAY, 32 * DAY, 400 * DAY];

/** Widths of spans of numbers: points, and all others. */
export const NUMBER_WIDTHS: readonly number[] = [0];

/** The parameter of spans wider than this many of the widths. */
export function spanParam(p: string, wider: number): string {
  return `~${wider}${p}`;
}

/** The parameter of high ends of numbers that are intervals. */
export function endParam(p: string): string {
  return `^${p}`;
}

/** The spans of a resource that have a row: those of plain parameters, not of composites. */
export function spans<End extends number | Date>(
  rows: readonly { readonly p: string; readonly g?: number | undefined; readonly low: End; readonly high: End }[],
  widths: readonly number[],
): Span<End>[] {
  const byParam = new Map<string, Pick<Span<End>, 'low' | 'high'>>();
  for (const { p, g, low, high } of rows) {
    if (g !== undefined) continue;
    const { low: first, high: last } = byParam.get(p) ?? { low, high };
    byParam.set(p, { low: low < first ? low : first, high: high > last ? high : last });
  }
  return [...byParam].flatMap(([p, { low, high }]) => {
    const wider = widths.filter((width) => Number(high) - Number(low) > width).length;
    return wider === 0 ? [] : [{ p: spanParam(p, wider), g: undefined, low, high }];
  });
}
