import { existsSync, readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';

/** Where a build puts the definitions of the FHIR package: beside the tables, or, for sources, in dist/. */
const PLACES = [
  new URL('../../../generated/conformance.br', import.meta.url),
  new URL('../../../dist/generated/conformance.br', import.meta.url),
];

/** The types that the pack has; some only where there are guides. https://hl7.org/fhir/R5/conformance-module.html */
export const SHIPPED_TYPES: ReadonlySet<string> = new Set([
  'CapabilityStatement',
  'CodeSystem',
  'CompartmentDefinition',
  'ConceptMap',
  'ImplementationGuide',
  'NamingSystem',
  'OperationDefinition',
  'SearchParameter',
  'StructureDefinition',
  'ValueSet',
  'ViewDefinition',
]);

/** The first line has the blocks: of each its length, and what is in it, a line for each resource. */
type Block = readonly [length: number, resources: readonly (readonly [type: string, id: string, url: string])[]];

interface Place {
  readonly from: number;
  readonly length: number;
  readonly line: number;
}

interface Pack {
  readonly bytes: Buffer;
  /** By `Type/id`. */
  readonly byId: ReadonlyMap<string, Place>;
  /** Ids by type and URL. */
  readonly byUrl: ReadonlyMap<string, string>;
}

let pack: Pack | undefined;
/** The block that was read last: a definition and its base are often in the same one. */
let last: { readonly from: number; readonly lines: readonly string[] } | undefined;

/** The JSON text of a resource of the FHIR package. Nothing is read before the first of these types is asked for. */
export function shippedJson(type: string, id: string): string | undefined {
  const { bytes, byId } = SHIPPED_TYPES.has(type) ? (pack ??= open()) : EMPTY;
  const place = byId.get(`${type}/${id}`);
  if (place === undefined) return undefined;
  const { from, length, line } = place;
  if (last?.from !== from) {
    const text = brotliDecompressSync(bytes.subarray(from, from + length)).toString('utf8');
    last = { from, lines: text.split('\n') };
  }
  return last.lines[line];
}

/** The id of the resource of the FHIR package that has a URL. */
export function shippedId(type: string, url: string): string | undefined {
  return SHIPPED_TYPES.has(type) ? (pack ??= open()).byUrl.get(`${type} ${url}`) : undefined;
}

const EMPTY: Pack = { bytes: Buffer.alloc(0), byId: new Map(), byUrl: new Map() };

function open(): Pack {
  const file = PLACES.find((each) => existsSync(each));
  if (file === undefined) return EMPTY;
  const bytes = readFileSync(file);
  const end = bytes.indexOf('\n');
  const byId = new Map<string, Place>();
  const byUrl = new Map<string, string>();
  let from = end + 1;
  for (const [length, resources] of JSON.parse(bytes.toString('utf8', 0, end)) as readonly Block[]) {
    for (const [line, [type, id, url]] of resources.entries()) {
      byId.set(`${type}/${id}`, { from, length, line });
      byUrl.set(`${type} ${url}`, id);
    }
    from += length;
  }
  return { bytes, byId, byUrl };
}
