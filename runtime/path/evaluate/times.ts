/** Types whose texts are points or spans of time. */
const TEMPORAL: ReadonlySet<string> = new Set([
  'date',
  'dateTime',
  'instant',
  'time',
  'System.Date',
  'System.DateTime',
  'System.Time',
]);

/** Whether values of this type are times. */
export function isTemporal(type: string): boolean {
  return TEMPORAL.has(type);
}

/**
 * How two dates, dateTimes or times are ordered; undefined where they differ in precision and agree as far as both go.
 * With offsets they are compared as points in time. http://hl7.org/fhirpath/N1/#comparison
 */
export function compareTimes(a: string, b: string): number | undefined {
  if (a === b) return 0;
  if (a.length > 10 && b.length > 10) {
    const order = Date.parse(a) - Date.parse(b);
    return Number.isNaN(order) ? textOrder(a, b) : order;
  }
  const common = Math.min(a.length, b.length);
  const order = textOrder(a.slice(0, common), b.slice(0, common));
  return order !== 0 ? order : a.length === b.length ? 0 : undefined;
}

function textOrder(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/**
 * The first and the last millisecond that a date or dateTime may mean, whatever its time zone; undefined for other texts.
 * http://hl7.org/fhirpath/#lowboundaryprecision-integer-decimal--date--datetime--time
 */
export function boundariesOf(text: string): readonly [low: number, high: number] | undefined {
  const match = /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:T.*)?)?)?$/.exec(text);
  if (match === null) return undefined;
  if (text.length > 10) {
    // A second has 1,000 milliseconds where it has no fraction; a leap second is the one after it.
    const start = Date.parse(text.replace(/:60(?=[.Z+-])/, ':59'));
    if (Number.isNaN(start)) return undefined;
    return [start, text.includes('.') ? start : start + 999];
  }
  const [year, month, day] = [Number(match[1]), match[2], match[3]];
  const from = utc(year, month === undefined ? 0 : Number(month) - 1, day === undefined ? 1 : Number(day));
  const to =
    day !== undefined
      ? utc(year, Number(month) - 1, Number(day) + 1)
      : month !== undefined
        ? utc(year, Number(month), 1)
        : utc(year + 1, 0, 1);
  // The zone of a date is unknown: it may begin 14 hours before UTC's, and end 12 hours after it.
  return [from - 14 * HOUR, to - 1 + 12 * HOUR];
}

const HOUR = 3_600_000;

/** `Date.UTC` takes years below 100 for others. */
function utc(year: number, month: number, day: number): number {
  const date = new Date(0);
  date.setUTCFullYear(year, month, day);
  return date.getTime();
}
