import { FhirError } from '../../fhir/errors.js';
import { sendAudited, type FailedCall } from '../../core/call-audit.js';
import { isObject, type JsonValue } from '../../fhir/resource.js';
import { openAnswerRoom, type AnswerRoom } from '../../core/answer-room.js';
import type { Call, Reply } from '../../core/call.js';
import type { Services } from '../../core/services.js';
import { callOf } from './entry-call.js';
import { Phase, readEntry, relativeUrl, type Entry } from './entry.js';
import { yieldToEventLoop } from '../../fhir/yield-to-event-loop.js';
import { inParallel } from './in-parallel.js';
import { answerOf, writeEntry, writeFailure } from './response.js';
import { attempt } from '../../fhir/attempt.js';

/** Number of entries executed concurrently. */
const WIDTH = 8;

/**
 * Executes the entries of a batch, each like a request of its own. A failure is reported in the entry that it concerns.
 * https://hl7.org/fhir/R5/http.html#brules
 *
 * @param broken the faults of invalid entries, by index
 */
export async function executeBatch(
  values: readonly JsonValue[],
  broken: ReadonlyMap<number, FhirError>,
  call: Call,
  services: Services,
): Promise<Reply> {
  const answers: string[] = new Array<string>(values.length);
  const entries: Entry[] = [];
  const yieldIfDue = yieldToEventLoop();
  for (const [index, value] of values.entries()) {
    await yieldIfDue();
    const entry = broken.get(index) ?? attempt(() => readEntry(value, index, services));
    if (entry instanceof FhirError) {
      services.audit.failed(unreadCall(value, call, services), entry);
      answers[index] = writeFailure(index, entry);
    } else entries.push(entry);
  }
  const room = openEntryRoom(services);
  const { ledger } = call;
  let done = 0;
  const execute = async (entry: Entry): Promise<void> => {
    await (ledger === undefined ? yieldIfDue() : ledger.turn(done++, values.length));
    answers[entry.index] = await executeEntry(entry, call, services, room);
  };
  for (const phase of [Phase.Delete, Phase.Create, Phase.Update, Phase.Read]) {
    await inParallel(
      entries.filter((entry) => entry.phase === phase),
      // Of a job one at a time, so that those which are done come before those which are not.
      ledger === undefined ? WIDTH : 1,
      execute,
    );
  }
  return answerOf('batch', answers, call);
}

/** Greatest total size of the answers to entries, as a multiple of the limit for bodies. */
const TIMES = 2;

/** Room for the answers to all entries of a Bundle. */
export function openEntryRoom({ limits }: Pick<Services, 'limits'>): AnswerRoom {
  const text = 'The answers of the entries before are too large together; ask by themselves';
  return openAnswerRoom(TIMES * limits.body, text);
}

/** Returns the known parts of an entry that cannot be executed: the route of its request, if there is one, and its client. */
export function unreadCall(value: JsonValue, bundle: Call, { entries, own }: Services): FailedCall {
  const { principal, trace, isProvided } = bundle;
  const { request, resource } = isObject(value) ? value : {};
  const sender = {
    principal,
    ...(trace !== undefined && { trace }),
    // Which transaction of an exchange guide it is depends on what is written.
    ...(isProvided === true && isObject(resource) && { isProvided, body: resource }),
  };
  const { method, url } = isObject(request) ? request : {};
  const path = typeof url === 'string' ? relativeUrl(url, own) : undefined;
  if (typeof method !== 'string' || path === undefined) return sender;
  try {
    return { ...entries.route(method, path), ...sender };
  } catch (error) {
    if (error instanceof FhirError) return sender;
    throw error;
  }
}

/** Executes one entry like a request of its own. @returns JSON text of the response entry */
export async function executeEntry(entry: Entry, bundle: Call, services: Services, room: AnswerRoom): Promise<string> {
  const ledger = bundle.ledger?.ofEntry(entry.index);
  const kept = ledger?.kept();
  if (kept !== undefined) return kept;
  const answer = await answerEntry(entry, { ...bundle, ...(ledger !== undefined && { ledger }) }, services, room);
  if (entry.method !== 'GET' && entry.method !== 'HEAD') await ledger?.keep(answer);
  return answer;
}

async function answerEntry(entry: Entry, bundle: Call, services: Services, room: AnswerRoom): Promise<string> {
  const { audit } = services;
  let call: Call | undefined;
  try {
    call = callOf(entry, bundle);
    const isRead = entry.phase === Phase.Read;
    if (isRead) room.check();
    const reply = await services.entries.handle(call, services);
    const answer = await sendAudited(audit, call, reply, () => writeEntry(entry, reply, services.limits.resource));
    // A write has already happened, so its answer is returned even when the budget is used up.
    return isRead ? room.take(answer) : answer;
  } catch (error) {
    if (!(error instanceof FhirError)) throw error;
    // What ends the job is no answer of an entry.
    if (bundle.ledger !== undefined) bundle.signal?.throwIfAborted();
    audit.failed(
      call ?? { ...entry.route, principal: bundle.principal, ...(bundle.trace && { trace: bundle.trace }) },
      error,
    );
    return writeFailure(entry.index, error);
  }
}
