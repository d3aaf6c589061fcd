import { baseKey } from './base-key.js';

/** The parts of a reference that names a resource by type and id. https://hl7.org/fhir/R5/references.html#literal */
export interface ReferenceText {
  readonly type: string;
  readonly id: string;
  readonly version?: string;
  /** Base URL before `Type/id`, without the slash, as `baseKey` has it; absent in a relative reference. */
  readonly base?: string;
}

const HISTORY = '_history';
const SLASH = 47;

/**
 * Reads `Type/id`, `Type/id/_history/v` and absolute URLs ending so; undefined for everything else (`urn:…`, `#…`,
 * canonicals, searches). Whether the type exists is not asked: a word that begins with a capital counts as one.
 */
export function readReference(text: string): ReferenceText | undefined {
  let idAt = text.lastIndexOf('/');
  if (idAt <= 0) return undefined;
  let idEnd = text.length;
  let version: string | undefined;
  let typeAt = text.lastIndexOf('/', idAt - 1);
  if (idAt - typeAt - 1 === HISTORY.length && text.startsWith(HISTORY, typeAt + 1)) {
    if (typeAt <= 0 || !isId(text, idAt + 1, idEnd)) return undefined;
    version = text.slice(idAt + 1);
    idEnd = typeAt;
    idAt = text.lastIndexOf('/', idEnd - 1);
    if (idAt <= 0) return undefined;
    typeAt = text.lastIndexOf('/', idAt - 1);
  }
  if (!isTypeName(text, typeAt + 1, idAt) || !isId(text, idAt + 1, idEnd)) return undefined;
  const type = text.slice(typeAt + 1, idAt);
  const id = text.slice(idAt + 1, idEnd);
  if (typeAt < 0) return version === undefined ? { type, id } : { type, id, version };
  if (!isBase(text, typeAt)) return undefined;
  const base = baseKey(text.slice(0, typeAt));
  return version === undefined ? { type, id, base } : { type, id, version, base };
}

/** A base is a URL with a host: `http://x`, not `x`, not `http:/`. */
function isBase(text: string, end: number): boolean {
  const colon = text.indexOf(':');
  return (
    colon > 0 &&
    colon + 3 < end &&
    text.charCodeAt(colon + 1) === SLASH &&
    text.charCodeAt(colon + 2) === SLASH &&
    text.charCodeAt(colon + 3) !== SLASH
  );
}

function isTypeName(text: string, start: number, end: number): boolean {
  if (end <= start) return false;
  const first = text.charCodeAt(start);
  if (first < 65 || first > 90) return false;
  for (let i = start + 1; i < end; i++) {
    const c = text.charCodeAt(i) | 32;
    if (c < 97 || c > 122) return false;
  }
  return true;
}

/** https://hl7.org/fhir/R5/datatypes.html#id */
function isId(text: string, start: number, end: number): boolean {
  if (end <= start || end - start > 64) return false;
  for (let i = start; i < end; i++) {
    const c = text.charCodeAt(i);
    const ok = (c >= 97 && c <= 122) || (c >= 65 && c <= 90) || (c >= 48 && c <= 57) || c === 45 || c === 46;
    if (!ok) return false;
  }
  return true;
}
