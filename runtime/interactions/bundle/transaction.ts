import { FhirError } from '../../fhir/errors.js';
import type { JsonValue } from '../../fhir/resource.js';
import type { Change, StoredVersion } from '../../store/store.js';
import type { Call, Reply } from '../../core/call.js';
import { commit, type Decision } from '../../core/write/commit.js';
import { versionPath } from '../write/reply-written.js';
import { expectedVersions, noteReply, replyAsNoted } from '../../core/write/noted-reply.js';
import type { NotedReply } from '../../core/write/write-ledger.js';
import type { Decided } from '../../core/write/write-plan.js';
import { targetSteps, type TargetedStep, type WriteTargets } from './write-targets.js';
import { applyLinks, nameIn } from './links/apply-links.js';
import { decisionOrder, ResultingVersions } from './resulting-versions.js';
import { executeEntry, openEntryRoom } from './batch.js';
import type { Services } from '../../core/services.js';
import { typeOfCriteria } from './links/conditional-reference.js';
import { forEntry, inEntry, referringInEntry } from './entry-error.js';
import { callOf } from './entry-call.js';
import { Phase, readEntry, type Entry } from './entry.js';
import { replaceInQuery } from './links/match-url.js';
import { collectPlaceholders } from './links/placeholders.js';
import { cachingView } from './drafts/caching-view.js';
import { yieldToEventLoop } from '../../fhir/yield-to-event-loop.js';
import { inParallel } from './in-parallel.js';
import { yieldUntil } from '../../fhir/yield-until.js';
import { collectCriteria, resolveReferences } from './links/references.js';
import { dryRunReads } from './drafts/dry-run-reads.js';
import { answerOf, writeEntry } from './response.js';
import { isConditional, readSteps, type Step, type Steps } from './steps.js';
import { wholeTarget } from './whole-target.js';

/** Number of reads executed concurrently. */
const WIDTH = 8;

/** The decision on one entry. */
interface Outcome extends TargetedStep {
  readonly decided: Decided;
}

/** The decisions on all entries that write. */
interface Outcomes {
  readonly outcomes: readonly Outcome[];
  readonly names: ReadonlyMap<number, string>;
}

/**
 * Executes the entries of a transaction, all or none: deletions, creations, updates and patches; reads follow after the
 * commit. https://hl7.org/fhir/R5/http.html#transaction
 */
export async function executeTransaction(values: readonly JsonValue[], call: Call, services: Services): Promise<Reply> {
  const noted = call.ledger?.noted();
  if (noted !== undefined) return answerAsNoted(noted, values, call, services);
  const steps = await readSteps(values, call, services);
  const answers: string[] = new Array<string>(values.length);
  const { outcomes, names, written } = await write(steps, call, services);
  await answerWrites(outcomes, written, answers, services);
  return answerReads(steps, names, answers, call, services);
}

/** The answer to a transaction of a job whose writes are done, though their process ended before it could answer. */
async function answerAsNoted(
  noted: readonly NotedReply[],
  values: readonly JsonValue[],
  call: Call,
  services: Services,
): Promise<Reply> {
  const entries = values.map((value, index) => readEntry(value, index, services));
  const answers: string[] = new Array<string>(values.length);
  const names = new Map<number, string>();
  for (const each of noted) {
    const { index = 0, of } = each;
    const entry = entries[index];
    if (entry === undefined) continue;
    if (of !== undefined) names.set(index, `${of[0]}/${of[1]}`);
    const reply = await replyAsNoted(each, services.store);
    services.audit.answered(callOf(entry, call), reply);
    answers[index] = await writeEntry(entry, reply, services.limits.resource);
  }
  const reads = entries.filter(({ phase }) => phase === Phase.Read);
  return answerReads(
    { reads, placeholders: collectPlaceholders(entries, services.own) },
    names,
    answers,
    call,
    services,
  );
}

/** Executes the entries that read, after the others. */
async function answerReads(
  steps: Pick<Steps, 'reads' | 'placeholders'>,
  names: ReadonlyMap<number, string>,
  answers: string[],
  call: Call,
  services: Services,
): Promise<Reply> {
  const yieldIfDue = yieldUntil(call.signal);
  const room = openEntryRoom(services);
  await inParallel(namedReads(steps, names, services), WIDTH, async (entry) => {
    await yieldIfDue();
    answers[entry.index] = await executeEntry(entry, call, services, room);
  });
  return answerOf('transaction', answers, call);
}

