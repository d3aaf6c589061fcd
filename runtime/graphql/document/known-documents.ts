import type { DocumentNode } from 'graphql';

import { createBoundedMap } from '../../fhir/memory/bounded-map.js';
import { memoizeWeak } from '../../fhir/memory/memoize.js';
import type { TypeCatalog } from '../schema/schema.js';

/** Documents that are kept, and the greatest length of each in characters. */
const MOST = { documents: 100, characters: 10_000 };

/** Documents that were found valid, by their text. Programs send the same ones again and again, with other variables. */
export interface KnownDocuments {
  get(query: string): DocumentNode | undefined;
  keep(query: string, document: DocumentNode): void;
}

/** The documents that are known to be valid and were adapted. Few stay, the most recently used ones. */
export const knownDocuments = memoizeWeak((_catalog: TypeCatalog): KnownDocuments => {
  const documents = createBoundedMap<DocumentNode>(MOST.documents);
  return {
    get: (query) => documents.get(query),
    keep(query, document) {
      if (query.length <= MOST.characters) documents.set(query, document);
    },
  };
});
