import type { Document } from 'mongodb';

import { append } from '../../../../fhir/lists.js';
import type { Stretch } from '../plan/access.js';
import { compile, everyOf, restOf, type Conjunct } from '../compile/compile.js';
import { drivingIn } from '../plan/driving.js';
import { hasLinks, type Plan } from '../plan/plan.js';
import { fieldsOf, idOf } from '../../bson/bson.js';
import type { Batch } from '../../read/batch.js';
import { needOf, projectionOf, toHeld, type Held, type Need } from './held.js';
import { TooFar } from './asked.js';
import { hold } from './hold.js';
import type { Links, Size } from './links.js';
import { chunksOf } from './read-all.js';
import { sizeOf } from './size.js';

/** Keys of what fulfils a plan; undefined: there are more than so many, or so many have to be looked at. */
export function collectKeys(
  links: Links,
  type: string,
  plan: Plan,
  most: number,
): Promise<readonly string[] | undefined> {
  return links.known.keys(type, plan, most, () => findKeys(links, type, plan, most));
}

async function findKeys(links: Links, type: string, plan: Plan, most: number): Promise<readonly string[] | undefined> {
  if (hasLinks(plan)) {
    const held = await collectHeld(links, type, plan, most, { params: [], names: false });
    return held?.map(({ key }) => key);
  }
  const listed = most <= links.limits.few ? exactStretch(compile(type, plan)) : undefined;
  if (listed !== undefined) {
    // To count them would take as long.
    const { documents, isCut } = await links.ask.list(listed.stretch, listed.hint, most + 1);
    return isCut || documents.length > most ? undefined : documents.map(idOf);
  }
  const tested = await listTested(links, compile(type, plan));
  if (tested !== undefined) return tested;
  const size = await sizeOf(links, type, plan, most);
  if (size.isMore) return undefined;
  const batch = await read(links, type, size, most, { params: [], names: false });
  return isAll(batch, most) ? batch.documents.map(idOf) : undefined;
}

/** The same with what is needed of each. */
export async function collectHeld(
  links: Links,
  type: string,
  plan: Plan,
  most: number,
  need: Need,
): Promise<readonly Held[] | undefined> {
  const size = await sizeOf(links, type, plan, most);
  if (size.isMore) return undefined;
  const own = needOf(plan);
  const all = { params: [...own.params, ...need.params], names: own.names || need.names };
  const batch = await read(links, type, size, most, all);
  if (!isAll(batch, most)) return undefined;
  const held = batch.documents.map(toHeld);
  if (!hasLinks(plan)) return held;
  const found: Held[] = [];
  try {
    for (const chunk of chunksOf(held)) append(found, await hold(links, type, plan, chunk, { isTrying: true }));
  } catch (error) {
    if (error instanceof TooFar) return undefined;
    throw error;
  }
  return found;
}

/** The range of an index that contains exactly the matches of some conjuncts; undefined if there is none. */
function exactStretch(
  conjuncts: readonly Conjunct[],
): { readonly stretch: Stretch; readonly hint: Document } | undefined {
  const [access, ...others] = conjuncts.flatMap(({ accesses }) => accesses);
  const [stretch, ...more] = access?.stretches ?? [];
  const isExact = conjuncts.length === 1 && others.length === 0 && access?.isExact === true && more.length === 0;
  return isExact && stretch !== undefined ? { stretch, hint: access.hint } : undefined;
}

/** So many resources are read before anything is counted. */
const FEW_READ = 20;

/**
 * Keys of what fulfils a condition on one array of entries, where few resources lie on its access path: they are read with the entries
 * that fulfil it, by one command. Undefined: there are more, or it is another condition.
 */
async function listTested(links: Links, conjuncts: readonly Conjunct[]): Promise<readonly string[] | undefined> {
  const [conjunct, ...others] = conjuncts;
  const [access, ...more] = conjunct?.accesses ?? [];
  const [stretch, ...further] = access?.stretches ?? [];
  if (conjunct === undefined || access === undefined || stretch === undefined) return undefined;
  if (others.length + more.length + further.length > 0 || access.part !== undefined) return undefined;
  const [[array = '', test] = [], ...tests] = Object.entries(conjunct.filter) as [string, Document][];
  if (tests.length > 0 || test === undefined || Object.keys(test).join() !== '$elemMatch') return undefined;
  const projection = { _id: 1, [array]: test };
  const query = { filter: {}, ...stretch, hint: access.hint, limit: FEW_READ + 1, projection };
  const { documents, isCut } = await links.ask.read(query);
  if (isCut || documents.length > FEW_READ) return undefined;
  return documents.filter((bytes) => fieldsOf(bytes).has(array)).map(idOf);
}

function read(links: Links, type: string, { way, conjuncts }: Size, most: number, need: Need): Promise<Batch> {
  const access = way?.access;
  const [stretch, ...more] = access?.stretches ?? [];
  if (access?.isExact === true && conjuncts.length === 1 && stretch !== undefined && more.length === 0) {
    // The range contains exactly the matches: deleted resources have no index entries.
    const limit = boundOf(most);
    if (need.params.length === 0 && !need.names) return links.ask.list(stretch, access.hint, limit);
    return links.ask.read({ filter: {}, ...stretch, hint: access.hint, limit, projection: projectionOf(need) });
  }
  const filters = [drivingIn(type, way), ...restOf(conjuncts, way)];
  const hint = way?.access.hint ?? { _id: 1 };
  return links.ask.read({ filter: everyOf(filters), hint, limit: boundOf(most), projection: projectionOf(need) });
}

/** What was counted may have been counted some seconds before. */
function boundOf(most: number): number {
  return most + 100;
}

function isAll({ documents, isCut }: Batch, most: number): boolean {
  return !isCut && documents.length < boundOf(most);
}
