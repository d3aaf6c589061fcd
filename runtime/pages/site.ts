import type { Interaction, Level, Tables } from '../contract/index.js';
import type { Resource } from '../fhir/resource.js';

/** Properties that are the same for all pages of a server. */
export interface Site {
  readonly tables: Pick<Tables, 'types' | 'search' | 'resourceTypes' | 'codes' | 'operations'>;
  /** Path of the FHIR base under the root of the server; empty where it is the root of an application that this one is mounted in. */
  readonly fhirPath: string;
  /** Whether requests need a token. */
  readonly isGuarded: boolean;
  /** Whether a page may keep the token for as long as its tab is open. */
  readonly keepsToken: boolean;
  /** The command that prints a token, where every client is on this machine. */
  readonly tokenCommand: string | undefined;
  /** Whether the reference pages are served. */
  readonly hasDocs: boolean;
  /** Whether `$graphql` is served. */
  readonly hasGraphql: boolean;
  /** Whether views of SQL on FHIR are run. */
  readonly hasViews: boolean;
  /** Writes indented XML; undefined: the server has no XML. */
  readonly writeXml: ((resource: Resource) => string | Promise<string>) | undefined;
}

/** The request that a page answers. */
export interface PageRequest {
  /** Absolute URL of the FHIR base as the client sees it, without a trailing slash. */
  readonly base: string;
  readonly method: string;
  /** Path and query below the base, as they were sent. */
  readonly url: string;
  /** Absent: the request led nowhere. */
  readonly interaction?: Interaction;
  readonly operation?: string;
  readonly level?: Level;
  readonly type?: string;
  readonly id?: string;
  /** Of a search in a compartment: the type that is searched. */
  readonly member?: string;
  readonly versionId?: string;
  /** The form in which the answer is shown. */
  readonly view: View;
}

/** Forms of an answer on its page: of a resource JSON or XML, of a search its plan. */
export type View = 'json' | 'xml' | 'plan';

/** The query parameter of pages that chooses the view. Requests that are not answered by a page do not have it. */
export const VIEW_PARAMETER = '_view';

/** `OperationRow.id` of `$graphql`. */
export const GRAPHQL = 'Resource-graphql';

/** `OperationRow.id` of `$sql-run`. */
export const SQL_RUN = 'sql-run';

/** The path that pages without data are under, from the root of the server. */
export const UI_PATH = '/ui';

/** Where things are on this origin, as paths without a trailing slash. */
export interface Paths {
  /** Of the root of the server; empty where it is the root of the origin. */
  readonly root: string;
  /** Of the FHIR base. */
  readonly fhir: string;
  /** Of the pages without data. */
  readonly ui: string;
  /** Absolute URL of the FHIR base. */
  readonly base: string;
}

/**
 * Where things are, by the FHIR base as the client sees it.
 *
 * @param base absolute URL of the FHIR base, or its path
 */
export function pathsOf(base: string, { fhirPath }: Pick<Site, 'fhirPath'>): Paths {
  const authority = base.indexOf('://');
  const slash = authority < 0 ? 0 : base.indexOf('/', authority + '://'.length);
  const fhir = slash < 0 ? '' : base.slice(slash);
  const root = fhir.slice(0, fhir.length - fhirPath.length);
  return { root, fhir, ui: root + UI_PATH, base };
}
