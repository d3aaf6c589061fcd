import { isNumber, PathItem, NONE, ofNumber, type Items } from './item.js';

/** One of the two ends of the span of values that a value may have. */
type Boundary = 'low' | 'high';

/** Offsets of the zones in which a day begins first and ends last. */
const ZONES = { low: '+14:00', high: '-12:00' } as const;

const CLOCK = { low: '00:00:00.000', high: '23:59:59.999' } as const;
const FRACTION = { low: '.000', high: '.999' } as const;

/**
 * `lowBoundary()` and `highBoundary()`: the least and the greatest value that a decimal, date, dateTime or time may have, by its digits.
 * Of anything else there is none. https://hl7.org/fhirpath/#lowboundaryprecision-integer-decimal--date--datetime--time
 */
export function boundary(input: Items, end: Boundary): Items {
  const [only] = input;
  if (only === undefined || input.length > 1) return NONE;
  const { value, type } = only;
  if (isNumber(value)) return ofNumber(ofDecimal(String(value), end));
  if (typeof value !== 'string') return NONE;
  const made = /^(?:System\.)?(?:date|Date)$/.test(type)
    ? dayOf(value, end)
    : /^(?:System\.)?[Tt]ime$/.test(type)
      ? clockOf(value, end)
      : /^(?:dateTime|instant|System\.DateTime)$/.test(type)
        ? instantOf(value, end)
        : undefined;
  return made === undefined ? NONE : [new PathItem(made, type)];
}

/** Half of what the last digit counts below, or above; a number without a point is taken for one with a digit behind it. */
function ofDecimal(text: string, end: Boundary): number | undefined {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  if (whole === '') return undefined;
  const places = Math.max(1, fraction.length);
  const digits = BigInt(`${sign}${whole}${fraction.padEnd(places, '0')}`) * 10n + (end === 'low' ? -5n : 5n);
  const shown = String(digits < 0n ? -digits : digits).padStart(places + 2, '0');
  return Number(`${digits < 0n ? '-' : ''}${shown.slice(0, -places - 1)}.${shown.slice(-places - 1)}`);
}

function dayOf(text: string, end: Boundary): string | undefined {
  const [, year, month, day] = /^(\d{4})(?:-(\d\d)(?:-(\d\d))?)?$/.exec(text) ?? [];
  if (year === undefined) return undefined;
  const monthOf = month ?? (end === 'low' ? '01' : '12');
  if (day !== undefined) return text;
  if (end === 'low') return `${year}-${monthOf}-01`;
  // The day before the first of the next month; years below 100 have the calendar of those 400 later.
  const last = new Date(Date.UTC(Number(year) + 400, Number(monthOf), 0)).getUTCDate();
  return `${year}-${monthOf}-${last}`;
}

function clockOf(text: string, end: Boundary): string | undefined {
  if (!/^\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/.test(text)) return undefined;
  if (text.includes('.')) return text.length >= 12 ? text : text + CLOCK[end].slice(text.length);
  return text + CLOCK[end].slice(text.length, 8) + FRACTION[end];
}

function instantOf(text: string, end: Boundary): string | undefined {
  if (text.length <= 10) {
    const day = dayOf(text, end);
    return day === undefined ? undefined : `${day}T${CLOCK[end]}${ZONES[end]}`;
  }
  const [, day, clock = '', zone] = /^(\d{4}-\d\d-\d\d)T([\d:.]+)(Z|[+-]\d\d:\d\d)?$/.exec(text) ?? [];
  const whole = clockOf(clock, end);
  return day === undefined || whole === undefined ? undefined : `${day}T${whole}${zone ?? ZONES[end]}`;
}
