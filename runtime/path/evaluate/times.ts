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

const DAY = 24 * HOUR;

/** Units of durations by their codes in UCUM: their names in the calendar, and how many months or milliseconds they have. */
const DURATIONS: Readonly<Record<string, readonly [name: string, months: number, milliseconds: number]>> = {
  ...{ a: ['year', 12, 365 * DAY], mo: ['month', 1, 30 * DAY], wk: ['week', 0, 7 * DAY], d: ['day', 0, DAY] },
  ...{ h: ['hour', 0, HOUR], min: ['minute', 0, 60_000], s: ['second', 0, 1000], ms: ['millisecond', 0, 1] },
};

/** The code of a unit that FHIRPath has a word for: `years`. */
export function calendarUnit(word: string): string | undefined {
  return Object.keys(DURATIONS).find((code) => [word, word.replace(/s$/, '')].includes(DURATIONS[code]![0]));
}

/**
 * A date, dateTime or time some units later, in its own precision: of a finer unit only what makes whole ones counts.
 * http://hl7.org/fhirpath/N1/#addition-6
 *
 * @returns undefined for what is no time, or no duration
 */
export function shiftTime(text: string, amount: number, unit: string): string | undefined {
  const [, months, length] = Object.hasOwn(DURATIONS, unit) ? DURATIONS[unit]! : ['', 0, NaN];
  const [, date, rest = '', zone = ''] =
    /^(\d{4}(?:-\d\d){0,2}|(?=\d\d:))(T?[\d:.]*)(Z|[+-]\d\d:\d\d)?$/.exec(text) ?? [];
  if (date === undefined || Number.isNaN(length * amount)) return undefined;
  const step =
    date.length === 4 ? 365 * DAY : date.length === 7 ? 30 * DAY : date.length === 10 && rest === '' ? DAY : 1;
  const clock = rest.replace('T', '');
  const from = new Date(
    `${(date || '2000-01-01') + '-01-01'.slice(0, 10 - (date.length || 10))}T${clock === '' ? '00:00' : clock}Z`,
  );
  if (Number.isNaN(from.getTime())) return undefined;
  if (months > 0 || step > DAY) {
    const by = months > 0 ? amount * months : Math.trunc((amount * length) / (30 * DAY));
    const day = from.getUTCDate();
    from.setUTCMonth(from.getUTCMonth() + (date.length === 4 ? Math.trunc(by / 12) * 12 : Math.trunc(by)), 1);
    const last = new Date(Date.UTC(from.getUTCFullYear() + 400, from.getUTCMonth() + 1, 0)).getUTCDate();
    from.setUTCDate(Math.min(day, last));
  } else from.setTime(from.getTime() + Math.trunc((amount * length) / step) * step);
  if (Number.isNaN(from.getTime())) return undefined;
  const made = from.toISOString();
  if (made.length > 24) return undefined;
  return (
    made.slice(0, date.length) + (clock === '' ? rest : rest.replace(clock, made.slice(11, 11 + clock.length))) + zone
  );
}
