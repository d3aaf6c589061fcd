import { BSONRegExp, type Document } from 'mongodb';

import type { FieldTest, FieldTests, Range } from './row-test.js';
import { anyCasePatterns, escapeRegex, fitsRegex } from './text.js';

/** Whether tests can be written in the language of filters; else they are written as expressions. */
export function isMatchable(tests: FieldTests): boolean {
  return Object.values(tests).every((test) => {
    return isFieldMatchable(test);
  });
}

function isFieldMatchable(test: FieldTest): boolean {
  if ('contains' in test) return fitsRegex(escapeRegex(test.contains));
  if ('ends' in test) return fitsRegex(endPattern(test.ends));
  if ('differs' in test) return isFieldMatchable(test.differs);
  if ('equalsAnyCase' in test) return equalPatterns(test.equalsAnyCase).every(fitsRegex);
  return !('beginsAnyCase' in test) || anyCasePatterns(test.beginsAnyCase).every(fitsRegex);
}

/** Matches the very end of a text: a dollar sign also matches before a final line feed. */
const END = '\\z';

function endPattern(text: string): string {
  return escapeRegex(text) + END;
}

function equalPatterns(lower: string): string[] {
  return anyCasePatterns(lower).map((pattern) => pattern + END);
}

/** Tests as the filter of an element. Values occur only as operands, so none can be interpreted as an operator. */
export function toMatch(tests: FieldTests): Document {
  return Object.fromEntries(Object.entries(tests).map(([name, test]) => [name, fieldMatch(test)]));
}

function fieldMatch(test: FieldTest): Document {
  if ('in' in test) return test.in.length === 1 ? { $eq: test.in[0] } : { $in: [...test.in] };
  if ('range' in test) return rangeMatch(test.range);
  if ('isAbsent' in test) return { $exists: false };
  if ('contains' in test) return { $regex: escapeRegex(test.contains) };
  if ('pattern' in test) return { $regex: test.pattern };
  if ('some' in test) return { $elemMatch: toMatch(test.some) };
  if ('ends' in test) return { $regex: endPattern(test.ends) };
  if ('differs' in test) return { $not: fieldMatch(test.differs) };
  if ('equalsAnyCase' in test)
    return { $in: equalPatterns(test.equalsAnyCase).map((pattern) => new BSONRegExp(pattern)) };
  return { $in: anyCasePatterns(test.beginsAnyCase).map((pattern) => new BSONRegExp(pattern)) };
}

/** A range as operators. One without bounds is fulfilled by what is there. */
export function rangeMatch(range: Range): Document {
  const bounds = Object.entries(range).map(([name, value]) => [`$${name}`, value as unknown]);
  return bounds.length === 0 ? { $exists: true } : Object.fromEntries(bounds);
}
