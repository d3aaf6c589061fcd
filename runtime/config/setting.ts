import type { JsonValue } from '../fhir/resource.js';

/** One setting: a key of the configuration file, a variable of the environment and an option of the command line. */
export interface Setting<T> {
  /** What stands for the value in the help. */
  readonly placeholder: string;
  readonly help: string;
  readonly initial: T;
  /** For the help, where the value itself says too little. */
  readonly initialText?: string;
  /** The value is a list or an object of JSON. */
  readonly isJson?: true;
  /** The value as people write it; absent: as it is. */
  readonly format?: (value: T) => string;
  /** Left out where no part of the value is a secret. */
  readonly mask?: (value: T) => string;
  /**
   * The value behind what a file has (any JSON value) or what was typed (text).
   *
   * @throws Error saying what would be right
   */
  readonly parse: (value: JsonValue) => T;
}

/** What every kind of setting is described by. */
interface Description<T> {
  readonly help: string;
  readonly initial: T;
  readonly initialText?: string;
  readonly placeholder?: string;
}

const UNITS: Readonly<Record<string, number>> = {
  b: 1,
  kb: 1024,
  mb: 1024 ** 2,
  gb: 1024 ** 3,
  ms: 1,
  s: 1000,
  min: 60_000,
  h: 3_600_000,
};

/** A whole number within bounds. */
export function integer(min: number, max: number, rest: Description<number>): Setting<number> {
  const parse = (value: JsonValue): number => {
    const number = typeof value === 'string' && /^[0-9]{1,15}$/.test(value) ? Number(value) : value;
    if (typeof number === 'number' && Number.isInteger(number) && number >= min && number <= max) return number;
    throw new Error(`has to be a number from ${min} to ${max}`);
  };
  return { placeholder: 'N', ...rest, parse };
}

/** A size in bytes: a number, or one with B, kB, MB or GB (each 1,024 of the one before). */
export function size(min: number, max: number, rest: Description<number>): Setting<number> {
  const wrong = `has to be a size from ${formatSize(min)} to ${formatSize(max)}, such as ${formatSize(rest.initial)}`;
  return {
    placeholder: 'SIZE',
    initialText: formatSize(rest.initial),
    format: (value) => exactly(value, formatSize(value), 'B'),
    ...rest,
    parse: (value) => within(scaled(value, /^([0-9]{1,12}(?:\.[0-9]{1,6})?) ?(b|kb|mb|gb)?$/i), min, max, wrong),
  };
}

/** A length of time in milliseconds: a number, or one with ms, s, min or h. */
export function duration(min: number, max: number, rest: Description<number>): Setting<number> {
  const wrong = `has to be a time from ${formatTime(min)} to ${formatTime(max)}, such as ${formatTime(rest.initial)}`;
  return {
    placeholder: 'TIME',
    initialText: formatTime(rest.initial),
    format: (value) => exactly(value, formatTime(value), 'ms'),
    ...rest,
    parse: (value) => within(scaled(value, /^([0-9]{1,12}(?:\.[0-9]{1,6})?) ?(ms|s|min|h)?$/i), min, max, wrong),
  };
}

/** One of some words. */
export function choice<const T extends string>(words: readonly T[], rest: Description<NoInfer<T>>): Setting<T> {
  return {
    placeholder: 'WORD',
    ...rest,
    parse(value) {
      const word = words.find((each) => each === value);
      if (word !== undefined) return word;
      throw new Error(`has to be ${words.join(', ').replace(/, ([^,]*)$/, ' or $1')}`);
    },
  };
}

/** Yes or no. */
export function yesOrNo(rest: Description<boolean>): Setting<boolean> {
  return {
    placeholder: 'BOOLEAN',
    ...rest,
    parse(value) {
      if (value === true || value === 'true') return true;
      if (value === false || value === 'false') return false;
      throw new Error('has to be true or false');
    },
  };
}

/** The address of an interface to listen on. */
export function address(rest: Description<string>): Setting<string> {
  return {
    placeholder: 'ADDRESS',
    ...rest,
    parse(value) {
      if (typeof value !== 'string' || !/^[A-Za-z0-9.:[\]%-]{1,255}$/.test(value))
        throw new Error('has to be an address');
      const host = value.replace(/^\[([^\]]*:[^\]]*)\]$/, '$1');
      if (/[[\]]/.test(host)) throw new Error('has to be an address');
      return host;
    },
  };
}

/** Bytes as people write them: `15 MB`. */
export function formatSize(bytes: number): string {
  return scale(bytes, ['GB', 'MB', 'kB'], 'B');
}

/** Milliseconds as people write them: `10 s`. */
export function formatTime(milliseconds: number): string {
  const units = ['h', 'min', 's'];
  // 65 s are not 1.1 min.
  const exact = units.filter((unit) => Number.isInteger((10 * milliseconds) / (UNITS[unit] ?? 1)));
  return scale(milliseconds, exact.length > 0 ? exact : units, 'ms');
}

/** The text, where it says no less than the amount. */
function exactly(amount: number, text: string, base: string): string {
  return scaled(text, /^([0-9.]+) ?([a-z]+)$/i) === amount ? text : `${amount} ${base}`;
}

function scale(amount: number, units: readonly string[], base: string): string {
  for (const unit of units) {
    const factor = UNITS[unit.toLowerCase()] ?? 1;
    if (amount >= factor) return `${Math.round((amount / factor) * 10) / 10} ${unit}`;
  }
  return `${amount} ${base}`;
}

function scaled(value: JsonValue, form: RegExp): number {
  if (typeof value === 'number') return value;
  const [, number, unit = ''] = (typeof value === 'string' && form.exec(value)) || [];
  return number === undefined ? Number.NaN : Math.round(Number(number) * (UNITS[unit.toLowerCase()] ?? 1));
}

function within(amount: number, min: number, max: number, wrong: string): number {
  if (Number.isInteger(amount) && amount >= min && amount <= max) return amount;
  throw new Error(wrong);
}
