/** A request to one of the endpoints of the authorization server. */
export interface OAuthRequest {
  readonly method: string;
  /** Header `Content-Type`. */
  readonly contentType: string | undefined;
  /** What follows the `?` of the URL; empty: nothing. */
  readonly query: string;
  /** Names in lower case. Of them only `authorization` is read. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /**
   * The body as text. The reader stops after `MAX_FORM` bytes and one more, which is refused as too large; bytes that are
   * no UTF-8 become U+FFFD, which is refused too.
   */
  readonly body: string;
  /** Of the client, as far as it can be trusted: a proxy's word where the proxy is trusted. */
  readonly address: string;
  /** Id of the request, for the log. */
  readonly requestId?: string;
}

/** Reply of an endpoint: JSON, or no content where `body` is empty. */
export interface OAuthReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** An endpoint. It never rejects: trouble of the server is a reply too. */
export type OAuthEndpoint = (request: OAuthRequest) => Promise<OAuthReply>;

/** Greatest size of a body, in bytes. */
export const MAX_FORM = 64 * 1024;
