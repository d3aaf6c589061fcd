import { ACCESS_ERRORS, type AccessErrorCode } from '../../fhir/catalog/access-errors.js';
import { FhirError } from '../../fhir/errors.js';
import { parseScope } from '../scopes/parse-scope.js';
import { commonLetters, type Pair, type Scope } from '../scopes/scope.js';
import type { Access } from '../scopes/access.js';
import { lackedOf, printNeeded, type NeededScopes } from './needed-scopes.js';

/** Details of a refusal. Each belongs to some refusals only. */
export interface RefusalDetails {
  /** For `scope-missing`: what would suffice. */
  readonly needed?: NeededScopes;
  /** What of that the token lacks; it is named where it is not all. */
  readonly lacked?: NeededScopes;
  /** For `token-unverified`: seconds until it is worth trying again. */
  readonly retryAfter?: number;
  /** Instead of the words of the catalogue. */
  readonly text?: string;
}

/** What `WWW-Authenticate` says; empty: credentials did not come, so nothing is said about them. Others have no such header. */
const CHALLENGES: Readonly<Partial<Record<AccessErrorCode, string>>> = {
  'token-missing': '',
  'token-malformed': 'invalid_request',
  'token-invalid': 'invalid_token',
  'token-expired': 'invalid_token',
  'scope-missing': 'insufficient_scope',
};

/** End of a refusal where the token lacks no letter, so that constraints are the reason. */
const BOUND = '; it gives this under a constraint alone, which is not enough here';

/** A refusal for want of a token or a scope. */
export function refusal(code: AccessErrorCode, details: RefusalDetails = {}): FhirError {
  const { needed, lacked, retryAfter, text = ACCESS_ERRORS[code].text } = details;
  const scope = needed === undefined ? '' : printNeeded(needed);
  const missing = lacked === undefined ? '' : printNeeded(lacked);
  const isBound = lacked !== undefined && missing === '';
  const which = isBound ? BOUND : missing === '' || missing === scope ? '' : `; it lacks ${missing}`;
  const logged = withoutConstraints([lacked, needed]);
  const error = CHALLENGES[code];
  return new FhirError(code, scope === '' ? text : `${text}: ${scope}${which}`, {
    headers: {
      ...(error !== undefined && { 'WWW-Authenticate': writeChallenge(error, ACCESS_ERRORS[code].text, scope) }),
      ...(retryAfter !== undefined && { 'Retry-After': String(retryAfter) }),
    },
    ...(logged !== undefined && { missingScopes: logged }),
  });
}

/** The first that is not empty. What constraints compare with may be about a person, and goes into no log. */
function withoutConstraints(all: readonly (NeededScopes | undefined)[]): string | undefined {
  const texts = all.flatMap((one) => {
    if (one === undefined) return [];
    const scopes = one.scopes.map((scope) => ({ ...scope, pairs: [] }));
    return printNeeded({ scopes, customs: one.customs });
  });
  return texts.find((text) => text !== '');
}

/**
 * That scopes are missing. It names all that the request needs, and which of them the token lacks: its holder knows what it gives, and
 * learns nothing of the data.
 */
export function scopeMissing(needed: NeededScopes, access: Access): FhirError {
  return refusal('scope-missing', { needed, lacked: lackedOf(needed, access) });
}

/**
 * That what a request is about is outside the constraint under which the token gives that. The constraint is named: the holder of the
 * token knows them.
 *
 * @param what it is about, as the beginning of a sentence
 * @param needed what would suffice
 * @param held canonical scopes of the token
 */
export function constraintsMissed(what: string, needed: NeededScopes, held: string): FhirError {
  const given = held.split(' ').flatMap((text) => {
    // Canonical ones are in letters: no word has to be read.
    const scope = parseScope(text, 'rs');
    if (scope === undefined) return [];
    const concerns = (of: Scope): boolean =>
      (scope.type === of.type || scope.type === '*') && commonLetters(scope.letters, of.letters) !== '';
    return needed.scopes.some(concerns) ? [{ text, scope }] : [];
  });
  const constraints = given.flatMap(({ scope: { pairs } }) => (pairs.length === 0 ? [] : [printPairs(pairs)]));
  const scopes = given.map(({ text: each }) => each).join(' ');
  const text = `${what} lies outside of what the token gives (${scopes}): ${unmet(constraints)}; beyond that it needs`;
  return refusal('scope-missing', { needed, text });
}

function unmet(constraints: readonly string[]): string {
  return constraints.length === 1
    ? `the constraint ${constraints[0]} is not met`
    : `of the constraints ${constraints.join(', ')} not enough are met`;
}

function printPairs(pairs: readonly Pair[]): string {
  return pairs.map(([name, value]) => `${name}=${value}`).join('&');
}

/** https://www.rfc-editor.org/rfc/rfc6750#section-3 */
function writeChallenge(error: string, description: string, scope: string): string {
  const attributes = [
    'realm="fhir"',
    ...(error === '' ? [] : [`error="${error}"`, `error_description="${safe(description)}"`]),
    ...(scope === '' ? [] : [`scope="${safe(scope)}"`]),
  ];
  return `Bearer ${attributes.join(', ')}`;
}

/** What may be between quotation marks there: printable ASCII without these and backslashes. */
function safe(text: string): string {
  return text.replace(/[^\x20\x21\x23-\x5B\x5D-\x7E]/g, '');
}
