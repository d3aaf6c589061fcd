import { expect } from 'vitest';

import { DEFAULT_SERVICES } from '../../../runtime/core/default-services.js';
import { tables } from '../../../generated/tables.js';
import type { JsonObject, JsonValue, Resource } from '../../../runtime/fhir/resource.js';
import { readJson } from '../../../runtime/format/read-json.js';
import { writeJson } from '../../../runtime/format/write-json.js';
import { readXml } from '../../../runtime/format/xml/read-xml.js';
import { writeXml } from '../../../runtime/format/xml/write-xml.js';
import { answersTo, type Reading } from '../../../runtime/body-workers/answers.js';
import { takeBody } from '../../../runtime/body-workers/collect.js';
import { assemble } from '../../../runtime/body-workers/pieces.js';
import { composePut } from '../../../runtime/core/write/compose-change.js';
import { linkPlans } from '../../../runtime/interactions/bundle/links/link-plan.js';
import type { BodyPurpose } from '../../../runtime/core/write/large-bodies.js';
import { createPatchers } from '../../../runtime/patch/apply/patchers.js';
import { parsedBodyOf } from '../../../runtime/core/write/parsed-bodies.js';
import { createExtractor } from '../../../runtime/indexing/extract.js';
import type { IndexEntry } from '../../../runtime/indexing/entry.js';
import type { Put, StoredVersion } from '../../../runtime/store/store.js';
import { createValidator } from '../../../runtime/validate/create-validator.js';
import { createRuleChecker } from '../../../runtime/validate/rules/create-rule-checker.js';
import { readExample } from './examples.js';

const limits = { nesting: 100, entries: 5000, resource: 15 * 2 ** 20 };
const extract = createExtractor(tables);
const reading: Reading = {
  nesting: limits.nesting,
  limits,
  readXml: async (bytes) => readXml(bytes, tables),
  writeXml: async (resource, pretty) => writeXml(resource, tables, { pretty }),
  validate: createValidator(tables),
  rules: createRuleChecker(tables),
  validation: 'structure',
  extract,
  patchers: createPatchers(tables),
  plans: linkPlans(tables),
};

/** Takes a text in as a thread does. */
async function takeIn(text: string, purpose: BodyPurpose): Promise<JsonValue> {
  const assembly = assemble();
  for await (const answer of answersTo({ bytes: Buffer.from(text), format: 'json', purpose }, reading)) {
    if (answer.is === 'end') return takeBody(assembly.tree);
    if (answer.is === 'failure') throw new Error(answer.issues[0].text);
    if (answer.is === 'defect') throw answer.error;
    assembly.add(answer.piece);
  }
  throw new Error('no end');
}

const CODING = { system: 'urn:test', code: 'kept', display: 'Kept' };

/** The same with another `meta`, or none. */
const MUTATIONS: readonly ((resource: Resource) => JsonObject)[] = [
  (resource) => resource,
  ({ meta: _meta, ...rest }) => rest,
  ({ id: _id, ...rest }) => ({ ...rest, meta: { tag: [CODING], profile: ['urn:test:profile'], source: 'urn:test' } }),
];

/** A version before, whose tag stays. */
function before({ resourceType }: Resource): StoredVersion {
  const meta = { versionId: '3', lastUpdated: '2024-01-01T00:00:00.000Z', tag: [{ ...CODING, code: 'old' }] };
  const json = JSON.stringify({ resourceType, id: 'x', meta });
  return { type: resourceType, id: 'x', version: 3, lastUpdated: 1704067200000, json };
}

function sorted(entries: readonly IndexEntry[]): string[] {
  return entries.map((entry) => JSON.stringify(entry)).sort();
}

/** What became of examples. */
export interface Taken {
  /** Written as what is read here. */
  readonly count: number;
  /** Refused for their number of entries, here too. */
  readonly tooLarge: number;
  /** Binaries, and what the validator refuses. */
  readonly missing: readonly string[];
}

/**
 * Takes in official examples as a thread does, with other `meta` and over a version before, and fails where what is written is
 * not what is written of the same text read here.
 *
 * @param files in the order of their names, for how each is changed depends on its place
 */
export async function takeInExamples(files: readonly string[]): Promise<Taken> {
  let count = 0;
  let tooLarge = 0;
  const missing: string[] = [];
  for (const [index, name] of files.entries()) {
    const example = readJson(readExample(name).text) as Resource;
    // Each example is one of the six, and each type has several.
    const purpose = index % 2 === 0 ? 'create' : 'put';
    const text = writeJson(MUTATIONS[index % 3]!(example));
    const plain = readJson(text) as Resource;
    const taken = (await takeIn(text, purpose)) as Resource;
    const content = parsedBodyOf(taken)?.content;
    if (content?.entryBytes === Infinity) {
      await expect(composePut(plain, 'x', undefined, { ...DEFAULT_SERVICES, extract })).rejects.toThrow('may have');
      tooLarge++;
      continue;
    }
    if (content === undefined) {
      missing.push(name);
      continue;
    }
    const current = purpose === 'put' ? before(plain) : undefined;
    const ours = (await composePut(taken, 'x', current, { ...DEFAULT_SERVICES, extract })) as Put;
    const theirs = (await composePut(plain, 'x', current, { ...DEFAULT_SERVICES, extract })) as Put;
    // Texts, because comparing the trees takes minutes.
    expect(ours.body, name).toEqual(theirs.body);
    expect(writeJson(ours.content), name).toBe(writeJson(theirs.content));
    expect(sorted(ours.entries), name).toEqual(sorted(theirs.entries));
    count++;
  }
  return { count, tooLarge, missing };
}
