import { neededOn, uniteNeeded } from '../../auth/access/needed-scopes.js';
import { scopeMissing } from '../../auth/access/refuse.js';
import { OPEN_ACCESS } from '../../auth/scopes/principal.js';
import type { Call } from '../../core/call.js';
import type { Services } from '../../core/services.js';
import { FhirError, type Issue } from '../../fhir/errors.js';
import { append } from '../../fhir/lists.js';
import { quote } from '../../fhir/quote.js';
import type { JsonObject, JsonValue, Resource } from '../../fhir/resource.js';
import type { ExportPart } from '../../jobs/export/export-input.js';
import type { CompiledView } from '../compile-view.js';
import type { SqlQuery, SqlTable } from '../query/messages.js';
import { bindParameters, kindOfLibrary, readLibrary, type SqlLibrary } from '../query/read-library.js';
import { ViewError } from '../view-error.js';
import { partOf, type ViewFilters } from './filters.js';
import { findByCanonical, QUERY, VIEW } from './find-artifact.js';
import { compileSubject, faultsOf, faultsOfWrite, type Subject, type Validity } from './subject.js';

/** Libraries below each other, and tables of a query with those below it. */
const MOST = { depth: 16, tables: 200 };

/** A query that can be run, with the views below it. */
export interface QueryPlan {
  readonly name?: string;
  readonly query: SqlQuery;
  readonly views: readonly PlannedView[];
}

interface PlannedView {
  readonly definition: JsonObject;
  readonly compiled: CompiledView;
  /** Its resources: those that a search with the token finds, narrowed by the filters. */
  readonly part: ExportPart;
}

/** Views and Libraries by their canonicals, each resolved once: those that came with the request before those that are stored. */
export class Artifacts {
  private readonly used = new Set<Resource>();
  private readonly found = new Map<string, Promise<Resource | undefined>>();
  private readonly missing: Issue[] = [];

  /** @throws FhirError `parameter-invalid` for one of another kind, without a URL, or with that of another */
  constructor(
    private readonly context: readonly Resource[],
    private readonly call: Call,
    private readonly services: Services,
  ) {
    const urls = new Set<unknown>();
    for (const each of context) {
      const { url, resourceType } = each;
      if (resourceType !== VIEW && kindOfLibrary(each) !== 'sql-view') throw invalidContext('is a ViewDefinition, or a Library of the type sql-view'); // prettier-ignore
      if (typeof url !== 'string' || url === '') throw invalidContext('needs a url, by which others name it');
      if (urls.has(url)) throw invalidContext(`may have the url ${quote(url.slice(0, 256))} once`);
      urls.add(url);
    }
  }

  /**
   * @param label the table that needs it
   * @returns undefined: there is none, which `finish` reports
   */
  resolve(canonical: string, label: string): Promise<Resource | undefined> {
    let found = this.found.get(canonical);
    if (found === undefined) this.found.set(canonical, (found = this.look(canonical, label)));
    return found;
  }

  /**
   * @param areAllRead else it is unknown what is needed
   * @throws FhirError for what came with the request and is not needed, and for what is missing
   */
  finish(areAllRead: boolean): void {
    const unused = this.context
      .filter((each) => areAllRead && !this.used.has(each))
      .map(({ url }): Issue => ({ code: 'parameter-invalid', text: `Nothing needs ${quote(String(url).slice(0, 256))}`, issue: 'invalid', expression: 'context' })); // prettier-ignore
    const [first, ...others] = [...unused, ...this.missing];
    if (first !== undefined) throw FhirError.of([first, ...others]);
  }

  private async look(canonical: string, label: string): Promise<Resource | undefined> {
    const [url, version] = canonical.split('|');
    const own = this.context.find((each) => each['url'] === url && (version === undefined || each['version'] === version)); // prettier-ignore
    if (own !== undefined) {
      this.used.add(own);
      return own;
    }
    try {
      return await findByCanonical(canonical, this.call, this.services);
    } catch (error) {
      if (!(error instanceof FhirError) || error.code !== 'not-found') throw error;
      append(this.missing, error.map((issue) => ({ ...issue, text: `The table ${label}: ${issue.text}` })).issues); // prettier-ignore
      return undefined;
    }
  }
}

