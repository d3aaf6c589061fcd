import type { XmlName } from '../../fhir/xml/xml-tree.js';
import { SelectorReader } from './xml-selector-reader.js';

/** Condition that an element has to fulfil. A `position` is that of the element among those found so far, from 1. */
export type XmlCondition =
  | { readonly kind: 'position'; readonly position: number }
  /** The attribute, a child element of this name, or the element itself has this text as its value. */
  | { readonly kind: 'attribute' | 'child'; readonly name: XmlName; readonly value: string }
  | { readonly kind: 'self'; readonly value: string };

/** One step down; `end` is where it ends in the text of the selector. */
export type XmlStep = { readonly end: number } & (
  | { readonly kind: 'id'; readonly id: string }
  /** Child elements, of any name without one. */
  | { readonly kind: 'element'; readonly name: XmlName | undefined; readonly conditions: readonly XmlCondition[] }
  | {
      readonly kind: 'text' | 'comment' | 'instruction';
      /** Only of instructions, and '' for all. */
      readonly target: string;
      readonly position: number | undefined;
    }
  | { readonly kind: 'attribute'; readonly name: XmlName }
  | { readonly kind: 'namespace'; readonly prefix: string }
);

/** A selector of RFC 5261: steps from the document, of which only the last may lead to something else than an element. */
export interface XmlSelector {
  readonly text: string;
  readonly steps: readonly XmlStep[];
}

/**
 * Reads a selector: the subset of XPath 1.0 that RFC 5261 allows, with white space where XPath allows it.
 * https://www.rfc-editor.org/rfc/rfc5261#section-4.1 and #section-8
 *
 * @throws PatchFault `invalid-attribute-value` with the place where it departs from that
 */
export function readSelector(text: string): XmlSelector {
  const reader = new SelectorReader(text);
  const steps: XmlStep[] = [];
  reader.takes('/');
  do {
    const kind = steps.at(-1)?.kind;
    if (kind !== undefined && kind !== 'id' && kind !== 'element') reader.fail('nothing can follow');
    steps.push(step(reader, steps.length === 0));
  } while (reader.takes('/'));
  reader.end();
  return { text, steps };
}

function step(reader: SelectorReader, isFirst: boolean): XmlStep {
  if (reader.takes('@') || reader.takesAxis('attribute'))
    return close(reader, { kind: 'attribute', name: reader.name() });
  if (reader.takesAxis('namespace')) return close(reader, { kind: 'namespace', prefix: reader.ncName() });
  reader.takesAxis('child');
  if (reader.takesFunction('text')) return leaf(reader, 'text', '');
  if (reader.takesFunction('comment')) return leaf(reader, 'comment', '');
  if (reader.takesFunction('processing-instruction')) {
    return leaf(reader, 'instruction', reader.isAt(')') ? '' : reader.literal());
  }
  if (isFirst && reader.takesFunction('id')) {
    const id = reader.literal();
    reader.expect(')');
    return close(reader, { kind: 'id', id });
  }
  const name = reader.takes('*') ? undefined : reader.name();
  const conditions: XmlCondition[] = [];
  while (reader.takes('[')) conditions.push(condition(reader));
  return close(reader, { kind: 'element', name, conditions });
}

function leaf(reader: SelectorReader, kind: 'text' | 'comment' | 'instruction', target: string): XmlStep {
  reader.expect(')');
  let position: number | undefined;
  if (reader.takes('[')) {
    position = reader.position();
    reader.expect(']');
  }
  return close(reader, { kind, target, position });
}

function condition(reader: SelectorReader): XmlCondition {
  const result = conditionWithin(reader);
  reader.expect(']');
  return result;
}

function conditionWithin(reader: SelectorReader): XmlCondition {
  if (reader.isAtDigit()) return { kind: 'position', position: reader.position() };
  if (reader.takes('.')) return { kind: 'self', value: equalTo(reader) };
  const kind = reader.takes('@') || reader.takesAxis('attribute') ? 'attribute' : 'child';
  return { kind, name: reader.name(), value: equalTo(reader) };
}

function equalTo(reader: SelectorReader): string {
  reader.expect('=');
  return reader.literal();
}

type Unplaced = XmlStep extends infer S ? (S extends XmlStep ? Omit<S, 'end'> : never) : never;

function close(reader: SelectorReader, step: Unplaced): XmlStep {
  return { ...step, end: reader.at } as XmlStep;
}
