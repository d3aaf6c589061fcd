/** Format that a document is written in. */
export type DocumentFormat = 'json' | 'xml';

/** Bytes that should be one resource, and where they come from, for the report. */
export interface SourceDocument {
  /** `a.json`, `a.ndjson:17`, `package.tgz/package/a.json`. */
  readonly place: string;
  readonly format: DocumentFormat;
  readonly bytes: Buffer;
  /** It has to be a resource, rather than that it may be something else. */
  readonly named: boolean;
}

/** Something that could not be loaded, and why. */
export interface Failure {
  readonly place: string;
  readonly error: unknown;
}

/** A file that is no resource, and need not be. */
export interface Skipped {
  readonly place: string;
  readonly skipped: true;
}

/** Greatest size of one document or line that any limit can allow, in bytes: beyond that a text does not fit a string. */
export const MAX_DOCUMENT = 384 * 1024 * 1024;

/** How a file is to be read, by its name: undefined where no resource is expected in it. */
export function kindOf(
  path: string,
): { readonly form: 'json' | 'xml' | 'ndjson' | 'tar'; readonly gzip: boolean } | undefined {
  const name = path.toLowerCase();
  if (name.endsWith('.tgz') || name.endsWith('.tar.gz')) return { form: 'tar', gzip: true };
  const gzip = name.endsWith('.gz');
  const form = /\.(json|xml|ndjson|tar)$/.exec(gzip ? name.slice(0, -3) : name)?.[1];
  return form === undefined ? undefined : { form: form as 'json', gzip };
}
