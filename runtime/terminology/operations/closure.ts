import { createHash, randomUUID } from 'node:crypto';

import type { Call, Reply } from '../../core/call.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import { formatInstant } from '../../fhir/instant.js';
import { isObject, type JsonObject, type Resource } from '../../fhir/resource.js';
import { closureGroups, EMPTY_CLOSURE, withConcepts, type ClosureTable } from '../closure.js';
import type { CodeSystemIndex } from '../concepts.js';
import { Effort } from '../effort.js';
import { GRAMMARS } from '../systems/grammar.js';
import { createResolver } from '../resolver.js';
import { storedFinder } from '../stored.js';
import { readArguments, valueOf, valuesOf } from '../../operations/common/arguments.js';

/** Names of tables: what the specification leaves to the server. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9 ._:-]{0,63}$/;

/** Codes of one table, and tables of one client. */
const MOST_CONCEPTS = 5000;
const MOST_TABLES = 100;

/** A table that is not used for so long is forgotten, in milliseconds. */
const KEPT = 180 * 24 * 3_600_000;

/** Attempts to write a table that another request changes at the same time. */
const ATTEMPTS = 20;

/** A code system with its state; none: a rule defines its codes. */
interface Opened {
  readonly index?: CodeSystemIndex;
  readonly state: string;
}

/**
 * `$closure`: keeps a closure table of the client. A name alone begins a table, or begins it anew; concepts are added to it; a version asks
 * for what came after it. Each client has tables of its own. https://hl7.org/fhir/R5/conceptmap-operation-closure.html
 *
 * @throws FhirError `parameter-invalid`, `closure-unknown`, `closure-outdated`, `closure-concept`, `too-costly`
 */
export async function closure(call: Call, services: Services): Promise<Reply> {
  const found = readArguments(call, services);
  const [name, version] = [String(valueOf(found, 'name')), valueOf(found, 'version')];
  const sent = valuesOf(found, 'concept');
  if (sent.length > MOST_CONCEPTS) throw tooMany();
  const concepts = sent.map(readConcept);
  if (!NAME.test(name)) throw invalid(`invalid closure name ${JSON.stringify(name.slice(0, 80))}: up to 64 letters, digits, spaces and ._:-`); // prettier-ignore
  if (concepts.length > 0 && version !== undefined) throw invalid('Give concepts or a version, not both');
  const tables = tablesOf(call, services);
  if (concepts.length === 0 && version === undefined) {
    await tables.begin(name);
    return answer(`Closure Table ${name} Creation`, EMPTY_CLOSURE, []);
  }
  const systems = createSystems(call, services);
  if (version !== undefined) {
    const table = await tables.read(name);
    const after = /^(?:0|[1-9][0-9]{0,8})$/.test(String(version)) ? Number(version) : Infinity;
    if (after > table.version) throw invalid(`The closure table has no version ${JSON.stringify(version)}; it is at ${table.version}`); // prettier-ignore
    await checkStates(name, table, systems);
    return answer(`Updates for Closure Table ${name}`, table, await systems.groups(table, after));
  }
  const states: Record<string, string> = {};
  for (const { system, code } of concepts) states[system] = await systems.check(system, code);
  const table = await tables.change(name, async (before) => {
    await checkStates(name, before, systems);
    return withConcepts(before, concepts, states);
  });
  return answer(`Updates for Closure Table ${name}`, table, await systems.groups(table, table.version - 1));
}

function readConcept(value: unknown): { readonly system: string; readonly code: string } {
  const { system, code } = isObject(value as JsonObject) ? (value as JsonObject) : {};
  if (typeof system !== 'string' || typeof code !== 'string') throw invalid('Each "concept" is a Coding with a system and a code'); // prettier-ignore
  return { system, code };
}

/** "The server should only send this when its underlying terminology conditions have been changed". @throws FhirError `closure-outdated` */
async function checkStates(name: string, table: ClosureTable, systems: Systems): Promise<void> {
  for (const [system, state] of Object.entries(table.systems)) {
    if ((await systems.open(system))?.state === state) continue;
    throw new FhirError('closure-outdated', `closure ${JSON.stringify(name)} must be reinitialized: the code system ${system} is not what it was`); // prettier-ignore
  }
}

