/** What a server shall do, and how it is known that this one does. */
export interface Requirement {
  /**
   * Where it is said: a page of R5 (F framework, S Subscription, T SubscriptionTopic, N SubscriptionStatus, O operations, B profile of
   * notifications), `i` and a number of the requirements of the Subscriptions R5 Backport, or `own` for a promise of this server.
   */
  readonly source: string;
  readonly says: string;
  /** Files below `test/`, each with the title of a test, or of a case of one. */
  readonly tests?: readonly (readonly [file: string, title: string])[];
  /** Why there is no test. */
  readonly reason?: string;
}

const TOPICS = 'http/subscriptions/topics.ts';
const CASES = 'http/subscriptions/topic-cases.ts';
const WRITES = 'http/subscriptions/subscriptions.ts';
const TRUTH = 'unit/subscriptions/truth-table.test.ts';
const FIRES = 'unit/subscriptions/accepted-fires.ts';
const BUNDLE = 'unit/subscriptions/notification-bundle.test.ts';
const CONTENTS = 'unit/subscriptions/contents.test.ts';
const RIGHTS = 'unit/subscriptions/rights.ts';
const OWNER = 'unit/subscriptions/delivery-rights.test.ts';
const UPKEEP = 'unit/subscriptions/engine-upkeep.ts';
const DELIVERIES = 'service/subscriptions/deliveries.ts';
const SOCKETS = 'service/subscriptions/web-sockets.ts';
const KILLED = 'long/process/subscriptions-killed.ts';
const LOG = 'contract/behaviour/behaviour-log.ts';
const FEED = 'http/operations/changes.ts';