/** The entries that read, with the placeholders in their searches replaced. */
function namedReads(
  { reads, placeholders }: Pick<Steps, 'reads' | 'placeholders'>,
  names: ReadonlyMap<number, string>,
  { tables }: Services,
): readonly Entry[] {
  return reads.map((entry) => {
    const nameOf = (text: string): string | undefined => {
      const index = placeholders.find(text, entry);
      return index === undefined ? undefined : names.get(index);
    };
    const { route } = entry;
    const type = route.member ?? route.type;
    return { ...entry, route: { ...route, params: replaceInQuery(type, route.params, nameOf, tables) } };
  });
}

/** Decides on all writes and commits them; repeats both after a conflict. If that fails, the blobs of the entries are deleted. */
async function write(
  steps: Steps,
  bundle: Call,
  services: Services,
): Promise<Outcomes & { readonly written: readonly StoredVersion[] }> {
  const { writes, placeholders } = steps;
  const criteria = collectCriteria(writes);
  const searched = new Set([...writes.filter(isConditional).flatMap(({ call: { type = '' } }) => type)]);
  for (const text of criteria.keys()) searched.add(typeOfCriteria(text));
  const versions = new Versions();
  const keys = writes.flatMap(({ plan }) => plan?.keys ?? []);
  const named = writes.flatMap(({ entry: { phase }, call: { type, id } }) =>
    type === undefined || id === undefined ? [] : { type, id, isWhole: phase !== Phase.Delete },
  );

  const { limits, largeTexts } = services;
  const { ledger } = bundle;
  let leave: (() => void) | undefined;

  const decide = async (signal: AbortSignal): Promise<Decision<Outcomes>> => {
    const yieldIfDue = yieldUntil(signal);
    const view = await cachingView(services.store, named, signal);
    const writeTargets = await targetSteps({ steps: writes, placeholders, searched, view, services, yieldIfDue });
    versions.see(writeTargets);
    const nameOf = (text: string, { entry }: Step): string | undefined => {
      const index = placeholders.find(text, entry);
      return index === undefined ? undefined : writeTargets.names.get(index);
    };
    const found = await resolveReferences(
      criteria,
      nameOf,
      writeTargets.view,
      { principal: bundle.principal },
      services,
    );
    const { targeted } = writeTargets;
    const resulting = new ResultingVersions(targeted, found.values());
    const names = {
      ofEntry: (index: number) => writeTargets.names.get(index),
      ofCriteria: (text: string) => found.get(text)?.name,
      versionOf: (name: string) => resulting.of(name),
    };
    const outcomes = new Array<Outcome>(targeted.length);
    let weight = 0;
    for (const at of decisionOrder(targeted, ({ to }) => nameIn(to, names))) {
      await yieldIfDue();
      const one = targeted[at]!;
      const { step, plan } = one;
      applyLinks(step.links, names);
      const writeTarget = await wholeTarget(one, view);
      weight += plan.weight?.(writeTarget) ?? 0;
      if (weight > limits.body) throw inEntry(step.entry.index, tooHeavy(limits.body));
      if (weight > 0) leave ??= await largeTexts?.enter(limits.body, signal);
      const own = await forEntry(step.entry.index, () => plan.decide(writeTarget, step.entry.resource));
      const decided = { ...own, changes: own.changes.map((change) => referringInEntry(step.entry.index, change)) };
      resulting.settle(at, decided);
      // The old version is needed for the answer only if nothing is written.
      outcomes[at] = { ...one, ...(decided.changes.length === 0 && { writeTarget }), decided };
    }
    const changes = outcomes.flatMap(({ decided }) => decided.changes);
    await dryRunReads(namedReads(steps, writeTargets.names, services), changes, bundle, services, yieldIfDue);
    return { changes, preconditions: writeTargets.preconditions, result: { outcomes, names: writeTargets.names } };
  };

  try {
    const { result, written } = await commit(services.store, keys, decide, {
      changes: writes.length,
      answerTime: limits.answerTime,
      signal: bundle.signal,
      steps: ledger && (({ changes, result: { outcomes } }) => ledger.steps(noteOutcomes(outcomes, changes))),
      whenDone: () => leave?.(),
    });
    return { ...result, written };
  } catch (error) {
    // A failed store may have written the changes, or may still write them. The sweep decides later.
    if (error instanceof FhirError && error.status < 500) for (const { plan } of writes) await plan?.drop?.();
    throw error instanceof FhirError && error.code === 'version-conflict' ? versions.blame(error) : error;
  }
}

