/**
 * The content of a reference page as plain data: the emitters fill it, and each format has one template that renders it. No
 * property is optional, because templates are strict.
 */
export interface PageData {
  readonly title: string;
  readonly lead: Inline;
  readonly facts: readonly Fact[];
  /** Pages that every page links to. */
  readonly navigation: readonly { readonly link: Inline; readonly current: boolean }[];
  readonly sections: readonly Section[];
}

/** A name and its description. */
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
  /** Caption for readers who do not see the heading. */
  readonly label: string;
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
}

/** A row: its name, and a cell for each other column. */
export interface Row {
  /** Anchor for links to the row; empty if there is none. */
  readonly id: string;
  /** Depth of the row in a tree, from 0. */
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
  /** A remark, rendered less prominently than the text. */
  | { readonly mark: string }
  /** A link to a page (name without extension, and anchor). */
  | { readonly page: string; readonly anchor?: string; readonly text: string }
  /** An external link. */
  | { readonly href: string; readonly text: string }
  | { readonly newLine: true };

/** A block of the given parts; the others are empty. */
export function block(parts: Partial<Block>): Block {
  return { id: '', heading: '', paragraphs: [], facts: [], list: [], tables: [], ...parts };
}

/** A section of one table; none if the table would be empty. */
export function tableSection(id: string, heading: string, columns: readonly string[], rows: readonly Row[]): Section[] {
  if (rows.length === 0) return [];
  return [{ id, heading, blocks: [block({ tables: [{ label: heading, columns, rows }] })] }];
}

/** A top-level row without an anchor. */
export function row(head: Inline, ...cells: readonly Inline[]): Row {
  return { id: '', depth: 0, head, cells };
}

/** The parts joined by a separator. */
export function joined(parts: readonly Inline[], separator: Span): Span[] {
  const all: Span[] = [];
  for (const [index, part] of parts.entries()) {
    if (index > 0) all.push(separator);
    if (typeof part === 'string') all.push(part);
    else all.push(...part);
  }
  return all;
}

/** The spans of a text, to be combined with others. */
export function spans(text: Inline): readonly Span[] {
  return typeof text === 'string' ? [text] : text;
}

/** The non-empty parts, separated by line breaks. */
export function lines(...parts: readonly Inline[]): Inline {
  const filled = parts.filter((part) => part.length > 0);
  return filled.length === 1 ? (filled[0] ?? '') : joined(filled, { newLine: true });
}
