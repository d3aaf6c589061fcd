import { findAll } from '../../core/search-services/find-all.js';
import { readStored } from '../../core/read-stored.js';
import type { Services } from '../../core/services.js';
import type { ReferenceEntry } from '../../indexing/entry.js';
import { isLink } from '../../search/query/criterion.js';
import { leadsTo, matches } from '../../search/query/match.js';
import type { Chain, Condition, Has, Target } from '../../search/query/query.js';
import { isContainedType, plainType } from '../../store/contained-resources.js';
import type { Focus } from './focus.js';

/** The services that links are followed with. */
export type LinkServices = Pick<Services, 'store' | 'extract' | 'largeTexts'>;

/** Resources that one query returns. */
const PAGE = 100;

/**
 * Whether a version fulfils a condition that leads to other resources: these the store finds, as they are now.
 *
 * @param condition its links lead to what may be searched
 */
export async function holdsWithLinks(
  condition: Condition,
  focus: Focus,
  services: LinkServices,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const inner = (each: Condition): Promise<boolean> => holdsWithLinks(each, focus, services, signal);
  if ('all' in condition) {
    for (const each of plainFirst(condition.all)) if (!(await inner(each))) return false;
    return true;
  }
  if ('some' in condition) {
    for (const each of plainFirst(condition.some)) if (await inner(each)) return true;
    return false;
  }
  if ('not' in condition) return !(await inner(condition.not));
  if ('chain' in condition) return hasTarget(condition, focus, services, signal);
  if ('has' in condition) return hasSource(condition.has, focus, services, signal);
  return matches(condition, focus.candidate);
}

/** What the version itself answers costs least. */
function plainFirst(conditions: readonly Condition[]): readonly Condition[] {
  return [...conditions.filter((each) => !isLink(each)), ...conditions.filter(isLink)];
}

/** https://hl7.org/fhir/R5/search.html#chaining */
async function hasTarget(
  { param, chain }: Chain,
  focus: Focus,
  services: LinkServices,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const references = focus.candidate.entries.filter(
    (entry): entry is ReferenceEntry => entry.kind === 'reference' && entry.param === param,
  );
  for (const target of chain) {
    const isFound = isContainedType(target.type)
      ? await hasContained(target, references, focus, services, signal)
      : await finds(targetWhere(target, references), target.type, services, signal);
    if (isFound) return true;
  }
  return false;
}

async function hasContained(
  { type, where }: Target,
  references: readonly ReferenceEntry[],
  focus: Focus,
  services: LinkServices,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const ids = new Set(references.map(({ id, fragment }) => fragment ?? id));
  for (const { type: own, id, entries } of focus.contained()) {
    if (own !== plainType(type) || !ids.has(id)) continue;
    const { lastUpdated } = focus.candidate;
    const within: Focus = {
      ...{ type: own, candidate: { id, lastUpdated, entries }, contained: focus.contained },
      worded: () => within,
    };
    if (await holdsWithLinks(where, within, services, signal)) return true;
  }
  return false;
}

/** Resources of a type that references lead to and that fulfil the rest; undefined: none does. */
function targetWhere({ type, where }: Target, references: readonly ReferenceEntry[]): Condition | undefined {
  const some = references.flatMap((each): readonly Condition[] => {
    if (each.type !== undefined && each.type !== type) return [];
    if (each.url !== undefined) return [canonicalWhere(each.url, each.version)];
    return each.base === undefined && each.type === type && each.id !== undefined ? [{ ids: [each.id] }] : [];
  });
  return some.length === 0 ? undefined : { all: [{ some }, where] };
}

function canonicalWhere(url: string, version: string | undefined): Condition {
  const named: Condition = { param: 'url', any: [{ is: 'uri-equals', value: url }] };
  return version === undefined ? named : { all: [named, { param: 'version', any: [{ is: 'token', code: version }] }] };
}

async function finds(
  where: Condition | undefined,
  type: string,
  { store }: LinkServices,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  if (where === undefined) return false;
  const page = await store.find({ type, where, sort: [], count: 1, total: 'none' }, signal);
  return page.versions.length > 0;
}

/** https://hl7.org/fhir/R5/search.html#has */
async function hasSource(
  { type, param, where }: Has['has'],
  focus: Focus,
  services: LinkServices,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const { candidate } = focus;
  const byId: Condition = { param, any: [{ is: 'reference', types: [focus.type], id: candidate.id }] };
  if (await finds({ all: [byId, where] }, type, services, signal)) return true;
  const urls = candidate.entries.flatMap((entry) =>
    entry.kind === 'uri' && entry.param === 'url' ? [{ is: 'reference', url: entry.value } as const] : [],
  );
  return (
    urls.length > 0 && namedByCanonical(type, { all: [{ param, any: urls }, where] }, param, focus, services, signal)
  );
}

/** Whether some of the resources that name the URL mean this version: their references may name another one. */
async function namedByCanonical(
  type: string,
  where: Condition,
  param: string,
  focus: Focus,
  services: LinkServices,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const { store, extract } = services;
  const query = { type, where, sort: [], count: PAGE, total: 'none' } as const;
  for await (const { json } of findAll(query, (each, within) => store.find(each, within), signal)) {
    if (json === undefined) continue;
    const leads = extract(await readStored(json, services), 'words').some(
      (entry) => entry.kind === 'reference' && entry.param === param && leadsTo(entry, focus.type, focus.candidate),
    );
    if (leads) return true;
  }
  return false;
}
