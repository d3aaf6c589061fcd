/**
 * What a reference page says, as plain data: the emitters fill it, and each format has one template that lays it out.
 * Nothing is optional, because templates are strict.
 */
export interface PageData {
  readonly title: string;
  readonly lead: Inline;
  readonly facts: readonly Fact[];
  /** Pages that every page links to. */
  readonly navigation: readonly { readonly link: Inline; readonly current: boolean }[];
  readonly sections: readonly Section[];
}

/** A name and what there is to say of it. */
export interface Fact {
  readonly name: string;
  readonly value: Inline;
}

/** A part of a page with a heading of its own. `id` is unique on the page. */
export interface Section {
  readonly id: string;
  readonly heading: string;
  readonly blocks: readonly Block[];
}

/** Paragraphs, a list and tables, in this order; with a heading unless it is empty. */
export interface Block {
  readonly id: string;
  readonly heading: string;
  readonly paragraphs: readonly Inline[];
  readonly facts: readonly Fact[];
  readonly list: readonly Inline[];
  readonly tables: readonly Table[];
}

/** A table; the first column names its rows. */
export interface Table {
  /** What the table holds, for those who do not see the heading. */
  readonly label: string;
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
}

/** A row: its name, and a cell for each other column. */
export interface Row {
  /** Where links lead to; empty where none do. */
  readonly id: string;
  /** How deep the row stands in a tree, from 0. */
  readonly depth: number;
  readonly head: Inline;
  readonly cells: readonly Inline[];
}

/** Text within a line. */
export type Inline = string | readonly Span[];

/** A piece of a line. */
export type Span =
  | string
  | { readonly code: string }
  /** A remark that stands back behind the text. */
  | { readonly mark: string }
  /** A link to a page (name without ending, and place in it). */
  | { readonly page: string; readonly anchor?: string; readonly text: string }
  /** A link out. */
  | { readonly href: string; readonly text: string }
  | { readonly newLine: true };

/** A block of what is given, with the rest empty. */
export function block(parts: Partial<Block>): Block {
  return { id: '', heading: '', paragraphs: [], facts: [], list: [], tables: [], ...parts };
}

/** A section of one table, or none where the table would be empty. */
export function tableSection(id: string, heading: string, columns: readonly string[], rows: readonly Row[]): Section[] {
  if (rows.length === 0) return [];
  return [{ id, heading, blocks: [block({ tables: [{ label: heading, columns, rows }] })] }];
}

/** A row at the top of its tree that no link leads to. */
export function row(head: Inline, ...cells: readonly Inline[]): Row {
  return { id: '', depth: 0, head, cells };
}

/** The parts one after another, with a separator between them. */
export function joined(parts: readonly Inline[], separator: Span): Span[] {
  const all: Span[] = [];
  for (const [index, part] of parts.entries()) {
    if (index > 0) all.push(separator);
    if (typeof part === 'string') all.push(part);
    else all.push(...part);
  }
  return all;
}

/** The spans of a text, to stand among others. */
export function spans(text: Inline): readonly Span[] {
  return typeof text === 'string' ? [text] : text;
}

/** A new line between parts, those that are empty left out. */
export function lines(...parts: readonly Inline[]): Inline {
  const filled = parts.filter((part) => part.length > 0);
  return filled.length === 1 ? (filled[0] ?? '') : joined(filled, { newLine: true });
}
