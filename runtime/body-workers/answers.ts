import { FhirError } from '../fhir/errors.js';
import type { Resource } from '../fhir/resource.js';
import { readJson } from '../format/read-json.js';
import { writeJson } from '../format/write-json.js';
import { decodeUtf8 } from '../format/utf8.js';
import { patchResource } from '../interactions/write/patch-resource.js';
import type { TextForm } from '../core/write/large-bodies.js';
import type { Patchers } from '../core/patch/patchers.js';
import type { ParsedContent } from '../core/write/parsed-bodies.js';
import { STORED_DEPTH } from '../core/read-stored.js';
import type { Contained } from '../search/contained.js';
import type { Answer, FaultyEntry, Findings, BodyWorkerSettings, Job } from './messages.js';
import { unpackPatch } from './patch-text.js';
import { cutTree, isContainer } from './pieces.js';
import { takeIn, takeRight, type BodyParser, type BodyServices } from './parse-body.js';

/** What a thread reads and patches bodies with. */
export interface Reading extends BodyServices {
  readonly limits: BodyWorkerSettings['limits'];
  readonly patchers: Patchers;
  /** Greatest depth of JSON. */
  readonly nesting: number;
  readonly readXml: (bytes: Uint8Array) => Promise<Resource>;
  readonly writeXml: (resource: Resource, pretty: boolean) => Promise<string>;
}

/** About how many characters of a tree are handed over at a time: that takes a millisecond or two. */
const PIECE = 32 * 1024;

/** About how many of a written text are. */
const TEXT = 1024 * 1024;

/** How many index entries are. */
const ENTRIES = 400;

/** How many entries with their faults are, each up to a hundred. */
const FAULTY = 10;

/** Reads a body, and tells what came of it in small answers. */
export async function* answersTo(job: Job, reading: Reading): AsyncGenerator<Answer> {
  try {
    if (job.form !== undefined) {
      const text = await write(job, job.form, reading);
      for (let i = 0; i < text.length; i += TEXT) yield { is: 'text', text: text.slice(i, i + TEXT) };
      yield { is: 'end', findings: { isWrapped: false } };
      return;
    }
    const taken = await read(job, reading);
    for (const piece of cutTree(taken.tree, PIECE)) yield { is: 'piece', piece };
    const entries = taken.prepared?.content?.entries ?? [];
    for (let i = 0; i < entries.length; i += ENTRIES) yield { is: 'entries', entries: entries.slice(i, i + ENTRIES) };
    for (const contained of pieces(taken.prepared?.content?.contained ?? [])) yield { is: 'contained', contained };
    const faulty: readonly FaultyEntry[] = [...(taken.entries ?? [])].filter(([, faults]) => faults.length > 0);
    for (let i = 0; i < faulty.length; i += FAULTY) yield { is: 'faults', faulty: faulty.slice(i, i + FAULTY) };
    const codes = taken.judged?.judgement.named.codes ?? [];
    for (let i = 0; i < codes.length; i += ENTRIES) yield { is: 'codes', codes: codes.slice(i, i + ENTRIES) };
    yield { is: 'end', findings: findingsOf(taken) };
  } catch (error) {
    if (!(error instanceof FhirError)) yield { is: 'defect', error };
    else yield { is: 'failure', issues: error.issues, headers: error.headers };
  }
}

function write({ bytes, depth }: Job, { format, pretty }: TextForm, reading: Reading): string | Promise<string> {
  const text = decodeUtf8(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const resource = readJson(text, depth ?? reading.nesting) as Resource;
  return format === 'xml' ? reading.writeXml(resource, pretty) : writeJson(resource, pretty ? 2 : 0);
}

async function read({ bytes, format, purpose, depth, patch }: Job, reading: Reading): Promise<BodyParser> {
  if (format === 'xml') return takeIn(await reading.readXml(bytes), undefined, purpose, reading);
  const text = decodeUtf8(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  if (patch !== undefined) {
    const before = readJson(text, STORED_DEPTH) as Resource;
    return takeRight(await patchResource(before, unpackPatch(patch), reading), reading);
  }
  return takeIn(readJson(text, depth ?? reading.nesting), text, purpose, reading);
}

/** Contained resources with about so many index entries together; one may have more. */
function* pieces(contained: readonly Contained[]): Generator<readonly Contained[]> {
  let from = 0;
  let count = 0;
  for (const [at, { entries }] of contained.entries()) {
    if (at > from && count + entries.length > ENTRIES) {
      yield contained.slice(from, at);
      from = at;
      count = 0;
    }
    count += entries.length;
  }
  if (from < contained.length) yield contained.slice(from);
}

function pick({ members, entryBytes, isCut }: ParsedContent): NonNullable<Findings['content']> {
  return { members, entryBytes, isCut };
}

function withoutCodes({ at, judgement }: NonNullable<Findings['judged']>): NonNullable<Findings['judged']> {
  return { at, judgement: { ...judgement, named: { ...judgement.named, codes: [] } } };
}

function findingsOf({ tree, prepared, entries, judged }: BodyParser): Findings {
  const content = prepared?.content;
  return {
    isWrapped: !isContainer(tree),
    ...(prepared && { faults: prepared.faults }),
    ...(content && { content: pick(content) }),
    ...(entries && { checked: [...entries.keys()] }),
    ...(judged && { judged: withoutCodes(judged) }),
  };
}
