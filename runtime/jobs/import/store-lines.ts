import { createHash } from 'node:crypto';

import { BINARY } from '../../core/binary/binary-content.js';
import { takeBinary, writeBinary } from '../../core/binary/binary-store.js';
import { readStored } from '../../core/read-stored.js';
import { hideTargets } from '../../core/references/hidden-targets.js';
import type { Services } from '../../core/services.js';
import { resourceToWrite } from '../../core/write/before-write.js';
import { sentId } from '../../core/write/check-resource.js';
import { composePut } from '../../core/write/compose-change.js';
import { contentToStore, SUBSCRIPTION } from '../../core/write/content-to-store.js';
import { validateWritten } from '../../core/write/validate-written.js';
import { writeCurrent } from '../../core/write/write-current.js';
import { FhirError } from '../../fhir/errors.js';
import { isObject, type Resource } from '../../fhir/resource.js';
import { readJson } from '../../format/read-json.js';
import { VersionConflict, type Put, type RequiredTarget, type StoredVersion } from '../../store/store.js';
import { countContained, cutByMembers } from '../../store/write-contained.js';
import type { ChunkContext } from '../engine/job-kind.js';

/** A line of a file. */
export interface ImportLine {
  /** From 1. */
  readonly number: number;
  /** A fault: it is longer than a line may be, or no UTF-8. */
  readonly text: string | FhirError;
}

/** Outcome of a line. */
export type LineOutcome = 'created' | 'updated' | 'unchanged' | FhirError;

/** Where lines belong. */
export interface LineSource {
  /** The type of all of them; absent: one of `types`. */
  readonly type: string | undefined;
  readonly types: ReadonlySet<string>;
  /** Distinguishes the lines of this file from those of all others: ids of new resources follow from it. */
  readonly seed: string;
  /** Time in these ids: milliseconds since the epoch. */
  readonly created: number;
}

interface Named {
  readonly line: ImportLine;
  readonly resource: Resource;
  readonly id: string;
}

/**
 * Puts the resources of some lines into the store, as PUT does it. Doing it again changes nothing, for a resource without an id
 * gets the same one each time.
 *
 * @returns what became of each line, in their order; empty lines are left out
 */
export async function storeLines(
  lines: readonly ImportLine[],
  source: LineSource,
  services: Services,
  context: LineContext,
): Promise<ReadonlyMap<ImportLine, LineOutcome>> {
  const outcomes = new Map<ImportLine, LineOutcome>();
  const named: Named[] = [];
  for (const line of lines) {
    if (line.text === '') continue;
    await context.breathe();
    try {
      named.push(readLine(line, source, services));
    } catch (error) {
      outcomes.set(line, failureOf(error));
    }
  }
  // Of two lines about one resource the later one stays.
  const last = new Map(named.map((each) => [keyOf(each), each]));
  const twice = named.filter((each) => last.get(keyOf(each)) !== each);
  const once = named.filter((each) => last.get(keyOf(each)) === each);
  for (const each of twice) outcomes.set(each.line, await writeOne(each, services, context));
  await writeTogether(once, services, context, outcomes);
  return outcomes;
}

/** The name of the resource of a line, and what it refers to; none for a line that cannot be written for other reasons. */
export async function targetsOfLine(
  line: ImportLine,
  source: LineSource,
  services: Services,
  context: LineContext,
): Promise<{ readonly name: string | undefined; readonly targets: readonly RequiredTarget[] }> {
  try {
    const named = readLine(line, source, services);
    const current = await services.store.read(named.resource.resourceType, named.id);
    const change = await compose(named, current, services, context);
    return { name: keyOf(named), targets: change?.targets ?? [] };
  } catch (error) {
    failureOf(error);
    return { name: undefined, targets: [] };
  }
}

function keyOf({ resource, id }: Named): string {
  return `${resource.resourceType}/${id}`;
}

function readLine(line: ImportLine, source: LineSource, services: Services): Named {
  const { limits } = services;
  if (typeof line.text !== 'string') throw line.text;
  const resource = readJson(line.text, limits.nesting);
  if (!isObject(resource) || typeof resource['resourceType'] !== 'string') throw new FhirError('not-a-resource');
  const { resourceType: type } = resource as Resource;
  if (source.type !== undefined && type !== source.type) {
    throw new FhirError(
      'type-mismatch',
      `The file is one of ${source.type}, the line has the type ${JSON.stringify(type.slice(0, 64))}`,
    );
  }
  if (!source.types.has(type)) {
    throw new FhirError(
      'type-mismatch',
      `The token does not cover ${JSON.stringify(type.slice(0, 64))} whole, or there is no such type`,
    );
  }
  if (type === SUBSCRIPTION)
    throw new FhirError('type-mismatch', 'Subscriptions cannot be imported; create each by itself');
  const id = sentId(resource as Resource) ?? derivedId(source, line.number);
  return { line, resource: { ...resource, resourceType: type, id }, id };
}

