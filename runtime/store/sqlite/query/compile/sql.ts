/** Value that is bound to a placeholder of a statement. */
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

const NO_VALUES: readonly Value[] = [];

/**
 * A template of SQL: pieces of it go in as they are, all else is bound. A search puts hundreds of them together and runs a few: the text
 * is written when it is asked for.
 */
export function sql(strings: TemplateStringsArray, ...parts: readonly (Sql | Value)[]): Sql {
  return new Pieces(strings, parts);
}

/** All of them one after the other. */
export function join(pieces: readonly Sql[], separator: string): Sql {
  if (pieces.length === 1) return pieces[0]!;
  return pieces.length === 0 ? raw('') : new Pieces(separator, pieces);
}

interface Written {
  text: string;
  readonly values: Value[];
}

class Pieces implements Sql {
  readonly #between: readonly string[] | string;
  readonly #parts: readonly (Sql | Value)[];
  #written: Sql | undefined;

  /** @param between what is around the parts; a text: what is between any two of them */
  constructor(between: readonly string[] | string, parts: readonly (Sql | Value)[]) {
    this.#between = between;
    this.#parts = parts;
  }

  get text(): string {
    return this.#write().text;
  }

  get values(): readonly Value[] {
    return this.#write().values;
  }

  #write(): Sql {
    if (this.#written === undefined) {
      const to: Written = { text: '', values: [] };
      this.#writeTo(to);
      this.#written = to;
    }
    return this.#written;
  }

  #writeTo(to: Written): void {
    const between = this.#between;
    const parts = this.#parts;
    const isList = typeof between === 'string';
    for (let i = 0; i < parts.length; i++) {
      if (!isList) to.text += between[i]!;
      else if (i > 0) to.text += between;
      const part = parts[i]!;
      if (typeof part !== 'object') {
        to.text += '?';
        to.values.push(part);
      } else if (part instanceof Pieces && part.#written === undefined) {
        part.#writeTo(to);
      } else {
        to.text += part.text;
        for (const value of part.values) to.values.push(value);
      }
    }
    if (!isList) to.text += between[parts.length]!;
  }
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
  if (conditions.length <= 8) return conditions.length === 0 ? raw(none) : sql`(${join(conditions, operator)})`;
  const middle = conditions.length >> 1;
  const halves = [conditions.slice(0, middle), conditions.slice(middle)];
  return sql`(${join(
    halves.map((half) => balanced(half, operator, none)),
    operator,
  )})`;
}

/** A text by which values are distinguished: that of JSON has one for all numbers that are not finite. */
export function keyOf(values: readonly Value[]): string {
  const isKept = (value: Value): boolean => typeof value === 'string' || Number.isFinite(value);
  return JSON.stringify(
    values.every(isKept) ? values : values.map((value) => (isKept(value) ? value : [String(value)])),
  );
}
