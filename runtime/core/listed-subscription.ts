/** A Subscription with its deliveries, for people. */
export interface ListedSubscription {
  readonly id: string;
  readonly name: string;
  readonly topic: string;
  readonly channel: string;
  readonly status: string;
  /** Events so far. */
  readonly events: number;
  /** Those of them that were not delivered. */
  readonly waiting: number;
  /** Newest first; `at` in milliseconds since the epoch. */
  readonly errors: readonly { readonly text: string; readonly at: number }[];
  /** Whether its handshake can be sent again by who asks, as far as the scopes on the type tell. */
  readonly mayRetry: boolean;
}
