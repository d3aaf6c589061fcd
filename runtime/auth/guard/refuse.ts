import { FhirError, type ErrorCode, type Issue } from '../../fhir/errors.js';
import { ACCESS_ERRORS, type AccessErrorCode, type AccessErrorRow } from './access-errors.js';
import { printNeeded, type NeededScopes } from './needed-scopes.js';

/** What belongs to some refusals. */
export interface RefusalDetails {
  /** For `scope-missing`: what would suffice. */
  readonly needed?: NeededScopes;
  /** For `token-unverified`: seconds until it is worth trying again. */
  readonly retryAfter?: number;
  /** Instead of the words of the table. */
  readonly text?: string;
}

/** Until the catalogue has the codes of `ACCESS_ERRORS`: codes of it that have the same status, as near as there are. */
const CATALOGUE: Readonly<Record<number, ErrorCode>> = {
  400: 'header-invalid',
  401: 'request-invalid',
  403: 'open-mode-host',
  503: 'store-unavailable',
};

/** A refusal for want of a token or a scope. Its code is in `issues[0].detail`. */
export class AccessError extends FhirError {
  constructor(
    readonly reason: AccessErrorCode,
    details: RefusalDetails = {},
  ) {
    const row: AccessErrorRow = ACCESS_ERRORS[reason];
    const { needed, retryAfter, text = row.text } = details;
    const scope = needed === undefined ? '' : printNeeded(needed);
    const challenge = row.challenge === undefined ? undefined : writeChallenge(row.challenge, row.text, scope);
    super(CATALOGUE[row.status] ?? 'internal', text, {
      issue: row.issue,
      headers: {
        ...(challenge !== undefined && { 'WWW-Authenticate': challenge }),
        ...(retryAfter !== undefined && { 'Retry-After': String(retryAfter) }),
      },
    });
    this.name = 'AccessError';
    const [issue] = this.issues;
    const told = scope === '' ? text : `${text}: ${scope}`;
    Object.assign(this, { issues: [{ ...issue, text: told, detail: reason }] });
  }

  override get status(): number {
    return ACCESS_ERRORS[this.reason].status;
  }

  override map(change: (issue: Issue) => Issue): FhirError {
    return Object.assign(new AccessError(this.reason), { issues: this.issues.map(change), headers: this.headers });
  }
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

/** What may stand between quotation marks there: printable ASCII without these and backslashes. */
function safe(text: string): string {
  return text.replace(/[^\x20\x21\x23-\x5B\x5D-\x7E]/g, '');
}