/** A UUIDv7 whose random part follows from the place of the line. */
function derivedId({ seed, created }: LineSource, number: number): string {
  const hash = createHash('sha256').update(`${seed}\n${number}`).digest('hex');
  const time = created.toString(16).padStart(12, '0');
  const variant = ((parseInt(hash.slice(3, 4), 16) & 0x3) | 0x8).toString(16);
  const parts = [
    time.slice(0, 8),
    time.slice(8),
    `7${hash.slice(0, 3)}`,
    `${variant}${hash.slice(4, 7)}`,
    hash.slice(7, 19),
  ];
  return parts.join('-');
}

type Outcomes = Map<ImportLine, LineOutcome>;

/** On whose behalf lines are checked and written, and what makes room for requests. */
export interface LineContext extends Pick<ChunkContext, 'principal' | 'signal' | 'breathe' | 'stepSize'> {
  /** FHIR base of the request that started the import. */
  readonly base: string;
}

async function writeTogether(all: readonly Named[], services: Services, context: LineContext, outcomes: Outcomes) {
  const { breathe, stepSize } = context;
  const { store } = services;
  const plain = all.filter(({ resource }) => resource.resourceType !== BINARY);
  const current = await store.readMany(plain.map(({ resource, id }) => ({ type: resource.resourceType, id })));
  const steps: (Named & { readonly change: Put; readonly isNew: boolean })[] = [];
  for (const [i, each] of plain.entries()) {
    await breathe();
    try {
      const change = await compose(each, current[i], services, context);
      if (change === undefined) outcomes.set(each.line, 'unchanged');
      else steps.push({ ...each, change, isNew: current[i]?.json === undefined });
    } catch (error) {
      outcomes.set(each.line, failureOf(error));
    }
  }
  for (const piece of cutByMembers(steps, ({ change }) => countContained([change]))) {
    try {
      await stepSize.measure(piece.length, () => store.write(piece.map(({ change }) => change)));
      await breathe();
      for (const { line, isNew } of piece) outcomes.set(line, isNew ? 'created' : 'updated');
    } catch (error) {
      if (!(error instanceof VersionConflict) && !(error instanceof FhirError && error.status < 500)) throw error;
      // Another client wrote one of them, or one is at fault: each on its own.
      for (const each of piece) outcomes.set(each.line, await writeOne(each, services, context));
    }
  }
  for (const each of all)
    if (each.resource.resourceType === BINARY) outcomes.set(each.line, await writeOne(each, services, context));
}

async function writeOne(each: Named, services: Services, context: LineContext): Promise<LineOutcome> {
  const { resource, id } = each;
  try {
    const { before, after } =
      resource.resourceType === BINARY
        ? await writeBinary(await takeBinary(resource, id, context, services), id, services, (current) =>
            checkContext(current, services),
          )
        : await writeCurrent(services.store, resource.resourceType, id, (current) =>
            compose(each, current, services, context),
          );
    return after === undefined ? 'unchanged' : before?.json === undefined ? 'created' : 'updated';
  } catch (error) {
    return failureOf(error);
  }
}

/**
 * Who may write over a Binary with a `securityContext` depends on the resource that this names: an import writes over none.
 * https://hl7.org/fhir/R5/binary.html#security
 *
 * @throws FhirError `type-mismatch` where the Binary has one, or had one before it was deleted
 */
async function checkContext(current: StoredVersion | undefined, services: Services): Promise<void> {
  if (current === undefined) return;
  const { type, id, version } = current;
  const { json } =
    current.json === undefined ? { ...(await services.store.readVersion(type, id, version - 1)) } : current;
  if (json === undefined || (await readStored(json, services))['securityContext'] === undefined) return;
  const text = `${type}/${id} has a securityContext, so that no import replaces it; update it by itself`;
  throw new FhirError('type-mismatch', text);
}

async function compose(
  { resource, id, line }: Named,
  current: StoredVersion | undefined,
  services: Services,
  { principal, signal, base }: LineContext,
) {
  const { text } = line;
  const own = { principal, signal, base };
  const taken = await resourceToWrite(resource, { principal, interaction: 'update', id }, services);
  const call = taken === resource ? { ...own, text: () => String(text) } : own;
  await validateWritten(taken, call, services);
  const checked = await contentToStore(taken, { id, current }, own, services);
  const change = await composePut(checked, id, current, services);
  if (change !== undefined && change.body.head.length + change.body.tail.length > services.limits.resource) {
    throw new FhirError('resource-too-large');
  }
  if (change === undefined) return undefined;
  return (await hideTargets([change], own, services))[0];
}

/** Faults of the line. Anything else fails the chunk, which is done again. */
function failureOf(error: unknown): FhirError {
  if (error instanceof FhirError && error.status < 500) return error;
  throw error;
}
