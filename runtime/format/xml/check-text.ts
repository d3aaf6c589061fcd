import { XmlRefusal } from './open-parser.js';

/** Sees to what the parser would say wrongly or late. @throws XmlRefusal */
export function checkText(text: string): void {
  checkSurrogates(text);
  checkStart(text);
}

/** The parser takes the unit after a lone high surrogate for its other half, so none may reach it. */
function checkSurrogates(text: string): void {
  if ((text as unknown as WellFormed).isWellFormed()) return;
  throw new XmlRefusal('syntax', 'half of a surrogate pair', text.search(/\p{Surrogate}/u));
}

/** Says what a text is not; the parser would say so only at its end. */
function checkStart(text: string): void {
  const at = text.search(/[^\ufeff \t\r\n]/);
  if (at < 0) throw new XmlRefusal('syntax', 'there is no element', 0);
  if (text.charAt(at) !== '<') throw new XmlRefusal('syntax', 'this is not XML, which begins with "<"', at);
}

/** Node has it, the library of TypeScript's ES2023 not yet. */
interface WellFormed {
  isWellFormed(): boolean;
}