function answer(name: string, { version }: ClosureTable, group: readonly JsonObject[]): Reply {
  const resource = {
    ...{ resourceType: 'ConceptMap', id: randomUUID(), version: String(version), name, status: 'active' },
    ...{ experimental: true, date: formatInstant(Date.now()) },
    ...(group.length > 0 && { group }),
  };
  return { status: 200, resource: resource as unknown as Resource };
}

type Systems = ReturnType<typeof createSystems>;

/** The code systems that one request looks at, as far as the token may see them. */
function createSystems(call: Call, services: Services) {
  const effort = new Effort(call.signal);
  const resolver = createResolver(storedFinder({ access: call.principal.access, signal: call.signal }, services), { effort }); // prettier-ignore
  const known = new Map<string, Opened | undefined>();
  const look = async (system: string): Promise<Opened | undefined> => {
    const index = await resolver.codeSystem(system);
    const isUsable = index !== undefined && index.content !== 'not-present' && index.content !== 'supplement';
    if (isUsable) return { index, state: stateOf(index) };
    return GRAMMARS.has(system) ? { state: 'rule' } : undefined;
  };
  const open = async (system: string): Promise<Opened | undefined> => {
    if (!known.has(system)) known.set(system, await look(system));
    return known.get(system);
  };
  return {
    open,
    /** The state of the system of a code. @throws FhirError `closure-concept` */
    async check(system: string, code: string): Promise<string> {
      const opened = await open(system);
      const turn = effort.pace();
      if (turn !== undefined) await turn;
      if (opened === undefined) throw new FhirError('closure-concept', `The server does not know the code system ${JSON.stringify(system)}`); // prettier-ignore
      const { index, state } = opened;
      const isCode = index === undefined ? (await GRAMMARS.get(system)?.check(code)) !== undefined : index.find(code) !== undefined; // prettier-ignore
      if (!isCode) throw new FhirError('closure-concept', `The code system ${JSON.stringify(system)} has no code ${JSON.stringify(code)}`); // prettier-ignore
      return state;
    },
    async groups(table: ClosureTable, after: number): Promise<readonly JsonObject[]> {
      for (const { system } of table.concepts) await open(system);
      return closureGroups(table, after, (system) => known.get(system)?.index, effort);
    },
  };
}

/** What changes when the code system does. */
function stateOf({ version = '', resource }: CodeSystemIndex): string {
  const meta = resource['meta'] as JsonObject | undefined;
  return `${version} ${String(resource['id'] ?? '')} ${String(meta?.['versionId'] ?? '')}`;
}

/** The tables of the client, in the small maps of the store. */
function tablesOf({ principal }: Call, { store: { maps } }: Services) {
  const map = `closure-${createHash('sha256').update(principal.clientId).digest('base64url').slice(0, 22)}`;
  const expires = (): number => Date.now() + KEPT;
  const textOf = async (name: string): Promise<string> => {
    const text = await maps.get(map, name);
    if (text === undefined) throw new FhirError('closure-unknown', `invalid closure name ${JSON.stringify(name)}: it is not initialized; send the name alone`); // prettier-ignore
    return text;
  };
  return {
    async begin(name: string): Promise<void> {
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        const before = await maps.get(map, name);
        if (before === undefined && (await maps.entries(map)).size >= MOST_TABLES) {
          throw new FhirError('expansion-too-costly', `A client has ${MOST_TABLES} closure tables at most`);
        }
        if (await maps.swap(map, name, before, JSON.stringify(EMPTY_CLOSURE), expires())) return;
      }
      throw busy();
    },
    async read(name: string): Promise<ClosureTable> {
      return JSON.parse(await textOf(name)) as ClosureTable;
    },
    async change(name: string, next: (table: ClosureTable) => Promise<ClosureTable>): Promise<ClosureTable> {
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        const text = await textOf(name);
        const table = await next(JSON.parse(text) as ClosureTable);
        if (table.concepts.length > MOST_CONCEPTS) throw tooMany();
        if (await maps.swap(map, name, text, JSON.stringify(table), expires())) return table;
      }
      throw busy();
    },
  };
}

function tooMany(): FhirError {
  return new FhirError('expansion-too-costly', `A closure table has ${MOST_CONCEPTS} concepts at most`);
}

function busy(): FhirError {
  return new FhirError('store-busy', 'Other requests change the closure table; try again');
}

function invalid(text: string): FhirError {
  return new FhirError('parameter-invalid', text);
}
