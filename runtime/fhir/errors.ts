import { ACCESS_ERRORS } from './catalog/access-errors.js';
import { EXCHANGE_ERRORS } from './catalog/exchange-errors.js';
import { RULE_ERRORS } from './catalog/rule-errors.js';
import { STRUCTURE_ERRORS } from './catalog/structure-errors.js';
import { SUBSCRIPTION_ERRORS } from './catalog/subscription-errors.js';

/** How a kind of failure is reported: HTTP status, FHIR issue type, and words for when there are no better ones. */
export interface ErrorRow {
  readonly status: number;
  /** https://hl7.org/fhir/R5/valueset-issue-type.html */
  readonly issue: string;
  readonly text: string;
}

/**
 * Every way in which a request can fail. The keys are stable: clients find them in `details.coding` and may rely on
 * them. Order: by status.
 */
export const ERRORS = {
  ...STRUCTURE_ERRORS,
  ...RULE_ERRORS,
  ...ACCESS_ERRORS,
  ...EXCHANGE_ERRORS,
  ...SUBSCRIPTION_ERRORS,
  'xml-syntax': { status: 400, issue: 'structure', text: 'The body is not well-formed XML' },
  'xml-forbidden': { status: 400, issue: 'structure', text: 'The body has a part of XML that FHIR does not use' },
  'xml-depth': { status: 400, issue: 'structure', text: 'The body is nested too deeply' },
  'json-syntax': { status: 400, issue: 'structure', text: 'The body is not JSON' },
  'json-duplicate-key': { status: 400, issue: 'structure', text: 'A JSON object has a property twice' },
  'json-forbidden-key': { status: 400, issue: 'structure', text: 'A JSON object has a property that no resource has' },
  'json-depth': { status: 400, issue: 'structure', text: 'The body is nested too deeply' },
  'json-encoding': { status: 400, issue: 'structure', text: 'The body is not valid Unicode' },
  'body-missing': { status: 400, issue: 'required', text: 'The request needs a resource as its body' },
  'body-encoding': { status: 400, issue: 'structure', text: 'The body is not what its Content-Encoding says' },
  'body-incomplete': { status: 400, issue: 'incomplete', text: 'The body ended too early' },
  'not-a-resource': { status: 400, issue: 'structure', text: 'The body is not a resource' },
  'type-mismatch': { status: 400, issue: 'invalid', text: 'The body is of another type than the URL names' },
  'id-missing': { status: 400, issue: 'required', text: 'The body has no id' },
  'id-mismatch': { status: 400, issue: 'invalid', text: 'The body has another id than the URL' },
  'id-invalid': { status: 400, issue: 'value', text: 'An id is 1 to 64 letters, digits, "-" and "."' },
  structure: { status: 400, issue: 'structure', text: 'An element has a form that its type does not allow' },
  'resource-subsetted': {
    status: 400,
    issue: 'business-rule',
    text: 'The resource is tagged SUBSETTED: it is incomplete; send the whole resource, without the tag',
  },
  'request-invalid': { status: 400, issue: 'invalid', text: 'This is not an HTTP request' },
  'url-invalid': { status: 400, issue: 'invalid', text: 'The URL cannot be read' },
  'method-unknown': { status: 400, issue: 'not-supported', text: 'The server does not know this method of HTTP' },
  'header-invalid': { status: 400, issue: 'invalid', text: 'A header cannot be read' },
  'criteria-missing': {
    status: 400,
    issue: 'required',
    text: 'The URL needs an id, [type]/[id], or criteria: [type]?identifier=…, say',
  },
  'bundle-type': { status: 400, issue: 'not-supported', text: 'A Bundle of this type is not executed' },
  'bundle-entry': { status: 400, issue: 'invalid', text: 'An entry of the Bundle cannot be executed' },
  'bundle-identity': { status: 400, issue: 'duplicate', text: 'Two entries of the Bundle are about one resource' },
  'bundle-placeholder': { status: 400, issue: 'value', text: 'No entry of the Bundle can be meant' },
  'parameter-unknown': { status: 400, issue: 'not-supported', text: 'Unknown parameter' },
  'modifier-unknown': { status: 400, issue: 'not-supported', text: 'Unknown modifier of a parameter' },
  'prefix-unknown': { status: 400, issue: 'not-supported', text: 'Unknown prefix of a value' },
  'parameter-invalid': { status: 400, issue: 'value', text: 'A parameter has a value that it cannot have' },
  'graphql-syntax': { status: 400, issue: 'structure', text: 'The GraphQL document cannot be read' },
  'graphql-invalid': { status: 400, issue: 'invalid', text: 'The GraphQL document is not valid' },
  'graphql-limit': { status: 400, issue: 'too-costly', text: 'The GraphQL query asks for too much' },
  'graphql-flatten': {
    status: 400,
    issue: 'processing',
    text: 'The values of the answer cannot be flattened as the directives say',
  },
  'page-invalid': {
    status: 400,
    issue: 'value',
    text: 'This is no page link of this server, or one that is too old; start again at the first page',
  },
  'patch-invalid': { status: 400, issue: 'structure', text: 'The patch is not written as its format demands' },
  'patch-identity': {
    status: 400,
    issue: 'value',
    text: 'A patch may not make another resource of the one it changes',
  },
  'patch-target': {
    status: 400,
    issue: 'value',
    text: 'The patch names something that is absent or cannot be changed',
  },
  'async-only': {
    status: 400,
    issue: 'business-rule',
    text: 'This takes longer than a request may; send the header Prefer: respond-async',
  },
  'open-mode-host': { status: 403, issue: 'forbidden', text: 'Without authorization only loopback is served' },
  'open-mode-proxy': { status: 403, issue: 'forbidden', text: 'Without authorization no forwarded request is served' },
  'form-origin': { status: 403, issue: 'forbidden', text: 'Only a page of this server may send this form' },
  'open-mode-origin': { status: 403, issue: 'forbidden', text: 'Without authorization no foreign web page may write' },
  'mount-local': {
    status: 403,
    issue: 'forbidden',
    text: 'Without the setting base-url only this machine is served, and directly',
  },
  'mount-insecure': {
    status: 403,
    issue: 'forbidden',
    text: 'Over plain http only this machine and trusted proxies (proxy.trust) are served',
  },
  'proxy-untrusted': { status: 403, issue: 'forbidden', text: 'This server is reached through its proxy alone' },
  'answer-too-large': { status: 422, issue: 'too-costly', text: 'The answer is too large to be kept' },
  'job-unreadable': { status: 422, issue: 'processing', text: 'The job cannot be read' },
  'job-unknown': { status: 404, issue: 'not-found', text: 'There is no such job, or none of this client' },
  'unknown-path': { status: 404, issue: 'not-supported', text: 'There is nothing at this URL' },
  'unknown-type': { status: 404, issue: 'not-supported', text: 'Unknown resource type' },
  'unknown-operation': { status: 404, issue: 'not-supported', text: 'Unknown operation' },
  'diff-impossible': { status: 422, issue: 'processing', text: 'No patch tells the difference of the two versions' },
  'snapshot-impossible': { status: 422, issue: 'processing', text: 'No snapshot can be made of the definition' },
  'closure-unknown': { status: 404, issue: 'not-found', text: 'There is no closure table of this name; initialize it' },
  'closure-outdated': { status: 422, issue: 'conflict', text: 'The closure table has to be initialized again' },
  'closure-concept': { status: 422, issue: 'code-invalid', text: 'The concept cannot be put into a closure table' },
  'value-set-invalid': { status: 422, issue: 'processing', text: 'The value set cannot be used' },
  'concept-map-invalid': { status: 422, issue: 'processing', text: 'The concept map cannot be used' },
  'terminology-not-found': {
    status: 404,
    issue: 'not-found',
    text: 'The server does not know the code system, value set or concept map',
  },
  'expansion-too-costly': {
    status: 422,
    issue: 'too-costly',
    text: 'The value set has too many codes to be expanded at once',
  },
  'operation-unsupported': {
    status: 501,
    issue: 'not-supported',
    text: 'This server does not support the operation',
  },
  'not-wired': { status: 404, issue: 'not-supported', text: 'This server does not offer that interaction' },
  'not-found': { status: 404, issue: 'not-found', text: 'There is no such resource' },
  'read-only': { status: 405, issue: 'not-supported', text: 'This server is read-only (setting readOnly)' },
  'method-not-allowed': { status: 405, issue: 'not-supported', text: 'The URL does not take this method' },
  'not-acceptable': { status: 406, issue: 'not-supported', text: 'The server cannot answer in that format' },
  'request-timeout': { status: 408, issue: 'timeout', text: 'The request took too long to arrive' },
  'version-conflict': { status: 409, issue: 'conflict', text: 'Others keep changing this resource; try again' },
  'reference-dangling': { status: 409, issue: 'conflict', text: 'A reference leads to nothing' },
  'still-referred': { status: 409, issue: 'conflict', text: 'Others refer to the resource' },
  'id-taken': {
    status: 409,
    issue: 'duplicate',
    text: 'The id is that of a resource that does not fulfil the criteria',
  },
  'feed-expired': {
    status: 410,
    issue: 'expired',
    text: 'The log of changes does not go back so far; begin anew with $export, and go on from its transactionTime with _since',
  },
  deleted: { status: 410, issue: 'deleted', text: 'The resource is deleted' },
  'precondition-failed': { status: 412, issue: 'conflict', text: 'The resource is not in the state that is required' },
  'body-too-large': { status: 413, issue: 'too-long', text: 'The body is too large' },
  'too-many-entries': { status: 413, issue: 'too-long', text: 'The Bundle has too many entries' },
  'resource-too-large': { status: 413, issue: 'too-long', text: 'The resource is too large' },
  'transaction-too-large': { status: 413, issue: 'too-long', text: 'The changes are too many to be done at once' },
  'patch-too-large': {
    status: 413,
    issue: 'too-costly',
    text: 'The patch has too many operations or needs too much work',
  },
  'url-too-long': { status: 414, issue: 'too-long', text: 'The URL is too long' },
  'unsupported-media-type': { status: 415, issue: 'not-supported', text: 'The server cannot read that format' },
  'range-not-satisfiable': { status: 416, issue: 'value', text: 'The content has no such range' },
  'view-invalid': { status: 422, issue: 'invalid', text: 'The view cannot be run' },
  'merge-refused': { status: 422, issue: 'business-rule', text: 'The resources cannot be merged' },
  'write-refused': { status: 422, issue: 'business-rule', text: 'The application refuses this resource' },
  'patch-test-failed': { status: 422, issue: 'processing', text: 'A test of the patch fails' },
  'too-many-jobs': { status: 429, issue: 'throttled', text: 'The client has as many jobs as it may have' },
  'too-many-requests': { status: 429, issue: 'throttled', text: 'The client sends more requests than it may' },
  'asked-too-often': { status: 429, issue: 'throttled', text: 'The state of the job is asked for too often' },
  'headers-too-large': { status: 431, issue: 'too-long', text: 'The headers are too large' },
  internal: { status: 500, issue: 'exception', text: 'An internal error; the log of the server tells more' },
  'body-consumed': {
    status: 500,
    issue: 'exception',
    text: 'The application read the body before Kiln: mount kiln() before express.json() and other body parsers',
  },
  'mount-path': { status: 500, issue: 'exception', text: 'Kiln is mounted on another path than its settings say' },
  'not-open': { status: 503, issue: 'transient', text: 'The server is not open' },
  'job-failed': { status: 500, issue: 'exception', text: 'The job failed' },
  'transfer-encoding': { status: 501, issue: 'not-supported', text: 'The server does not know the Transfer-Encoding' },
  'index-not-current': {
    status: 503,
    issue: 'incomplete',
    text: 'Index entries were made by other definitions: what is there may not be found',
  },
  'server-busy': { status: 503, issue: 'throttled', text: 'The server has too much to do at the moment; try again' },
  'body-unread': { status: 503, issue: 'exception', text: 'The thread that read the body ended; try again' },
  'too-costly': { status: 503, issue: 'too-costly', text: 'The request takes too long to answer; ask for less' },
  'store-unavailable': { status: 503, issue: 'no-store', text: 'The store does not work at the moment' },
  'store-busy': { status: 503, issue: 'lock-error', text: 'The store is busy; try again' },
} as const satisfies Record<string, ErrorRow>;

