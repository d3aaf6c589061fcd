/** What is bound to a place in a statement. */
export type Value = string | number;

/** A piece of SQL and what is bound to its places, in order. */
export interface Sql {
  readonly text: string;
  readonly values: readonly Value[];
}

/** SQL that is part of this program: names of tables, columns and functions. */
export function raw(text: string): Sql {
  return { text, values: NO_VALUES };
}

/**
 * A template of SQL: pieces of it go in as they are, all else is bound. Searches put hundreds of them together, so it is
 * written for speed.
 */
export function sql(strings: TemplateStringsArray, ...parts: readonly (Sql | Value)[]): Sql {
  let text = strings[0]!;
  let values: readonly Value[] = NO_VALUES;
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i]!;
    if (typeof part === 'object') {
      text += part.text;
      values = appended(values, part.values);
    } else {
      text += '?';
      values = appended(values, [part]);
    }
    text += strings[i + 1]!;
  }
  return { text, values };
}

const NO_VALUES: readonly Value[] = [];

/** Both lists as one; lists are shared, and never changed. */
function appended(values: readonly Value[], more: readonly Value[]): readonly Value[] {
  if (more.length === 0) return values;
  return values.length === 0 ? more : [...values, ...more];
}

/** All of them one after the other. */
export function join(pieces: readonly Sql[], separator: string): Sql {
  const [first, ...others] = pieces;
  if (first === undefined) return { text: '', values: NO_VALUES };
  if (others.length === 0) return first;
  let { text } = first;
  const values = [...first.values];
  for (const piece of others) {
    text += separator + piece.text;
    for (const value of piece.values) values.push(value);
  }
  return { text, values };
}

/** True where all are; without any it is true. */
export function and(conditions: readonly Sql[]): Sql {
  return balanced(conditions, ' AND ', '1');
}

/** True where one is; without any it is false. */
export function or(conditions: readonly Sql[]): Sql {
  return balanced(conditions, ' OR ', '0');
}

/** SQLite takes expressions of a bounded depth only, and a chain is as deep as it is long. */
function balanced(conditions: readonly Sql[], operator: string, none: string): Sql {
  if (conditions.length <= 8) return conditions.length === 0 ? raw(none) : bracketed(join(conditions, operator));
  const middle = conditions.length >> 1;
  const halves = [conditions.slice(0, middle), conditions.slice(middle)];
  return bracketed(
    join(
      halves.map((half) => balanced(half, operator, none)),
      operator,
    ),
  );
}

function bracketed({ text, values }: Sql): Sql {
  return { text: `(${text})`, values };
}

/** A text by which values are distinguished: that of JSON has one for all numbers that are not finite. */
export function keyOf(values: readonly Value[]): string {
  const isKept = (value: Value): boolean => typeof value === 'string' || Number.isFinite(value);
  return JSON.stringify(
    values.every(isKept) ? values : values.map((value) => (isKept(value) ? value : [String(value)])),
  );
}
