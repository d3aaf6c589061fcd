import { beforeAll, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import type { ElementRow } from '../../../runtime/contract/types.js';
import type { Store } from '../../../runtime/store/store.js';
import { createRandom, type Random } from '../../contract/random.js';
import { scopedServer } from '../../http/auth/scoped.js';
import { exampleFiles, readExample } from './examples.js';
import { oracle } from '../extraction/fhirpath-oracle.js';

type Json = Record<string, unknown>;

/** A part of a query, and what it gives of the values that it is asked of. */
interface Part {
  readonly text: string;
  of(value: Json): Json;
}

/** Types whose examples are asked. */
const TYPES: ReadonlySet<unknown> = new Set([
  ...['Patient', 'Observation', 'Encounter', 'MedicationRequest', 'Organization', 'Practitioner', 'Condition'],
  ...['CarePlan', 'Questionnaire', 'DiagnosticReport', 'ValueSet', 'Claim', 'Immunization', 'Timing'],
]);
const MOST_OF_TYPE = 8;
const LARGEST = 30_000;

const rows = new Map(tables.types.map((row) => [row.name, row]));
const primitives = new Set(tables.primitives.map(({ name }) => name));

/**
 * Random selections of official examples, against what the FHIRPath library and plain JSON say of them.
 *
 * @param count queries
 */
export function randomSelections(store: Store, seed: number, count: number): void {
  const server = scopedServer(store);
  /** As they are stored, with their `meta`. */
  const examples: Json[] = [];
  beforeAll(async () => {
    for (const { resource } of samples()) {
      const path = `/${resource['resourceType']}/${resource['id']}`;
      const answer = await server.all.send('PUT', path, resource);
      expect(answer.status, answer.text).toBeLessThan(300);
      examples.push((await server.all.send('GET', path)).json());
    }
  });

  it(`${count} random selections give what is there (seed ${seed})`, async () => {
    const random = createRandom(seed);
    for (let i = 0; i < count; i++) {
      const resource = random.pick(examples);
      const { text, of } = selection(String(resource['resourceType']), resource, 0, random);
      const path = `/${resource['resourceType']}/${resource['id']}/$graphql`;
      const answer = await server.all.send('POST', path, { query: text }, { 'content-type': 'application/json' });
      const what = `${path} ${text}`;
      expect(answer.status, `${what}: ${answer.text}`).toBe(200);
      expect(answer.json().errors, what).toBeUndefined();
      expect(pruned(answer.json().data), what).toEqual(pruned(of(resource)));
      const list = `${resource['resourceType']}List`;
      const query = `{ ${list}(_id: "${resource['id']}") ${text} }`;
      const listed = await server.all.send('POST', '/$graphql', { query }, { 'content-type': 'application/json' });
      // A list is copied from the stored text where that will do; the instance is read.
      expect(listed.text, query).toBe(`{"data":{"${list}":[${answer.text.slice('{"data":'.length, -1)}]}}`);
    }
    expect(server.defects).toEqual([]);
  });
}

function samples(): readonly { readonly resource: Json }[] {
  const found = new Map<unknown, { readonly resource: Json }[]>();
  for (const file of exampleFiles()) {
    const [type = ''] = file.split('-');
    const known = found.get(type) ?? [];
    if (!TYPES.has(type) || known.length >= MOST_OF_TYPE) continue;
    const { resource, text } = readExample(file);
    if (text.length <= LARGEST) found.set(type, [...known, { resource }]);
  }
  return [...found.values()].flat();
}

function elementsOf(name: string): readonly ElementRow[] {
  const row = rows.get(name);
  return row === undefined ? [] : [...elementsOf(row.base ?? ''), ...row.elements];
}

/** Some fields of a type; most of those that the sample has. */
function selection(type: string, sample: Json | undefined, depth: number, random: Random): Part {
  const fields = elementsOf(type).flatMap((element) =>
    element.types
      .filter((each) => each !== 'Resource' && (primitives.has(each) || rows.has(each)))
      .map((each) => ({
        element,
        type: each,
        json: element.choice === true ? element.name + capital(each) : element.name,
      })),
  );
  const wanted = fields.filter(({ json }) => random.chance(sample?.[json] === undefined ? 0.02 : 0.6));
  const parts = wanted.flatMap((each, i) => {
    const part = field(type, each, sample, depth, i, random);
    return part === undefined ? [] : [part];
  });
  if (parts.length === 0) parts.push({ text: '__typename', of: () => ({}) });
  return { text: `{ ${parts.map(({ text }) => text).join(' ')} }`, of: (value) => Object.assign({}, ...parts.map((each) => each.of(value))) as Json }; // prettier-ignore
}

function field(
  owner: string,
  { element, type, json }: { readonly element: ElementRow; readonly type: string; readonly json: string },
  sample: Json | undefined,
  depth: number,
  place: number,
  random: Random,
): Part | undefined {
  const key = random.chance(0.2) ? `f${place}` : json;
  const name = key === json ? json : `${key}: ${json}`;
  if (primitives.has(type)) return { text: name, of: (value) => ({ [key]: value[json] }) };
  if (depth >= 3) return undefined;
  const isList = element.max === '*';
  const list = listOf(sample?.[json]);
  const inner = selection(type, list[0], depth + 1, random);
  if (!isList) return { text: `${name} ${inner.text}`, of: (value) => one(value[json], inner, key) };
  const { text, choose } = choice(owner, json, type, list, depth, random);
  return {
    text: `${name}${text} ${inner.text}`,
    of: (value) => {
      const chosen = choose(listOf(value[json]), value);
      return chosen.length === 0 ? {} : { [key]: chosen.map((each) => inner.of(each)) };
    },
  };
}

/** Arguments of a list, and what they leave of it. */
function choice(
  owner: string,
  json: string,
  type: string,
  list: readonly Json[],
  depth: number,
  random: Random,
): { readonly text: string; readonly choose: (list: readonly Json[], owner: Json) => readonly Json[] } {
  const args: string[] = [];
  let choose = (all: readonly Json[], _owner: Json): readonly Json[] => all;
  const names = elementsOf(type).filter(({ types, choice: is, max }) => is !== true && max === undefined && primitives.has(types[0]!) && types[0] !== 'xhtml'); // prettier-ignore
  const own = list.length === 0 ? undefined : random.pick(list);
  const tested = names.filter(({ name }) => ['string', 'boolean'].includes(typeof own?.[name]));
  if (tested.length > 0 && random.chance(0.25)) {
    const { name } = random.pick(tested);
    const value = own![name];
    args.push(`${name}: ${JSON.stringify(value)}`);
    choose = (all) => all.filter((each) => each[name] === value);
  } else if (depth === 0 && names.length > 0 && random.chance(0.25)) {
    const { name } = random.pick(names);
    const test = `${name}.${random.pick(['exists()', 'empty()', 'count() = 1'])}`;
    args.push(`fhirpath: ${JSON.stringify(test)}`);
    const filtered = oracle(`${owner}.${json}.where(${test})`);
    choose = (_all, resource) => filtered(resource).map(({ value }) => value as Json);
  }
  const before = choose;
  if (random.chance(0.2)) {
    const [offset, count] = [random.below(3), random.below(4)];
    args.push(`_offset: ${offset}`, `_count: ${count}`);
    choose = (all, resource) => before(all, resource).slice(offset, offset + count);
  }
  return { text: args.length === 0 ? '' : `(${args.join(', ')})`, choose };
}

function one(value: unknown, inner: Part, key: string): Json {
  return value === undefined ? {} : { [key]: inner.of(value as Json) };
}

function listOf(value: unknown): readonly Json[] {
  if (value === undefined || value === null) return [];
  return (Array.isArray(value) ? value : [value]).filter((each) => typeof each === 'object' && each !== null) as Json[];
}

/** Without what is empty, and without names of types. */
function pruned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(pruned).filter((each) => each !== undefined);
  if (typeof value !== 'object' || value === null) return value ?? undefined;
  const entries = Object.entries(value)
    .filter(([name]) => name !== '__typename')
    .map(([name, each]) => [name, pruned(each)] as const)
    .filter(([, each]) => each !== undefined && !(Array.isArray(each) && each.length === 0));
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
