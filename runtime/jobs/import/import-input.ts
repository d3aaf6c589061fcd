/** A file to import. */
export interface ImportFile {
  /** As the client named it. */
  readonly url: string;
  /** Key of the blob that has it; absent: it is fetched from its URL first. */
  readonly key?: string;
  /** Type of all resources in it; absent: any of the import's. */
  readonly type?: string;
}

/** Input of an import, as its job keeps it. */
export interface ImportInput {
  readonly request: string;
  /** FHIR base of the request. */
  readonly base: string;
  readonly files: readonly ImportFile[];
  /** Types that the token may create and update, whatever the resource. */
  readonly types: readonly string[];
}

/** Counts of the outcomes of the lines of a file. */
export interface ImportCounts {
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly failed: number;
}

/** Counts of a file of which no line was imported yet. */
export const NO_COUNTS: ImportCounts = { created: 0, updated: 0, unchanged: 0, failed: 0 };
