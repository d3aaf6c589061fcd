import type { Document } from 'mongodb';

/** Stages that a shard does document by document. */
const STREAMING = new Set([
  '$match',
  '$project',
  '$addFields',
  '$set',
  '$unset',
  '$unwind',
  '$replaceRoot',
  '$replaceWith',
]);

/** Accumulators whose results of shards are combined by an accumulator again. */
const COMBINED: Readonly<Record<string, string>> = { $sum: '$sum', $min: '$min', $max: '$max' };

/** A pipeline in two parts: what each shard does, and what is done with all their results. */
export interface SplitPipeline {
  readonly onShards: readonly Document[];
  /** Empty: the results follow each other. */
  readonly merging: readonly Document[];
}

/**
 * Splits a pipeline at the first stage that needs the documents of all shards.
 *
 * @throws Error of a stage that is not known here
 */
export function splitPipeline(pipeline: readonly Document[]): SplitPipeline {
  const at = pipeline.findIndex((stage) => !STREAMING.has(nameOf(stage)));
  if (at < 0) return { onShards: pipeline, merging: [] };
  const [before, stage, rest] = [pipeline.slice(0, at), pipeline[at]!, pipeline.slice(at + 1)];
  const value: unknown = stage[nameOf(stage)];
  switch (nameOf(stage)) {
    case '$sort': {
      const limit = rest[0] !== undefined && nameOf(rest[0]) === '$limit' ? [rest[0]] : [];
      return { onShards: [...before, stage, ...limit], merging: [stage, ...rest] };
    }
    case '$limit':
      return { onShards: [...before, stage], merging: [stage, ...rest] };
    case '$skip':
      return { onShards: before, merging: [stage, ...rest] };
    case '$count': {
      const total = { $group: { _id: null, n: { $sum: '$n' } } };
      const named = { $project: { _id: 0, [String(value)]: '$n' } };
      return { onShards: [...before, { $group: { _id: null, n: { $sum: 1 } } }], merging: [total, named, ...rest] };
    }
    case '$group': {
      const combined = combine(value as Document);
      if (combined === undefined) return { onShards: before, merging: [stage, ...rest] };
      return { onShards: [...before, stage], merging: [{ $group: combined }, ...rest] };
    }
    default:
      throw new Error(`the router of tests does not split ${nameOf(stage)}`);
  }
}

function nameOf(stage: Document): string {
  return Object.keys(stage)[0] ?? '';
}

/** The group of the groups of shards; undefined: that is not the group of all documents. */
function combine(group: Document): Document | undefined {
  const combined: Document = { _id: '$_id' };
  for (const [field, accumulator] of Object.entries(group)) {
    if (field === '_id') continue;
    const again = COMBINED[nameOf(accumulator as Document)];
    if (again === undefined) return undefined;
    combined[field] = { [again]: `$${field}` };
  }
  return combined;
}
