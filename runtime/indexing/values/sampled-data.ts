import { toFinite } from './next-double.js';
import { numberOf, objectOf, textOf } from './json.js';

/** Lowest and highest of the values that were measured, in the unit of the origin. */
export interface Span {
  readonly low: number;
  readonly high: number;
}

/**
 * The bounds of the values in a SampledData: each point times `factor` plus `origin`; `L` and `U` stand for the
 * limits of detection, `E` and codes for nothing; what exceeds a double counts as the greatest one. Undefined where no point is a number.
 * https://hl7.org/fhir/R5/datatypes.html#SampledData
 */
export function sampledSpan(value: unknown): Span | undefined {
  const sampled = objectOf(value);
  const data = textOf(sampled?.['data']);
  const origin = numberOf(objectOf(sampled?.['origin'])?.['value']);
  if (sampled === undefined || data === undefined || origin === undefined) return undefined;
  const factor = numberOf(sampled['factor']) ?? 1;
  const limits: Readonly<Record<string, number | undefined>> = {
    L: numberOf(sampled['lowerLimit']),
    U: numberOf(sampled['upperLimit']),
  };
  let low = Infinity;
  let high = -Infinity;
  for (const [word] of data.matchAll(/\S+/g)) {
    const point = POINT.test(word) ? Number(word) : limits[word];
    if (point === undefined) continue;
    const measured = toFinite(origin + point * factor);
    if (Number.isNaN(measured)) continue;
    low = Math.min(low, measured);
    high = Math.max(high, measured);
  }
  return Number.isFinite(low) && Number.isFinite(high) ? { low, high } : undefined;
}

const POINT = /^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$/;