/** Stable code of a failure. */
export type ErrorCode = keyof typeof ERRORS;

/**
 * A part of a request beside its body, by the name that an entry of a Bundle has for it. Over HTTP all but the URL are
 * headers. https://hl7.org/fhir/R5/bundle-definitions.html#Bundle.entry.request
 */
export type RequestPart = 'url' | 'ifMatch' | 'ifNoneMatch' | 'ifNoneExist' | 'ifModifiedSince';

/** Property names and positions in arrays (from 0) that lead from the resource to a place in its JSON. */
export type JsonPath = readonly (string | number)[];

/** One thing that is wrong. */
export interface Issue {
  readonly code: ErrorCode;
  readonly text: string;
  /** Stable code that tells more than `code` does, which then decides the status alone. */
  readonly detail?: string;
  /** FHIR issue type, where it is not that of `code`. */
  readonly issue?: string;
  /** Key of the rule that is broken: `dom-3`. */
  readonly rule?: string;
  /** Error code of document sharing, which IHE gives no code system: `XDSUnknownPatientId`. */
  readonly sharing?: string;
  /** FHIRPath of the element. */
  readonly expression?: string;
  /** The same place in the JSON of the resource; of a missing element, what should hold it. */
  readonly path?: JsonPath;
  /** Absent: it is an error. */
  readonly severity?: 'error' | 'warning' | 'information';
  /** Instead of an element: what of the request is at fault. Of a header, the text begins with its name. */
  readonly part?: RequestPart;
  /** Name of the parameter of the URL that is at fault, as it was sent. */
  readonly parameter?: string;
  /** Technical detail for people, which follows the text in brackets; never a stack. */
  readonly diagnostics?: string;
}

