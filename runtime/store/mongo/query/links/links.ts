import type { Document } from 'mongodb';

import type { Ask } from '../ask.js';
import type { PlanLimits } from '../../../plan/limits.js';
import { entryAccess, keyRangesOf } from '../plan/access.js';
import type { FindParts } from '../parts.js';
import { VERSION_ONLY } from '../../bson/stored-version.js';
import type { Plan } from '../plan/plan.js';
import { lengthOf, type Probes } from '../plan/probe.js';
import { BY_TYPE_AND_TIME } from '../../indexes.js';
import { referenceParam } from '../../bson/index-rows.js';
import type { LinkLimits } from './limits.js';
import { openMemo, type Memo } from './memo.js';
import type { Snapshot } from '../../read/snapshot.js';

/** Context in which the links of one search are evaluated. */
export interface Links {
  readonly snapshot: Snapshot;
  readonly probes: Probes;
  readonly ask: Ask;
  readonly limits: LinkLimits;
  readonly planLimits: PlanLimits;
  /** What is read of each resource of a page. */
  readonly projection: Document;
  /** What was counted to choose among conditions. */
  readonly probed: Probed[];
  /** What was found out about plans, which are the same on many paths where chains lead into contained resources, too. */
  readonly known: LinkMemos;
  /** Types that have versions that are current: deletions too. */
  types(): Promise<ReadonlySet<string>>;
  /** Whether canonicals may name resources of a type. */
  isNameable(type: string): boolean;
  /** Whether any reference of a parameter is a canonical, or another URL. */
  hasUrls(type: string, param: string): Promise<boolean>;
}

/** How many rows a condition has, counted up to a limit. */
interface Probed {
  readonly condition: () => string;
  readonly count: number;
  readonly limit: number;
}

/** Results of the functions that walk through plans, one memo for each function. */
export interface LinkMemos {
  readonly resolved: Memo<Plan>;
  readonly keys: Memo<readonly string[] | undefined>;
}

/** The parts of a store that links need, the same for all searches. */
export type LinkParts = Pick<FindParts, 'probes' | 'isNameable' | 'linkLimits' | 'planLimits'>;

/** Nothing is known yet. @param projection what is read of each resource of a page */
export function openLinks(
  { probes, isNameable, linkLimits: limits, planLimits }: LinkParts,
  ask: Ask,
  projection: Document = VERSION_ONLY,
): Links {
  const { snapshot } = ask;
  let types: Promise<ReadonlySet<string>> | undefined;
  const urls = new Map<string, Promise<boolean>>();
  return {
    snapshot,
    probes,
    ask,
    limits,
    planLimits,
    projection,
    probed: [],
    known: { resolved: openMemo(), keys: openMemo() },
    isNameable,
    types: () => (types ??= typesIn(snapshot)),
    hasUrls(type, param) {
      const name = `${type} ${param}`;
      const answer = urls.get(name) ?? hasRows(snapshot, type, referenceParam(param, 'url'));
      urls.set(name, answer);
      return answer;
    },
  };
}

/** Types that have current versions, by one step of the index for each. */
export async function typesIn(snapshot: Snapshot): Promise<ReadonlySet<string>> {
  const pipeline = [{ $match: { type: { $gte: '' } } }, { $sort: { type: 1 } }, { $group: { _id: '$type' } }];
  const rows = await snapshot.aggregate('resource', pipeline, BY_TYPE_AND_TIME);
  return new Set(rows.map(({ _id }) => String(_id)));
}

async function hasRows(snapshot: Snapshot, type: string, p: string): Promise<boolean> {
  const [arm] = entryAccess(type, 'reference', p, { ranges: [{}] }).arms;
  return arm !== undefined && (await lengthOf(snapshot, keyRangesOf(arm)[0]!, arm.hint, 1)) > 0;
}
