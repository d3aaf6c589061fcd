import type { ReadNotes } from './read-notes.js';
import type { WriteLedger } from './write/write-ledger.js';
import type { Principal } from '../auth/scopes/principal.js';
import type { Interaction, Level } from '../contract/index.js';
import type { FhirError } from '../fhir/errors.js';
import type { JsonObject, JsonValue, Resource } from '../fhir/resource.js';
import type { SentPatch } from '../patch/sent-patch.js';

/** Conditions that a client sets with headers. https://hl7.org/fhir/R5/http.html#concurrency */
export interface Conditions {
  readonly ifMatch?: string;
  readonly ifNoneMatch?: string;
  readonly ifNoneExist?: string;
  /** Milliseconds since the epoch. */
  readonly ifModifiedSince?: number;
  /** It is meant to the millisecond, as entries of Bundles have it; headers have whole seconds. */
  readonly isSinceExact?: true;
  /** Milliseconds since the epoch. */
  readonly ifUnmodifiedSince?: number;
}

/** Wishes of the header `Prefer`. https://hl7.org/fhir/R5/http.html#ops */
export interface Preferences {
  readonly return?: 'minimal' | 'representation' | 'OperationOutcome';
  readonly handling?: 'strict' | 'lenient';
  /** https://hl7.org/fhir/R5/async-bulk.html */
  readonly respondAsync?: true;
  /** How long the client of an asynchronous request would wait for the ordinary answer, in seconds. RFC 7240, 4.3 */
  readonly wait?: number;
  /** `async-form=redirect`: the finished status leads to the ordinary answer. */
  readonly isRedirect?: true;
  /** `Cache-Control: no-cache`: what is under way already will not do. */
  readonly isFresh?: true;
}

/** Content of a Binary as a client sends it: bytes, no resource. https://hl7.org/fhir/R5/binary.html#rest */
export interface SentContent {
  readonly contentType: string;
  /** Can be read once. Throws what is wrong with it as a FhirError. */
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Header `X-Security-Context`: a reference. */
  readonly securityContext?: string;
  /** What it was, once an operation has read it as a text. */
  text?: string;
}

/** Where a request comes from, for audit and log. */
export interface Trace {
  readonly requestId: string;
  /** Of the network. */
  readonly address?: string;
}

/** One request, whether it came over HTTP, as an entry of a Bundle, or from a test. */
export interface Call {
  readonly interaction: Interaction;
  /** `OperationRow.id`; present exactly where the interaction is `operation`. */
  readonly operation?: string;
  /** The level at which the operation is called. */
  readonly level?: Level;
  /** Where it comes from, for the audit; absent: from within the server. */
  readonly trace?: Trace;
  /** The client. What the interaction does is bounded by what that may see and do; there is no call without. */
  readonly principal: Principal;
  readonly type?: string;
  readonly id?: string;
  readonly versionId?: string;
  /** Of a search in the compartment that `type` and `id` name: the type that is searched, or `*` for all of its types. */
  readonly member?: string;
  /** Those of the URL. */
  readonly params: URLSearchParams;
  /** Those of the body of a search that was posted, which count beside those of the URL. */
  readonly form?: URLSearchParams;
  /** The parsed body; absent: there is none. */
  readonly body?: JsonValue;
  /** Why the body could not be read, for an operation that reports this itself. */
  readonly bodyFault?: FhirError;
  /** The JSON text that the body was read from; absent: it came in another form. */
  readonly text?: () => string;
  /** Instead of a body: content of a Binary. */
  readonly content?: SentContent;
  /** Instead of a body: a patch. */
  readonly patch?: SentPatch;
  /** Where the patch is, if it came in a resource: what is wrong with it is reported there. */
  readonly patchPlace?: string;
  /** The operation was called with DELETE. */
  readonly isDeletion?: true;
  /** Of a Binary the content is wanted, not the resource. */
  readonly wantsContent?: true;
  readonly conditions: Conditions;
  readonly prefer: Preferences;
  /** Header `X-Provenance`: what is to be stored beside what is written. */
  readonly provenance?: Resource;
  /** Header `Accept` of a read or of a call of an operation, as it was sent. */
  readonly accept?: string;
  /** Header `Accept-Language`, as it was sent. */
  readonly languages?: string;
  /** Absolute URL of the FHIR base as the client sees it, without a trailing slash. */
  readonly base: string;
  /** Aborts when no client waits for the answer any more. */
  readonly signal?: AbortSignal;
  /** Of an entry of a transaction: the resource that another entry writes and that a reference means; undefined: there is none. */
  readonly together?: (reference: string) => Resource | undefined;
  /** A job makes the call; absent: a client waits for the answer. */
  readonly ledger?: WriteLedger;
  /** The call is an entry of a Bundle: others wait for it. */
  readonly isEntry?: true;
  /** Whether the call is an entry of a transaction that provides documents (IHE ITI-65). */
  readonly isProvided?: true;
}

