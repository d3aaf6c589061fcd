import { FhirError } from '../../fhir/errors.js';
import { isId } from '../../fhir/id.js';
import type { Resource } from '../../fhir/resource.js';
import { bundleEntries } from './bundle-entries.js';
import type { Failure, Skipped } from './document.js';
import { parseDocument, type XmlReader } from './parse-document.js';
import type { ReadDocument } from './read-documents.js';

/**
 * Treatment of Bundles. `store` stores them as the resources they are. `apply` executes batches and transactions, and takes
 * collections apart into their entries.
 */
export type BundleMode = 'store' | 'apply';

/** A resource that is to be loaded. */
export interface LoadItem {
  readonly place: string;
  readonly resource: Resource;
  /** Undefined: a new one is to be made. */
  readonly id: string | undefined;
  /** About as many bytes as it takes. */
  readonly size: number;
  /** The package that it is of. */
  readonly from?: string | undefined;
  /** It is a batch or transaction, and is executed rather than stored. */
  readonly isExecuted?: true;
}

/** How documents become items. */
export interface ItemOptions {
  readonly resourceTypes: readonly string[];
  readonly bundles: BundleMode;
  readonly readXml?: XmlReader;
}

/** The resources in documents. */
export async function* readItems(
  documents: AsyncIterable<ReadDocument>,
  options: ItemOptions,
): AsyncGenerator<LoadItem | Failure | Skipped> {
  const types = new Set(options.resourceTypes);
  for await (const document of documents) {
    if (!('bytes' in document)) {
      yield document;
      continue;
    }
    const { place, bytes } = document;
    try {
      const resource = await parseDocument(document, options.readXml);
      if (resource === undefined) yield { place, skipped: true };
      else if (resource.resourceType !== 'Bundle' || options.bundles === 'store') {
        yield toItem(place, resource, resource['id'], bytes.length, types);
      } else yield* applied(place, resource, bytes.length, types);
    } catch (error) {
      yield { place, error };
    }
  }
}

/** A Bundle under `--bundles apply`. Documents, messages and results of a search or history are stored whole too. */
function* applied(
  place: string,
  bundle: Resource,
  size: number,
  types: ReadonlySet<string>,
): Generator<LoadItem | Failure> {
  const { type } = bundle;
  if (type === 'transaction' || type === 'batch') {
    yield { place, resource: bundle, id: undefined, size, isExecuted: true };
    return;
  }
  if (type !== 'collection') {
    yield toItem(place, bundle, bundle['id'], size, types);
    return;
  }
  const entries = bundleEntries(bundle);
  for (const entry of entries) {
    const at = `${place} entry[${entry.index}]`;
    try {
      if ('error' in entry) throw entry.error;
      yield toItem(at, entry.resource, entry.id, size / entries.length, types);
    } catch (error) {
      yield { place: at, error };
    }
  }
}

function toItem(place: string, resource: Resource, id: unknown, size: number, types: ReadonlySet<string>): LoadItem {
  const { resourceType } = resource;
  if (!types.has(resourceType)) {
    throw new FhirError('unknown-type', `unknown resource type ${JSON.stringify(resourceType.slice(0, 64))}`);
  }
  if (id !== undefined && (typeof id !== 'string' || !isId(id))) throw new FhirError('id-invalid');
  return { place, resource, id, size };
}