/**
 * An expected failure: what a client did wrong or has to know. Anything else that is thrown is a defect.
 * With several issues the first decides the status.
 */
export class FhirError extends Error {
  readonly issues: readonly [Issue, ...Issue[]];
  /** HTTP headers that belong to the answer, such as `Allow`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Scopes whose lack is the reason, without constraints: for the log. */
  readonly missingScopes: string | undefined;

  constructor(
    code: ErrorCode,
    text: string = ERRORS[code].text,
    {
      headers = {},
      missingScopes,
      ...more
    }: Pick<Issue, 'issue' | 'expression' | 'part' | 'parameter' | 'diagnostics'> & {
      readonly headers?: Readonly<Record<string, string>>;
      readonly missingScopes?: string;
    } = {},
  ) {
    super(text);
    this.name = 'FhirError';
    this.headers = headers;
    this.missingScopes = missingScopes;
    this.issues = [{ code, text, ...more }];
  }

  /** A failure of several issues, each as it is. */
  static of(issues: readonly [Issue, ...Issue[]]): FhirError {
    const error = new FhirError(issues[0].code, issues[0].text);
    return Object.assign(error, { issues });
  }

  /** The same failure with each of its issues changed; the rest stays. */
  map(change: (issue: Issue) => Issue): FhirError {
    const [first, ...others] = this.issues;
    const { headers, missingScopes } = this;
    return Object.assign(FhirError.of([change(first), ...others.map(change)]), { headers, missingScopes });
  }

  /** Code of the first issue. */
  get code(): ErrorCode {
    return this.issues[0].code;
  }

  /** HTTP status of the answer. */
  get status(): number {
    return ERRORS[this.code].status;
  }
}

/** Describes an error for the log, without the text of one that is a defect. */
export function describeError(error: unknown): string {
  if (!(error instanceof FhirError)) return 'an internal error';
  const [{ text, diagnostics }] = error.issues;
  return diagnostics === undefined ? text : `${text} (${diagnostics})`;
}
