import { FhirError, type ErrorCode, type Issue } from '../../fhir/errors.js';
import type { XmlRefusal } from './open-parser.js';
import { Places } from './places.js';

/** Kinds of faults in XML, each with the code of the error catalogue that reports it. */
export const XML_CODES = {
  /** Not well-formed, or no XML 1.0 in UTF-8. */
  syntax: 'xml-syntax',
  /** DOCTYPE, entities and processing instructions. */
  forbidden: 'xml-forbidden',
  depth: 'xml-depth',
  /** Well-formed, but no FHIR resource. */
  notResource: 'not-a-resource',
  /** An element, an attribute, text or a namespace where none belongs; a value that its type does not have. */
  content: 'structure',
  size: 'body-too-large',
  /** A resource that XML cannot hold. */
  unwritable: 'not-acceptable',
} as const satisfies Record<string, ErrorCode>;

/** A way in which XML can be wrong. */
export type XmlFault = keyof typeof XML_CODES;

/** One or several things that are wrong with a document, in the order in which they are there. */
export class XmlError extends FhirError {
  override readonly issues: readonly [Issue, ...Issue[]];

  constructor(issues: readonly [Issue, ...Issue[]]) {
    super(issues[0].code, issues[0].text);
    this.name = 'XmlError';
    this.issues = issues;
  }
}

/** An issue with the code for this fault. */
export function xmlIssue(fault: XmlFault, text: string, expression?: string): Issue {
  return { code: XML_CODES[fault], text, ...(expression === undefined ? {} : { expression }) };
}

/** Returns the issue for the fault that ended the reading of a text, with line and column. */
export function refusalIssue({ fault, message, at }: XmlRefusal, text: string): Issue {
  const short = message.length > 200 ? `${message.slice(0, 200)}…` : message;
  return xmlIssue(fault, `${new Places(text).of(at)}: ${short}`);
}