/** Content of a Binary on its way out. */
export interface ReplyContent {
  readonly contentType: string;
  /** In bytes. */
  readonly size: number;
  /** Reference, for `X-Security-Context`. */
  readonly securityContext?: string;
  /** Name under which clients save it: letters, digits, `_`, `-` and `.`. */
  readonly fileName?: string;
  /** It is the JSON text of a resource, which is written in other forms up to so many bytes. */
  readonly ofResource?: { readonly largest: number };
  /** It is text, sent compressed to clients that take it so. */
  readonly isText?: true;
  /** The bytes, or those `from` to `to` (included). */
  open(range?: { readonly from: number; readonly to: number }): Promise<AsyncIterable<Uint8Array>>;
}

/**
 * A body that is no resource: JSON of another form, plain text, CSV, NDJSON, HTML. The wanted format has no influence on it.
 * As an entry of a Bundle it becomes a Binary.
 */
export interface ReplyBody {
  /** With its charset. */
  readonly contentType: string;
  /** A text, or pieces that are sent as they come; those are never held in memory as a whole. */
  readonly content: string | AsyncIterable<string | Uint8Array>;
  /** What its type is called for a client that accepts this name and not `contentType`. */
  readonly otherType?: string;
  /** It is JSON, which a client that takes XML alone is refused. */
  readonly isJson?: true;
}

/** A large Bundle in parts: its JSON text is all of them in a row, with commas between the entries. */
export interface ReplyBundle {
  /** Ends with `"entry":[`. */
  readonly head: string;
  readonly entries: readonly string[];
  /** Begins with `]`. */
  readonly tail: string;
}

/** The JSON text in one piece. */
export function joinBundle({ head, entries, tail }: ReplyBundle): string {
  return `${head}${entries.join(',')}${tail}`;
}

/**
 * The answer to a call. At most one of `resource`, `json`, `bundle`, `content` and `body` is set; none of them: an answer
 * without a body.
 */
export interface Reply {
  readonly status: number;
  readonly resource?: JsonObject;
  /** A resource as JSON text, such as the store holds. */
  readonly json?: string;
  readonly bundle?: ReplyBundle;
  readonly content?: ReplyContent;
  readonly body?: ReplyBody;
  /** Headers beside those that follow from the other members. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The content is part of a resource: between these, as base64, it is its JSON text. */
  readonly around?: { readonly head: string; readonly tail: string };
  /** Version id, as the `ETag` names it. */
  readonly versionId?: string;
  /** Milliseconds since the epoch. */
  readonly lastUpdated?: number;
  /** URL of the version that was created, updated or found, relative to the base. */
  readonly location?: string;
  /** URL of what the answer is about, relative to the base: a version that was there already, or a job. */
  readonly contentLocation?: string;
  /** The same object answers again and again: what it is written as may be kept beside it. */
  readonly lasting?: true;
  /** For the audit: resources that the answer is about and does not show, parsed or as text. */
  readonly about?: readonly { readonly type: string; readonly id: string; readonly json?: JsonValue }[];
  /** For the audit: whom the resources are about that the answer is made of. Complete when the answer was sent. */
  readonly reads?: ReadNotes;
}

/** A Bundle of more characters is sent entry by entry. */
const LARGE = 256 * 1024;

/** The answer that is a Bundle: one text, or in parts where it is large. */
export function replyBundle(bundle: ReplyBundle): Reply {
  const size = bundle.entries.reduce((sum, { length }) => sum + length, 0);
  return size > LARGE ? { status: 200, bundle } : { status: 200, json: joinBundle(bundle) };
}
