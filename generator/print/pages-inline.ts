import type { Inline, Span } from '../emit/pages-data.js';

/** Functions that write inline text in a format. */
export interface InlineFormat {
  readonly text: (text: string) => string;
  readonly code: (text: string) => string;
  readonly mark: (text: string) => string;
  readonly link: (text: string, target: string) => string;
  readonly newLine: string;
  /** File name of the page of a name. */
  readonly file: (page: string) => string;
}

/** Writes an inline text in a format. */
export function printInline(inline: Inline, format: InlineFormat): string {
  if (typeof inline === 'string') return format.text(inline);
  let printed = '';
  for (const span of inline) printed += printSpan(span, format);
  return printed;
}

function printSpan(span: Span, format: InlineFormat): string {
  if (typeof span === 'string') return format.text(span);
  if ('code' in span) return format.code(span.code);
  if ('mark' in span) return format.mark(span.mark);
  if ('href' in span) return format.link(span.text, span.href);
  if ('newLine' in span) return format.newLine;
  return format.link(span.text, `${format.file(span.page)}${span.anchor === undefined ? '' : `#${span.anchor}`}`);
}