function invalidContext(what: string): FhirError {
  return new FhirError('parameter-invalid', `A resource of the parameter "context" ${what}`, {
    issue: 'invalid',
    expression: 'context',
  });
}

/** Whether a subject is a Library. */
export function isQuery({ view }: Subject): boolean {
  return view['resourceType'] === QUERY;
}

/**
 * Reads a query with all that it needs: its statement, those of the views below it, and their ViewDefinitions, each within the rights of the token.
 * Call `artifacts.finish()` after the last query.
 *
 * @param given the values of its parameters: a resource of the type Parameters
 * @param path of the parameters, for messages: `subject[1].`, or nothing
 * @throws FhirError `scope-missing`, `parameter-invalid`, `view-invalid` with all faults
 */
export async function planQuery(
  subject: Subject,
  given: JsonValue | undefined,
  path: string,
  artifacts: Artifacts,
  filters: ViewFilters,
  now: Date,
  call: Call,
  services: Services,
): Promise<QueryPlan> {
  const { view: root, parameter } = subject;
  const views: PlannedView[] = [];
  const places = new Map<Resource, number>();
  const types = new Set<string>();
  const { access } = call.principal;
  const isHidden = (type: string): boolean => access !== OPEN_ACCESS && access.on(type, 's') === 'nothing';
  let count = 0;
  const refuse = (text: string): FhirError => new FhirError('view-invalid', text, { expression: parameter });

  const table = async (label: string, canonical: string, above: readonly JsonObject[]): Promise<SqlTable[]> => {
    if (++count > MOST.tables) throw refuse(`The query has more than ${MOST.tables} tables, with those below it`);
    const found = await artifacts.resolve(canonical, label);
    if (found === undefined) return [];
    if (above.includes(found)) throw refuse(`${quote(canonical.slice(0, 256))} is a table of itself`);
    if (found.resourceType !== VIEW) {
      if (kindOfLibrary(found) !== 'sql-view') throw refuse(`${quote(canonical.slice(0, 256))} is neither a ViewDefinition nor a Library of the type sql-view`); // prettier-ignore
      return [{ label, query: await statement(found, {}, above) }];
    }
    let view = places.get(found);
    if (view === undefined) {
      const compiled = compileSubject({ view: found, parameter }, services, { now });
      types.add(compiled.resource);
      if (isHidden(compiled.resource)) return [];
      const part = await partOf(compiled, filters, call, services);
      // `find` above may have been overtaken by another table of the same view.
      view = places.get(found) ?? views.push({ definition: found, compiled, part }) - 1;
      places.set(found, view);
    }
    return [{ label, view }];
  };

  const statement = async (
    json: JsonObject,
    values: SqlQuery['values'],
    before: readonly JsonObject[],
  ): Promise<SqlQuery> => {
    if (before.length === MOST.depth) throw refuse(`The query has more than ${MOST.depth} Libraries below each other`);
    const { sql, tables } = read(json, parameter, services);
    const found: SqlTable[] = [];
    for (const { label, canonical } of tables) append(found, await table(label, canonical, [...before, json]));
    return { sql, values, tables: found };
  };

  const library = read(root, parameter, services);
  const values = bind(library, given, `${path}parameters`);
  const checkTypes = (): void => {
    if ([...types].some(isHidden))
      throw scopeMissing(uniteNeeded([...types].map((type) => neededOn(type, 's'))), access);
  };
  const query = await statement(root, values, []).catch((error: unknown) => {
    // What the token may not goes before what else is wrong.
    checkTypes();
    throw error;
  });
  checkTypes();
  return { ...(library.name !== undefined && { name: library.name }), query, views };
}

/** @throws FhirError `view-invalid` */
function read(json: JsonObject, parameter: string, services: Validity): SqlLibrary {
  try {
    const library = readLibrary(json);
    const faults = faultsOfWrite(json as Resource, services);
    if (faults.length > 0) throw new ViewError(faults);
    return library;
  } catch (error) {
    throw faultsOf(error, 'view-invalid', parameter);
  }
}

/** @throws FhirError `parameter-invalid` */
function bind(library: SqlLibrary, given: JsonValue | undefined, parameter: string): SqlQuery['values'] {
  try {
    return bindParameters(library, given);
  } catch (error) {
    throw faultsOf(error, 'parameter-invalid', parameter);
  }
}