/** The requirements of topic subscriptions and of the change feed. https://hl7.org/fhir/R5/subscriptions.html */
export const REQUIREMENTS: readonly Requirement[] = [
  // Topics
  { source: 'T', says: 'A topic that can be evaluated fires; any other is refused with the element named.', tests: [[FIRES, 'a topic that is taken fires'], [TOPICS, 'refuses %s and names the element']] }, // prettier-ignore
  { source: 'own', says: 'All faults of a topic are named at once.', tests: [[TOPICS, 'names all faults at once']] },
  { source: 'T', says: 'A server that has no source of events refuses event triggers.', tests: [[CASES, 'an event trigger']] }, // prettier-ignore
  { source: 'T', says: 'Several triggers are joined by or, and one version makes one event.', tests: [[TRUTH, 'are joined by or, and make one event']] }, // prettier-ignore
  { source: 'T', says: 'A trigger fires for its interactions, and for all where it names none.', tests: [[TRUTH, 'fire at the interactions that they name'], [TRUTH, 'without criteria fire at every interaction']] }, // prettier-ignore
  { source: 'T', says: 'A trigger of a general type fires for those that inherit from it.', tests: [[TRUTH, 'of general types fire for those that inherit from them']] }, // prettier-ignore
  { source: 'T', says: 'previous, current, resultForCreate, resultForDelete and requireBoth decide as their definitions say.', tests: [[TRUTH, 'queryCriteria']] }, // prettier-ignore
  { source: 'T', says: 'queryCriteria find what a search finds.', tests: [['conformance/subscriptions/matching-equals-search.ts', 'match criteria as a search finds them']] }, // prettier-ignore
  { source: 'T', says: 'fhirPathCriteria see %current and %previous.', tests: [[TRUTH, 'fhirPathCriteria'], [CASES, 'FHIRPath of both versions']] }, // prettier-ignore
  { source: 'own', says: 'Criteria that fail at run time fire nothing, and are counted.', tests: [[TRUTH, 'that fail on a version fire nothing, are reported, and leave others alone'], [UPKEEP, 'criteria that ask for other resources end in the time of a search, and are counted']] }, // prettier-ignore
  { source: 'T', says: 'Includes of a notification shape are resolvable.', tests: [[CASES, 'an unknown include'], [TOPICS, 'stores what is optional and unknown where the client is lenient']] }, // prettier-ignore
  { source: 'own', says: 'The checks hold in every way to write.', tests: [[TOPICS, 'in every way to write'], [WRITES, 'references in it are replaced by a write like others'], ['unit/cli/load-command.test.ts', 'refuses a topic that cannot be evaluated, as a server does']] }, // prettier-ignore
  { source: 'own', says: 'A topic that live Subscriptions need is not changed so that they break.', tests: [[TOPICS, 'a topic stays as live Subscriptions need it'], ['service/packages/packages.ts', 'live Subscription of SubscriptionTopic/told']] }, // prettier-ignore
  { source: 'own', says: 'A topic that is retired takes no new Subscription, and live ones go on.', tests: [[WRITES, 'a retired topic'], [DELIVERIES, 'goes by the topic that it was accepted with: a later version that is retired changes nothing']] }, // prettier-ignore
  // Filters
  { source: 'S', says: 'All filters that apply to the focus have to hold.', tests: [[TRUTH, 'filters']] },
  { source: 'S', says: 'A filter is one that canFilterBy of the topic allows: name, type, comparator, modifier.', tests: [[WRITES, 'a filter that the topic lacks'], [WRITES, 'a filter of another type'], [WRITES, 'a comparator that the topic lacks'], [WRITES, 'a modifier that the topic lacks']] }, // prettier-ignore
  { source: 'S scr-1', says: 'A comparator and a modifier do not come together.', tests: [[WRITES, 'a comparator and a modifier']] }, // prettier-ignore
  { source: 'own', says: 'Filters are judged on the new version, of a deletion on the one before.', tests: [[TRUTH, 'are judged on the new version, of a deletion on the one before']] }, // prettier-ignore
  // Subscription
  { source: 'S', says: 'A client writes requested or off; active and error are of the server.', tests: [[WRITES, 'active and error mean requested'], [WRITES, 'what the server gave stays, unless deliveries change']] }, // prettier-ignore
  { source: 'i75', says: 'A Subscription to a topic that the server does not know is refused.', tests: [[WRITES, 'an unknown topic']] }, // prettier-ignore
  { source: 'i60', says: 'A channel that the server does not support is refused.', tests: [[WRITES, 'email'], [WRITES, 'websocket where it is not offered']] }, // prettier-ignore
  { source: 'i90', says: 'A content type that the server does not support is refused.', tests: [[WRITES, 'another content type'], [WRITES, 'another version of FHIR']] }, // prettier-ignore
  { source: 'i93, i94', says: 'Heartbeats are sent as asked for; a period that the server cannot keep is refused.', tests: [[DELIVERIES, 'sends heartbeats, and ends at `end`'], [WRITES, 'heartbeats that are too frequent']] }, // prettier-ignore
  { source: 'i97', says: 'A timeout that the server cannot keep is refused.', tests: [[WRITES, 'a long timeout'], [WRITES, 'no timeout']] }, // prettier-ignore
  { source: 'S', says: 'An end that is past is refused; after end nothing is sent.', tests: [[WRITES, 'an end that is past'], [DELIVERIES, 'sends heartbeats, and ends at `end`']] }, // prettier-ignore
  { source: 'i27', says: 'Each parameter is a header of each request, repeated names in their order.', tests: [[WRITES, 'headers, names repeated'], [DELIVERIES, 'handshake, then an event for each version, in order']] }, // prettier-ignore
  {
    source: 'own',
    says: 'Values of headers are never quoted.',
    tests: [[WRITES, 'never quotes the value of a header']],
  },
  { source: 'own', says: 'A client has so many live Subscriptions at most, however it writes them.', tests: [[WRITES, 'a client has so many at most'], [UPKEEP, 'are not passed by many writes at once']] }, // prettier-ignore
  // Life cycle
  { source: 'i29, i77', says: 'A handshake is sent first; 2xx makes the Subscription active.', tests: [[DELIVERIES, 'handshake, then an event for each version, in order']] }, // prettier-ignore
  { source: 'i30, i78', says: 'A handshake that fails makes it error.', tests: [[DELIVERIES, 'counts what is written after its 201, also before the handshake is answered']] }, // prettier-ignore
  { source: 'i31, i79', says: 'off, by the client or by 410, ends all notifications.', tests: [[DELIVERIES, 'ends at 410, at `off` and at DELETE; goes on from where it was'], [KILLED, 'a receiver that fails 20 % of the time, and kills']] }, // prettier-ignore
  { source: 'F', says: 'A Subscription in error says why, and becomes active again.', tests: [[DELIVERIES, 'is in error while a search parameter of its topic is missing'], [DELIVERIES, 'repeats what failed before anything later, and loses nothing to a receiver that fails']] }, // prettier-ignore
  { source: 'own', says: 'What is written after the 201 is notified.', tests: [[DELIVERIES, 'counts what is written after its 201, also before the handshake is answered']] }, // prettier-ignore
  // Notifications
  { source: 'B', says: 'A notification is a valid Bundle of its type, in JSON and in XML.', tests: [[BUNDLE, '%s is valid, in JSON and in XML']] }, // prettier-ignore
  { source: 'i26', says: 'Content-Type is sent exactly as asked for.', tests: [[DELIVERIES, 'handshake, then an event for each version, in order']] }, // prettier-ignore
  { source: 'N', says: 'The first entry is a SubscriptionStatus whose numbers are texts.', tests: [[BUNDLE, 'has numbers as texts, and says of what it is']] }, // prettier-ignore
  { source: 'i38, i39, i99', says: 'An empty notification tells neither topic nor foci.', tests: [[BUNDLE, 'of an empty one tells neither topic nor foci']] }, // prettier-ignore
  { source: 'i40, i42', says: 'id-only has references and no resources.', tests: [[BUNDLE, 'ids alone have no other entries']] }, // prettier-ignore
  { source: 'i43, i44, i45', says: 'full-resource has the versions of the events, with request and without response.', tests: [[BUNDLE, 'full resources come in the version of the event, with the request that makes it; a deletion has none'], [DELIVERIES, 'shows the versions of events, and what the topic includes']] }, // prettier-ignore
  { source: 'B bdl-7', says: 'No notification has two equal entries.', tests: [[DELIVERIES, 'a resource that comes and goes is told in order, and no Bundle has equal entries']] }, // prettier-ignore
  { source: 'N', says: 'Numbers have no gap, never change, and come in order.', tests: [[KILLED, 'a receiver that fails 20 % of the time, and kills'], [DELIVERIES, 'repeats what failed before anything later, and loses nothing to a receiver that fails']] }, // prettier-ignore
  { source: 'own', says: 'Each event is delivered at least once, whatever is killed.', tests: [[KILLED, 'a receiver that fails 20 % of the time, and kills'], [DELIVERIES, 'goes on after a kill: states, numbers and what was not delivered are in the store']] }, // prettier-ignore
  { source: 'own', says: 'A notification has 10 MB at most.', tests: [[CONTENTS, 'stay below about 10 MB']] },
  // Operations
  { source: 'O', says: '$status answers for one, several and all Subscriptions.', tests: [[DELIVERIES, 'says how it is: $status']] }, // prettier-ignore
  { source: 'i118, i119', says: '$events has the events of a range of numbers, with their foci.', tests: [[DELIVERIES, 'shows the versions of events, and what the topic includes'], [KILLED, 'a receiver that fails 20 % of the time, and kills']] }, // prettier-ignore
  { source: 'O', says: '$events knows the levels of content of the specification.', tests: [[WRITES, 'knows no levels of content but those of the specification']] }, // prettier-ignore
  { source: 'O', says: '$get-ws-binding-token gives a token that is good once.', tests: [[SOCKETS, 'a token is good once; what is none, and a socket without one, is closed with 4401']] }, // prettier-ignore
  { source: 'F', says: 'A web socket that is bound gets a handshake, what waited, and what comes.', tests: [[SOCKETS, 'handshake, what waited, then events as they come']] }, // prettier-ignore
  // Security
  { source: 'F', says: 'What is sent is within what the subscriber may read.', tests: [['http/subscriptions/constrained.ts', 'what $name shows'], ['long/process/subscriptions-constrained.ts', 'received just what a search shows'], [RIGHTS, 'the focus']] }, // prettier-ignore
  { source: 'own', says: 'What is hidden makes no event and no number.', tests: [[OWNER, 'gets no event, and no number, of what a constraint hides']] }, // prettier-ignore
  { source: 'own', says: 'Rights are looked at again at each delivery.', tests: [[OWNER, 'gets number and time of what it may not read any more, and nothing else'], [OWNER, 'is sent nothing while it is disabled; its events wait']] }, // prettier-ignore
  { source: 'own', says: 'A Subscription needs rs on the types of triggers, and s on what criteria lead over.', tests: [[WRITES, 'rs on the type of the trigger'], [WRITES, 's on what chains lead over']] }, // prettier-ignore
  { source: 'own', says: 'Addresses are checked when the Subscription is written, and for each connection.', tests: [[DELIVERIES, 'refuses what it would not connect to'], [WRITES, 'an endpoint that is not allowed']] }, // prettier-ignore
  { source: 'own', says: 'Each notification is in the audit, and tells of itself to no Subscription.', tests: [['service/subscriptions/audited-notifications.test.ts', 'each notification has an event of the audit, and no event tells of itself']] }, // prettier-ignore
  { source: 'F', says: 'A server uses TLS towards endpoints.', reason: 'Plain http is refused but to hosts of subscriptions.allow ("an endpoint that is not allowed"); the TLS itself is of Node.js.' }, // prettier-ignore
  // Beside other features
  { source: 'own', says: 'A restored or copied store has its Subscriptions off.', tests: [[UPKEEP, 'turns off the Subscriptions of a copy, however young they are']] }, // prettier-ignore
  { source: 'own', says: 'expungeEverything removes counters and events.', tests: [[UPKEEP, 'forgets all counters and events, and begins anew']] }, // prettier-ignore
  { source: 'own', says: 'Each version is in the log once, in the order of commits, and a cursor passes nothing.', tests: [[LOG, 'holds each version once, in the order of commits, with what made it'], [LOG, 'of many writers misses nothing: a cursor never passes what commits later']] }, // prettier-ignore
  { source: 'own', says: 'Matching that falls behind shows in /health/ready.', tests: [[UPKEEP, 'knows how long the oldest version waits that is not matched']] }, // prettier-ignore
  // Change feed
  { source: 'own', says: '$changes tells every version once, oldest first, deletions too.', tests: [[FEED, 'tells every version once, oldest first, deletions too']] }, // prettier-ignore
  { source: 'own', says: '$changes shows what the token may search and read.', tests: [[FEED, 'shows what the token may search and read, and nothing else']] }, // prettier-ignore
  { source: 'own', says: 'A cursor that was forged is refused; one that is too old is 410.', tests: [[FEED, 'refuses cursors that are none, or of another feed'], ['contract/mongo-log.test.ts', 'forgets what is old, and says so to readers']] }, // prettier-ignore
  // Channels and parts that the server does not have
  { source: 'F', says: 'Channels email and message.', reason: 'Not offered; a Subscription that asks for one is refused ("email").' }, // prettier-ignore
  { source: 'F', says: 'A server may ask a subscriber to prove that it is willing beyond the handshake.', reason: 'A may; the handshake is all that is asked for.' }, // prettier-ignore
  { source: 'T', says: 'effectivePeriod, derivedFrom and texts of a topic.', reason: 'They have no effect on what a server does.' }, // prettier-ignore
];
