import { FhirError } from '../fhir/errors.js';
import type { JsonObject, Resource } from '../fhir/resource.js';
import { readJson } from '../format/read-json.js';
import { writeJson } from '../format/write-json.js';
import { decodeUtf8 } from '../format/utf8.js';
import { patchResource } from '../interactions/write/patch-resource.js';
import type { TextForm } from '../core/write/large-bodies.js';
import type { Patchers } from '../patch/apply/patchers.js';
import { STORED_DEPTH } from '../core/read-stored.js';
import type { Answer, BodyWorkerSettings, Job, Whole } from './messages.js';
import { unpackPatch } from './patch-text.js';
import { cutTree } from './pieces.js';
import { takeIn, takeRight, type BodyParser, type BodyServices } from './parse-body.js';

/** Services and limits that a thread reads and patches bodies with. */
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

/** About how many of a long text are. */
const TEXT = 1024 * 1024;

/** Reads a body, and tells what came of it in small answers. */
export async function* answersTo(job: Job, reading: Reading): AsyncGenerator<Answer> {
  try {
    const { form } = job;
    const found = form === undefined ? wholeOf(await read(job, reading)) : cutText(await write(job, form, reading));
    for (const piece of cutTree(found, PIECE)) yield { is: 'piece', piece };
    yield { is: 'end' };
  } catch (error) {
    if (!(error instanceof FhirError)) yield { is: 'defect', error };
    else yield { is: 'failure', issues: error.issues, headers: error.headers };
  }
}

function cutText(text: string): string[] {
  const parts: string[] = [];
  for (let i = 0; i < text.length; i += TEXT) parts.push(text.slice(i, i + TEXT));
  return parts;
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

/** A body with what was found about it, as a tree. */
function wholeOf({ tree, prepared, entries, judged }: BodyParser): JsonObject {
  const { faults = [], content } = prepared ?? {};
  const whole: Whole = {
    tree,
    ...(prepared && {
      prepared: { faults, ...(content && { content: { ...content, members: cutText(content.members) } }) },
    }),
    ...(entries && { entries: [...entries] }),
    ...(judged && { judged }),
  };
  return whole as unknown as JsonObject;
}