/** The error for patches of too many large resources. */
function tooHeavy(limit: number): FhirError {
  const text = `The large resources that a transaction patches may have ${limit} characters together; patch some of them in another`;
  return new FhirError('body-too-large', text);
}

/** Finds the entry whose target other clients kept changing between attempts. */
class Versions {
  private last: ReadonlyMap<number, string> | undefined;
  private changed: number | undefined;

  see({ targeted }: WriteTargets): void {
    const { last } = this;
    const now = new Map(targeted.map((each) => [each.step.entry.index, describe(each)]));
    if (last !== undefined) {
      this.changed = [...now].find(([index, seen]) => last.get(index) !== seen)?.[0] ?? this.changed;
    }
    this.last = now;
  }

  blame(error: FhirError): FhirError {
    return this.changed === undefined ? error : inEntry(this.changed, error);
  }
}

function describe({ writeTarget }: TargetedStep): string {
  return writeTarget.targets.map(({ id, current }) => `${id}/${current?.version ?? 0}`).join();
}

const NOTHING: ReadonlyMap<string, StoredVersion> = new Map();

async function answerWrites(
  outcomes: readonly Outcome[],
  written: readonly StoredVersion[],
  answers: string[],
  { limits, audit }: Services,
): Promise<void> {
  const yieldIfDue = yieldToEventLoop();
  for (const { outcome, own, reply } of repliesOf(outcomes, written)) {
    await yieldIfDue();
    const { step, plan, decided } = outcome;
    if (own.length === 0) await plan.drop?.();
    else decided.record?.(own);
    audit.answered(step.call, reply);
    answers[step.entry.index] = await writeEntry(step.entry, reply, limits.resource);
  }
}

function noteOutcomes(outcomes: readonly Outcome[], changes: readonly Change[]): readonly NotedReply[] {
  const replies = repliesOf(outcomes, expectedVersions(changes));
  return [...replies].map(({ outcome, own, reply }) => noteReply(reply, own, outcome.step.entry.index));
}

/** The answers to all that writes. @param written the versions that all of it makes */
function* repliesOf(outcomes: readonly Outcome[], written: readonly StoredVersion[]) {
  const byName = outcomes.some(({ writeTarget }) => writeTarget.exists === true)
    ? new Map([...unchanged(outcomes), ...written].map((version) => [`${version.type}/${version.id}`, version]))
    : NOTHING;
  let at = 0;
  for (const outcome of outcomes) {
    const { writeTarget, decided } = outcome;
    const own = written.slice(at, (at += decided.changes.length));
    yield { outcome, own, reply: settled(decided.reply(own), writeTarget, byName) };
  }
}

/** The current versions of targets that needed no write. */
function unchanged(outcomes: readonly Outcome[]): readonly StoredVersion[] {
  return outcomes.flatMap(({ writeTarget, decided }) =>
    writeTarget.exists === true || decided.changes.length > 0
      ? []
      : writeTarget.targets.flatMap(({ current }) => current ?? []),
  );
}

/** Completes the answer to a conditional create that matched a resource of an earlier entry: its version is known only now. */
function settled(
  reply: Reply,
  { exists, targets: [target], type }: TargetedStep['writeTarget'],
  byName: ReadonlyMap<string, StoredVersion>,
): Reply {
  const version = exists === true && target !== undefined ? byName.get(`${type}/${target.id}`) : undefined;
  if (version === undefined) return reply;
  return {
    ...reply,
    versionId: String(version.version),
    lastUpdated: version.lastUpdated,
    location: versionPath(version),
    ...(reply.json === undefined || version.json === undefined ? {} : { json: version.json }),
  };
}
