import { existsSync, readFileSync } from 'node:fs';

import type { Resource } from '../fhir/resource.js';
import { isVersion, type TerminologyType } from './version.js';
import { createBoundedMap } from '../fhir/memory/bounded-map.js';

/** Where a build puts the code systems and value sets of the FHIR package: beside the tables, or, for sources, in dist/. */
const PLACES = [
  new URL('../../generated/terminology.ndjson', import.meta.url),
  new URL('../../dist/generated/terminology.ndjson', import.meta.url),
];

/** A resource in the file: what it is found by, and its place there. */
type Entry = readonly [type: string, url: string, version: string, from: number, length: number];

interface Pack {
  readonly bytes: Buffer;
  readonly byUrl: ReadonlyMap<string, Entry>;
}

/** Parsed resources that are kept; what was not used for longest goes first. */
const KEPT = 64;

let pack: Pack | undefined;
const parsed = createBoundedMap<Resource>(KEPT);

/** A code system, value set or concept map of the FHIR package. Nothing is read before the first is asked for. */
export function shippedResource(type: TerminologyType, url: string, version?: string): Resource | undefined {
  const { bytes, byUrl } = (pack ??= open());
  const key = `${type} ${url}`;
  const entry = byUrl.get(key);
  if (entry === undefined || (version !== undefined && !isVersion(entry[2], version))) return undefined;
  const known = parsed.get(key);
  const [, , , from, length] = entry;
  const resource = known ?? (JSON.parse(bytes.toString('utf8', from, from + length)) as Resource);
  if (known === undefined) parsed.set(key, resource);
  return resource;
}

/** URLs of all shipped resources of a type. */
export function shippedUrls(type: TerminologyType): readonly string[] {
  const { byUrl } = (pack ??= open());
  return [...byUrl.values()].filter(([each]) => each === type).map(([, url]) => url);
}

/** All shipped resources of a type, one after the other. They are not kept. */
export function* shippedResources(type: TerminologyType): Iterable<Resource> {
  const { bytes, byUrl } = (pack ??= open());
  for (const [own, , , from, length] of byUrl.values()) {
    if (own === type) yield JSON.parse(bytes.toString('utf8', from, from + length)) as Resource;
  }
}

function open(): Pack {
  const place = PLACES.find((each) => existsSync(each));
  if (place === undefined) return { bytes: Buffer.alloc(0), byUrl: new Map() };
  const bytes = readFileSync(place);
  const end = bytes.indexOf('\n');
  const entries = JSON.parse(bytes.toString('utf8', 0, end)) as readonly Entry[];
  const start = end + 1;
  const byUrl = new Map(
    entries.map(([type, url, version, from, length]): [string, Entry] => [
      `${type} ${url}`,
      [type, url, version, start + from, length],
    ]),
  );
  return { bytes, byUrl };
}
