import type { DocumentNode } from 'graphql';

import type { TypeCatalog } from '../schema/schema.js';

/** What is kept: so many documents, of so many characters together. */
const MOST = { documents: 100, characters: 100_000 };

/** Documents that were found valid. Programs send the same ones again and again, with other variables. */
class KnownDocuments {
  readonly #documents = new Map<string, DocumentNode>();
  #characters = 0;

  /** @param query the document, after the type of the instance that it is about */
  get(query: string): DocumentNode | undefined {
    const found = this.#documents.get(query);
    if (found === undefined) return undefined;
    // The least recently used come first.
    this.#documents.delete(query);
    this.#documents.set(query, found);
    return found;
  }

  keep(query: string, document: DocumentNode): void {
    if (query.length > MOST.characters) return;
    this.#documents.set(query, document);
    this.#characters += query.length;
    for (const oldest of this.#documents.keys()) {
      if (this.#documents.size <= MOST.documents && this.#characters <= MOST.characters) return;
      this.#documents.delete(oldest);
      this.#characters -= oldest.length;
    }
  }
}

const known = new WeakMap<TypeCatalog, KnownDocuments>();

/** The documents that are known to be valid and were adapted. Few stay, the most recently used ones. */
export function knownDocuments(catalog: TypeCatalog): Pick<KnownDocuments, 'get' | 'keep'> {
  let documents = known.get(catalog);
  if (documents === undefined) known.set(catalog, (documents = new KnownDocuments()));
  return documents;
}
