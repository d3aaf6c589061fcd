import { formatSize } from '../../config/setting.js';
import type { OtherComparison, OtherTally } from './compare-others.js';
import type { TypeCount, VersionComparison, VersionTally } from './compare-versions.js';

/** All that was compared after a copy. */
export interface Comparison {
  readonly versions: VersionComparison;
  readonly blobs: OtherComparison;
  readonly maps: OtherComparison;
}

const NONE: TypeCount = { living: 0, versions: 0 };
const WIDTHS = [30, 12, 12, 12, 12];

/** Counts and hashes of both sides, line by line. */
export function describeComparison({ versions, blobs, maps }: Comparison): string[] {
  const { source, target } = versions;
  const types = [...new Set([...source.types.keys(), ...target.types.keys()])].sort();
  return [
    row('', 'source', '', 'target', ''),
    row('type', 'resources', 'versions', 'resources', 'versions'),
    ...types.map((type) => counts(type, source.types.get(type) ?? NONE, target.types.get(type) ?? NONE)),
    counts('all', sum(source), sum(target)),
    ...hashes('versions', [source.hash, target.hash].map(String)),
    ...hashes('contents', [blobs.source, blobs.target].map(withSize)),
    ...hashes('map entries', [maps.source, maps.target].map(withCount)),
  ];
}

/** Returns the first difference of each kind, in words; empty: there is none. */
export function describeDifferences({ versions, blobs, maps }: Comparison): string {
  const kinds = [
    ['versions', versions],
    ['contents', blobs],
    ['map entries', maps],
  ] as const;
  return kinds
    .flatMap(([kind, { differences, first }]) =>
      first === undefined ? [] : [`${differences} ${kind} differ; the first: ${first}`],
    )
    .join('; ');
}

function counts(name: string, a: TypeCount, b: TypeCount): string {
  return row(name, String(a.living), String(a.versions), String(b.living), String(b.versions));
}

function sum({ types }: VersionTally): TypeCount {
  const all = { living: 0, versions: 0 };
  for (const { living, versions } of types.values()) {
    all.living += living;
    all.versions += versions;
  }
  return all;
}

function hashes(kind: string, [source = '', target = '']: readonly string[]): string[] {
  return [`hash of ${kind}`, `  source ${source}`, `  target ${target}`];
}

function withSize({ count, size, hash }: OtherTally): string {
  return `${hash.toString()} (${count}, ${formatSize(size)})`;
}

function withCount({ count, hash }: OtherTally): string {
  return `${hash.toString()} (${count})`;
}

function row(...cells: readonly string[]): string {
  const padded = cells.map((cell, i) => (i === 0 ? cell.padEnd(WIDTHS[i]!) : cell.padStart(WIDTHS[i]!)));
  return padded.join('').trimEnd();
}
