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
 * How two dates, dateTimes or times are ordered; undefined where they differ in precision and agree as far as both go. Seconds
 * with and without a fraction are of one precision. Times of day in a zone are compared in UTC, as which those without one count.
 * http://hl7.org/fhirpath/N1/#comparison
 */
export function compareTimes(a: string, b: string): number | undefined {
  if (a === b) return 0;
  const [one, other] = [fieldsOf(a), fieldsOf(b)];
  if (one === undefined || other === undefined) return undefined;
  for (let i = 0; i < FIELDS; i++) {
    const [x, y] = [one[i], other[i]];
    if (x === undefined && y === undefined) continue;
    if (x === undefined || y === undefined) return undefined;
    if (x !== y) return x - y;
  }
  return 0;
}

/** A text that two times have in common if and only if `compareTimes` gives 0; for what is no time the text itself. */
export function timeKey(text: string): string {
  return fieldsOf(text)?.join() ?? text;
}

/** Years, months, days, hours, minutes, seconds. */
const FIELDS = 6;

const FIELDS_OF_TIME =
  /^(?:(\d{4})(?:-(\d\d)(?:-(\d\d))?)?(?=T|$))?T?(?:(\d\d)(?::(\d\d)(?::(\d\d(?:\.\d+)?))?)?)?(?:Z|([+-])(\d\d):(\d\d))?$/;

/**
 * The fields of a time in UTC; an undefined one: it is not so precise, or it is a time of day and has no date.
 *
 * @returns undefined for what is no time
 */
function fieldsOf(text: string): readonly (number | undefined)[] | undefined {
  const match = FIELDS_OF_TIME.exec(text);
  if (match === null) return undefined;
  const fields = match.slice(1, FIELDS + 1).map((field) => (field === undefined ? undefined : Number(field)));
  const [year, month, day, hour, minute, second] = fields;
  const [sign, hours, minutes] = match.slice(FIELDS + 1);
  if (sign === undefined || year === undefined || hour === undefined) return fields;
  const offset = (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -1 : 1);
  const moved = new Date(utc(year, month! - 1, day!) + (hour * 60 + (minute ?? 0) - offset) * 60_000);
  const date = [moved.getUTCFullYear(), moved.getUTCMonth() + 1, moved.getUTCDate(), moved.getUTCHours()];
  return [...date, minute === undefined ? undefined : moved.getUTCMinutes(), second];
}

/** Whether a date, dateTime or time is on the calendar and the clock: no 13th month, no 31st of June. */
export function isOnCalendar(text: string): boolean {
  const fields = fieldsOf(text.replace(/(?:Z|[+-]\d\d:\d\d)$/, ''));
  if (fields === undefined) return false;
  const [year, month = 1, day = 1, hour = 0, minute = 0, second = 0] = fields;
  const date = new Date(utc(year ?? 2000, month - 1, day));
  const isDay = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return isDay && hour < 24 && minute < 60 && second < 61;
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
