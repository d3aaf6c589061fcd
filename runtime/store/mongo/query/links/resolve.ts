import { askedFor, hasLinks, mapLinks, type Plan, type PlannedLink, type PlannedTarget } from '../plan/plan.js';
import type { RowTest } from '../compile/row-test.js';
import { NOTHING, type Condition } from '../../../../search/query/query.js';
import { openScope, type Scope } from '../scope.js';
import { referenceParam } from '../../bson/index-rows.js';
import { FEW_TYPES } from './filter-by-chain.js';
import { collectCandidates, collectKeys } from './collect.js';
import { withoutAbsent } from './contained-types.js';
import { typeOfPlace, type Candidate } from './candidate.js';
import type { Links } from './links.js';
import { canonicalsOf, namedBy } from './canonicals.js';

/** Opens a search within one type, in which links are replaced by what they come to, where few resources are behind them. */
export async function resolvedScope(links: Links, type: string, where: Condition, isSorted = false): Promise<Scope> {
  const there = await withoutAbsent(links.snapshot, where);
  if (!hasLinks(there)) return openScope(links, type, there);
  const { few, sorted } = links.limits;
  return openScope(links, type, await resolve(links, type, there, isSorted ? sorted : few));
}

/** Replaces links, inner ones first, behind which no more than so many resources are; the same object where there are none. */
export function resolve(links: Links, type: string, plan: Plan, most: number): Promise<Plan> {
  return links.known.resolved(type, plan, most, () =>
    mapLinks(plan, (link) =>
      'chain' in link ? resolveChain(links, type, link, most) : resolveHas(links, type, link, most),
    ),
  );
}

async function resolveChain(
  links: Links,
  type: string,
  link: Extract<PlannedLink, { chain: unknown }>,
  most: number,
): Promise<Plan> {
  const { param } = link;
  const types = link.chain.length > FEW_TYPES ? await links.types() : undefined;
  const chain = link.chain.filter((target) => types?.has(target.type) !== false);
  const each = await Promise.all(
    chain.map(async (target) => {
      const where = await resolve(links, target.type, target.where, most);
      return { target: { ...target, where }, rows: await rowsTo(links, type, param, { ...target, where }, most) };
    }),
  );
  const known = each.filter(({ rows }) => rows !== undefined);
  const open = each.flatMap(({ target, rows }) => (rows === undefined ? [target] : []));
  if (known.length === 0) {
    if (open.length === 0) return NOTHING;
    const isSame = open.length === link.chain.length && open.every(({ where }, i) => where === link.chain[i]?.where);
    return isSame ? link : { param, chain: open };
  }
  const of = askedFor({ param, chain: known.map(({ target }) => target) });
  const rows = { rows: known.flatMap((one) => one.rows ?? []), of };
  return open.length === 0 ? rows : { some: [rows, { param, chain: open }] };
}

/** Tests of references that lead to what fulfils a plan; undefined: that is too much. */
async function rowsTo(
  links: Links,
  source: string,
  param: string,
  { type, where }: PlannedTarget,
  most: number,
): Promise<readonly RowTest[] | undefined> {
  // First: its moment is the newest, and of that moment it is perhaps known which references there are.
  const keys = await collectKeys(links, type, where, most);
  if (keys === undefined) return undefined;
  const hasUrls = keys.length > 0 && links.isNameable(type) && (await links.hasUrls(source, param));
  const places: RowTest = { kind: 'reference', p: param, fields: { to: { in: keys } } };
  return hasUrls ? [places, ...(await canonicals(links, param, type, keys))] : [places];
}

/** Tests of canonicals that name some resources. */
async function canonicals(links: Links, param: string, type: string, keys: readonly string[]): Promise<RowTest[]> {
  const p = referenceParam(param, 'url');
  const alike = new Map<string, { urls: Set<string>; versions: readonly string[] }>();
  const urls = new Set<string>();
  for await (const { urls: own, versions } of canonicalsOf(links, keys)) {
    const name = JSON.stringify(versions);
    const same = alike.get(name) ?? { urls: new Set(), versions };
    alike.set(name, same);
    for (const url of own) {
      urls.add(url);
      same.urls.add(url);
    }
  }
  const ofType = [{ isAbsent: true }, { in: [type] }] as const;
  const tests = [...alike.values()].filter(({ versions }) => versions.length > 0);
  return ofType.flatMap((named): RowTest[] => [
    { kind: 'reference', p, fields: { to: { in: [...urls] }, version: { isAbsent: true }, type: named } },
    ...tests.map(({ urls: own, versions }): RowTest => {
      return { kind: 'reference', p, fields: { to: { in: [...own] }, version: { in: versions }, type: named } };
    }),
  ]);
}

async function resolveHas(
  links: Links,
  type: string,
  link: Extract<PlannedLink, { has: unknown }>,
  most: number,
): Promise<Plan> {
  const { has } = link;
  const where = await resolve(links, has.type, has.where, most);
  const open = where === has.where ? link : { has: { ...has, where } };
  const sources = await collectCandidates(links, has.type, where, most, { params: [has.param], names: false });
  const ids = sources === undefined ? undefined : await targetsOf(links, type, has.param, sources);
  return ids === undefined ? open : { ids: [...ids], of: askedFor(open) };
}

/** Ids of what references of a parameter lead to; undefined: there are too many. */
async function targetsOf(
  links: Links,
  type: string,
  param: string,
  sources: readonly Candidate[],
): Promise<ReadonlySet<string> | undefined> {
  const ids = new Set<string>();
  const rows = sources.flatMap(({ references }) => references);
  for (const row of rows) if (row.p === param && typeOfPlace(row) === type) ids.add(row.id!);
  if (ids.size > links.limits.most) return undefined;
  if (!links.isNameable(type)) return ids;
  const urlParam = referenceParam(param, 'url');
  const canonical = rows.filter(({ p, type: named }) => p === urlParam && (named === undefined || named === type));
  for await (const key of namedBy(links, type, canonical)) {
    ids.add(key.slice(type.length + 1));
    if (ids.size > links.limits.most) return undefined;
  }
  return ids;
}
