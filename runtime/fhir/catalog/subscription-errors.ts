/** The ways in which the write of a topic or a Subscription can fail, a part of the error catalogue. The keys are stable. */
export const SUBSCRIPTION_ERRORS = {
  'topic-refused': { status: 422, issue: 'not-supported', text: 'The server cannot evaluate the topic' },
  'topic-in-use': { status: 409, issue: 'conflict', text: 'Live Subscriptions need the topic as it is' },
  'subscription-refused': { status: 422, issue: 'invalid', text: 'The server cannot serve the Subscription' },
  'subscriptions-too-many': {
    status: 422,
    issue: 'too-costly',
    text: 'The client has as many Subscriptions as it may have',
  },
} as const;
