import { existsSync, readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';

import { unversioned, type StructureDefinition } from '../../validate/profiles/definition/structure-definition.js';

/** Where a build puts the StructureDefinitions of the FHIR package: beside the tables, or, for sources, in dist/. */
const PLACES = [
  new URL('../../../generated/structures.br', import.meta.url),
  new URL('../../../dist/generated/structures.br', import.meta.url),
];

/** In the first line: the blocks, each with its length and the URLs of the definitions in it, a line for each. */
type Block = readonly [length: number, urls: readonly string[]];

interface Place {
  readonly from: number;
  readonly length: number;
  readonly line: number;
}

interface Pack {
  readonly bytes: Buffer;
  readonly places: ReadonlyMap<string, Place>;
}

let pack: Pack | undefined;
/** The block that was read last: a definition and its base are often in the same one. */
let last: { readonly from: number; readonly lines: readonly string[] } | undefined;

/** A StructureDefinition of the FHIR package with its snapshot, without mappings. Nothing is read before the first is asked for. */
export function shippedStructure(canonical: string): StructureDefinition | undefined {
  pack ??= open();
  const place = pack.places.get(unversioned(canonical));
  if (place === undefined) return undefined;
  const { from, length, line } = place;
  if (last?.from !== from) {
    const text = brotliDecompressSync(pack.bytes.subarray(from, from + length)).toString('utf8');
    last = { from, lines: text.split('\n') };
  }
  return JSON.parse(last.lines[line] ?? '') as StructureDefinition;
}

function open(): Pack {
  const file = PLACES.find((each) => existsSync(each));
  if (file === undefined) return { bytes: Buffer.alloc(0), places: new Map() };
  const bytes = readFileSync(file);
  const end = bytes.indexOf('\n');
  const places = new Map<string, Place>();
  let from = end + 1;
  for (const [length, urls] of JSON.parse(bytes.toString('utf8', 0, end)) as readonly Block[]) {
    for (const [line, url] of urls.entries()) places.set(url, { from, length, line });
    from += length;
  }
  return { bytes, places };
}
