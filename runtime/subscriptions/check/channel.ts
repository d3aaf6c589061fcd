import { isObject, type JsonObject } from '../../fhir/resource.js';
import { textOf, type Faults } from '../faults.js';
import type { PayloadLevel, SubscriptionPlan, SubscriptionPorts } from '../plan.js';
import { readHeaders } from './headers.js';

/** https://terminology.hl7.org/CodeSystem-subscription-channel-type.html */
const CHANNELS = 'http://terminology.hl7.org/CodeSystem/subscription-channel-type';

/** Seconds. */
const HEARTBEAT = { least: 5, most: 86_400 };
const TIMEOUT = { least: 1, most: 60, usual: 10 };

const LEVELS: readonly PayloadLevel[] = ['empty', 'id-only', 'full-resource'];

/** How a Subscription sends, and what. */
export type Channel = Omit<SubscriptionPlan, 'id' | 'topic' | 'filters'>;

type ChannelPorts = Pick<SubscriptionPorts, 'hasWebsocket' | 'endpointFault'>;

/**
 * Reads the channel of a Subscription. https://hl7.org/fhir/R5/subscription-definitions.html#Subscription.channelType
 *
 * @param now milliseconds since the epoch: `end` has to be later
 */
export function readChannel(subscription: JsonObject, now: number, faults: Faults, ports: ChannelPorts): Channel {
  const channel = readType(subscription, faults, ports);
  const level = readLevel(subscription, faults);
  const endpoint = readEndpoint(subscription, channel, faults, ports);
  const heartbeatPeriod = readSeconds(subscription, 'heartbeatPeriod', HEARTBEAT, faults);
  const maxCount = subscription['maxCount'];
  const end = readEnd(subscription, now, faults);
  return {
    ...{ channel, level, headers: readHeaders(subscription, faults), ...readContentType(subscription, faults) },
    ...(endpoint !== undefined && { endpoint }),
    ...(heartbeatPeriod !== undefined && { heartbeatPeriod }),
    timeout: readSeconds(subscription, 'timeout', TIMEOUT, faults) ?? TIMEOUT.usual,
    ...(typeof maxCount === 'number' && { maxCount }),
    ...(end !== undefined && { end }),
  };
}

function readType({ channelType }: JsonObject, faults: Faults, { hasWebsocket }: ChannelPorts): Channel['channel'] {
  const { system, code } = isObject(channelType) ? channelType : {};
  const isKnown = system === undefined || system === CHANNELS;
  if (isKnown && code === 'rest-hook') return code;
  if (isKnown && code === 'websocket' && hasWebsocket) return code;
  const offered = hasWebsocket ? 'rest-hook or websocket' : 'rest-hook (websocket where subscriptions.websocket is on)';
  faults.add('channelType', `is ${offered} of ${CHANNELS}`, 'not-supported');
  return code === 'websocket' ? code : 'rest-hook';
}

function readLevel({ content }: JsonObject, faults: Faults): PayloadLevel {
  // A client that does not say what it wants to see gets least.
  const level = content === undefined ? 'empty' : LEVELS.find((each) => each === content);
  if (level === undefined) faults.add('content', `is ${LEVELS.join(', ')}`);
  return level ?? 'empty';
}

function readEndpoint(
  { endpoint }: JsonObject,
  channel: Channel['channel'],
  faults: Faults,
  { endpointFault }: ChannelPorts,
): string | undefined {
  const text = textOf(endpoint);
  if (channel === 'websocket') {
    if (text !== undefined) faults.add('endpoint', 'is none with websocket: the client connects itself');
    return undefined;
  }
  if (text === undefined || text === '') {
    faults.add('endpoint', 'is missing: an absolute https URL to which notifications are sent');
    return undefined;
  }
  const fault = endpointFault(text);
  if (fault !== undefined) faults.add('endpoint', fault);
  return text;
}

function readSeconds(
  subscription: JsonObject,
  name: string,
  { least, most }: { readonly least: number; readonly most: number },
  faults: Faults,
): number | undefined {
  const value = subscription[name];
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value;
  faults.add(name, `is a whole number of seconds from ${least} to ${most}`);
  return undefined;
}

function readContentType({ contentType }: JsonObject, faults: Faults): Pick<Channel, 'format' | 'contentType'> {
  const text = textOf(contentType) ?? 'application/fhir+json';
  const [, format, parameters = ''] = /^application\/fhir\+(json|xml)((?:\s*;.*)?)$/i.exec(text) ?? [];
  const isRight = parameters
    .split(';')
    .map((each) => each.trim().toLowerCase())
    .every((each) => each === '' || /^fhirversion="?5\.0(?:\.0)?"?$/.test(each) || /^charset="?utf-8"?$/.test(each));
  if (format === undefined || !isRight) {
    faults.add('contentType', 'is application/fhir+json or application/fhir+xml, with fhirVersion=5.0 if any', 'not-supported'); // prettier-ignore
  }
  return { format: format?.toLowerCase() === 'xml' ? 'xml' : 'json', contentType: text };
}

function readEnd({ end }: JsonObject, now: number, faults: Faults): number | undefined {
  const text = textOf(end);
  if (text === undefined) return undefined;
  const time = Date.parse(text);
  if (!(time > now)) faults.add('end', 'is past: it has to lie ahead, or be left out');
  return time;
}
