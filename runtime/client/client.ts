import type {
  AnyResource,
  Bundle,
  Choices,
  Operations,
  Parameters,
  Reference,
  ResourceOf,
  ResourceType,
} from '../../generated/types/index.js';
import { exportOf, type ExportOptions } from './export.js';
import {
  Connection,
  FhirClientError,
  type ClientAnswer,
  type ClientOptions,
  type ClientRequest,
  type GraphqlError,
  type RequestOptions,
} from './http.js';
import {
  queryOf,
  searchOf,
  type Criteria,
  type ParameterValue,
  type Search,
  type SearchOptions,
  type SystemCriteria,
} from './search.js';
import { etag, idOf, JSON_PATCH, Transaction, whereOf, type Patch, type Precondition } from './transaction.js';

/** Where an operation is called, and with what. */
export interface OperationCall<
  T extends string = ResourceType,
  Q = Readonly<Record<string, ParameterValue | undefined>>,
> extends RequestOptions {
  readonly type?: T;
  readonly id?: string;
  /** GET with these in the query; absent with `parameters`: POST. */
  readonly query?: Q;
  readonly parameters?: Parameters | AnyResource;
}

/** Name of an operation of the definitions, without `$`. */
export type OperationName = keyof Operations;

/** What is known of an operation by its name: of one that the definitions do not have, nothing. */
type OperationOf<N extends string> = N extends OperationName
  ? Operations[N]
  : { type: ResourceType; query: Readonly<Record<string, ParameterValue | undefined>>; result: AnyResource };

/** The parameters in a query of an operation, with those that every request may have: `_format`. */
export type OperationQuery<N extends string> = OperationOf<N>['query'] & {
  readonly [name: `_${string}`]: ParameterValue | undefined;
};

/** Type of the resource that a reference leads to. */
export type Referred<T extends string> = T extends ResourceType ? ResourceOf<T> : AnyResource;

/** A resource to be written. The type of it is read from `resourceType`, so that properties that it does not have are errors. */
export type Sent<T extends ResourceType> = ResourceOf<T> & { readonly resourceType: T };

/** Properties that a type has; of several types, those that any of them has. */
type KeysOf<T> = T extends ResourceType ? keyof ResourceOf<T> : never;

/** Properties of a type that are surely there. */
type Given<R> = { [P in keyof R]-?: object extends Pick<R, P> ? never : P }[keyof R];

/** For each property of a choice element of a type, the name of the element. */
type ChoiceOf<T> = T extends keyof Choices ? Choices[T] : object;

/** Properties of the same choice element, but for one of them. */
type Rivals<G, P> = P extends keyof G
  ? { [Q in keyof G]: Q extends P ? never : G[Q] extends G[P] ? Q : never }[keyof G]
  : never;

/**
 * Refuses properties that the type does not have, and two values of one choice element: `valueString` beside `valueQuantity`.
 * https://hl7.org/fhir/R5/formats.html#choice
 */
export type OneOfEach<T extends ResourceType, R> = {
  readonly [P in keyof R]: P extends KeysOf<T>
    ? P extends Given<R>
      ? Given<R> & Rivals<ChoiceOf<T>, P> extends never
        ? unknown
        : never
      : unknown
    : never;
};

/** A reference to a stored resource. @throws Error where it has no id */
export function referenceTo<R extends AnyResource>(resource: R): Reference<R['resourceType']> {
  return { reference: `${resource.resourceType}/${idOf(resource)}` };
}

/** A reference below the base: `Patient/1`, perhaps with a version. */
const RELATIVE = /^[A-Z][A-Za-z]+\/[A-Za-z0-9.-]{1,64}(?:\/_history\/[A-Za-z0-9.-]{1,64})?$/;

/** How often a change is tried again where another writer came first. */
const ATTEMPTS = 10;

/** Content of a Binary as it is. */
export interface Content {
  readonly bytes: Uint8Array;
  readonly contentType: string;
}

/** Where a query of GraphQL is asked, and with what. */
export interface GraphqlOptions extends RequestOptions {
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly operationName?: string;
  /** On one resource; absent: on the system. */
  readonly type?: ResourceType;
  readonly id?: string;
}

/** Answer of GraphQL. Parts may have failed. */
export interface GraphqlAnswer<D> {
  readonly data?: D | null;
  readonly errors?: readonly GraphqlError[];
}

/** How a statement of HFQL is run. */
export interface HfqlOptions extends RequestOptions {
  /** Rows at most, 1,000 unless said otherwise, up to 10,000. */
  readonly limit?: number;
}

/** A client of a FHIR R5 server. Types of resources and search parameters come from the definitions. */
export class FhirClient {
  private readonly connection: Connection;

  constructor(options: ClientOptions) {
    this.connection = new Connection(options);
  }

  /**
   * Sends any request below the base, with the token, and reads its answer: for what this client has no method for.
   *
   * @throws FhirClientError where the status is 400 or more
   */
  request<T = AnyResource>(request: ClientRequest): Promise<ClientAnswer<T>> {
    return this.connection.send<T>(request);
  }

  /** Sends any request as `request` does; the body of the answer is still to be read, as a stream if that is wanted. */
  fetch(request: ClientRequest): Promise<Response> {
    return this.connection.open(request);
  }

  /** @throws FhirClientError 404, 410 */
  async read<T extends ResourceType>(
    type: T,
    id: string,
    version?: string,
    options: RequestOptions = {},
  ): Promise<ResourceOf<T>> {
    const path = `${type}/${id}${version === undefined ? '' : `/_history/${version}`}`;
    return this.get<ResourceOf<T>>(path, options);
  }

  /** The resource, or undefined where it is not there or deleted. */
  async find<T extends ResourceType>(
    type: T,
    id: string,
    options: RequestOptions = {},
  ): Promise<ResourceOf<T> | undefined> {
    try {
      return await this.read(type, id, undefined, options);
    } catch (error) {
      if (error instanceof FhirClientError && (error.status === 404 || error.status === 410)) return undefined;
      throw error;
    }
  }

  /**
   * The resource that a reference leads to.
   *
   * @throws FhirClientError 404, 410
   * @throws Error for a reference that leads to another server, into the resource itself, or nowhere
   */
  async resolve<T extends string>(
    { reference = '' }: Reference<T>,
    options: RequestOptions = {},
  ): Promise<Referred<T>> {
    const { base } = this.connection;
    const path = reference.startsWith(`${base}/`) ? reference.slice(base.length + 1) : reference;
    if (!RELATIVE.test(path))
      throw new Error(`the reference ${JSON.stringify(reference)} leads to nothing below ${base}`);
    return this.get<Referred<T>>(path, options);
  }

  /** Searches a type: `for await (const patient of client.search('Patient', { family: 'Simpson' }))`. */
  search<T extends ResourceType>(
    type: T,
    criteria: Criteria<T> = {} as Criteria<T>,
    options: SearchOptions = {},
  ): Search<ResourceOf<T>> {
    return searchOf(this.connection, type, criteria, options);
  }

  /** Searches all types, or those of `_type`, by parameters that they share. */
  searchAll(criteria: SystemCriteria, options: SearchOptions = {}): Search<AnyResource> {
    return searchOf(this.connection, '', criteria, options);
  }

  /**
   * Searches a type in a compartment: `client.searchIn('Patient', '1', 'Observation', { code: '8867-4' })`.
   * https://hl7.org/fhir/R5/compartmentdefinition.html
   */
  searchIn<T extends ResourceType>(
    compartment: ResourceType,
    id: string,
    type: T,
    criteria: Criteria<T> = {} as Criteria<T>,
    options: SearchOptions = {},
  ): Search<ResourceOf<T>> {
    return searchOf(this.connection, `${compartment}/${id}/${type}`, criteria, options);
  }

  /** @returns the resource as it was stored, or with `ifNoneExist` the one that was there */
  async create<T extends ResourceType, R = unknown>(
    resource: Sent<T> & OneOfEach<NoInfer<T>, R>,
    { ifNoneExist, ...options }: RequestOptions & { readonly ifNoneExist?: string } = {},
  ): Promise<ResourceOf<T>> {
    const headers = ifNoneExist === undefined ? {} : { 'If-None-Exist': ifNoneExist };
    return this.write<ResourceOf<T>>('POST', resource.resourceType, resource as AnyResource, headers, options);
  }

  /** Replaces the resource of this id, or creates it. @param options `ifMatch`: version id that it has to have */
  async update<T extends ResourceType, R = unknown>(
    resource: Sent<T> & OneOfEach<NoInfer<T>, R>,
    options: RequestOptions & Precondition = {},
  ): Promise<ResourceOf<T>> {
    const sent = resource as AnyResource;
    return this.write<ResourceOf<T>>('PUT', `${sent.resourceType}/${idOf(sent)}`, sent, ...conditionOf(options));
  }

  /** Replaces the one resource that the criteria find, or creates it where they find none. @throws FhirClientError 412: several */
  async updateWhere<T extends ResourceType, R = unknown>(
    criteria: Criteria<NoInfer<T>>,
    resource: Sent<T> & OneOfEach<NoInfer<T>, R>,
    options: RequestOptions & Precondition = {},
  ): Promise<ResourceOf<T>> {
    const sent = resource as AnyResource;
    return this.write<ResourceOf<T>>('PUT', whereOf(sent.resourceType, criteria), sent, ...conditionOf(options));
  }

  /**
   * Reads, changes and updates a resource. Where another writer comes first, it is read and changed again.
   *
   * @param change returns the new content; it may be called several times
   */
  async modify<T extends ResourceType>(
    type: T,
    id: string,
    change: (resource: ResourceOf<T>) => ResourceOf<T> | Promise<ResourceOf<T>>,
    options: RequestOptions = {},
  ): Promise<ResourceOf<T>> {
    for (let attempt = 1; ; attempt++) {
      const current = await this.read(type, id, undefined, options);
      const version = (current as AnyResource).meta?.versionId;
      const changed = (await change(current)) as AnyResource;
      const condition = conditionOf({ ...options, ...(version !== undefined && { ifMatch: version }) });
      try {
        return await this.write<ResourceOf<T>>('PUT', `${type}/${id}`, changed, ...condition);
      } catch (error) {
        const isLate = error instanceof FhirClientError && (error.status === 412 || error.status === 409);
        if (!isLate || attempt === ATTEMPTS) throw error;
      }
    }
  }

  /** Changes parts of a resource, by JSON Patch or by FHIRPath Patch. @throws FhirClientError 412: `ifMatch` is not its version */
  async patch<T extends ResourceType>(
    type: T,
    id: string,
    patch: Patch,
    options: RequestOptions & Precondition = {},
  ): Promise<ResourceOf<T>> {
    return this.write<ResourceOf<T>>('PATCH', `${type}/${id}`, patch, ...conditionOf(options));
  }

  /** Changes parts of the one resource that the criteria find. @throws FhirClientError 404: none, 412: several */
  async patchWhere<T extends ResourceType>(
    type: T,
    criteria: Criteria<T>,
    patch: Patch,
    options: RequestOptions & Precondition = {},
  ): Promise<ResourceOf<T>> {
    return this.write<ResourceOf<T>>('PATCH', whereOf(type, criteria), patch, ...conditionOf(options));
  }

  async delete(type: ResourceType, id: string, options: RequestOptions & Precondition = {}): Promise<void> {
    await this.erase(`${type}/${id}`, options);
  }

  /** Deletes what the criteria find: one, or as many as the server allows. @throws FhirClientError 412: too many */
  async deleteWhere<T extends ResourceType>(
    type: T,
    criteria: Criteria<T>,
    options: RequestOptions & Precondition = {},
  ): Promise<void> {
    await this.erase(whereOf(type, criteria), options);
  }

  /** History of a resource, of a type, or of all: the first page. */
  async history(
    type?: ResourceType,
    id?: string,
    query: Readonly<Record<string, ParameterValue>> = {},
    options: RequestOptions = {},
  ): Promise<Bundle> {
    const path = [type, id, '_history'].filter((each) => each !== undefined).join('/');
    return this.get<Bundle>(path, { ...options, query: queryOf(query) });
  }

  /** The content of a Binary, not wrapped in a resource. */
  async readBytes(id: string, options: RequestOptions = {}): Promise<Content> {
    const response = await this.connection.open({ ...options, path: `Binary/${id}`, accept: '*/*' });
    const contentType = response.headers.get('content-type') ?? 'application/octet-stream';
    return { bytes: new Uint8Array(await response.arrayBuffer()), contentType };
  }

  /** Stores content as a Binary. @param options `id`: of the Binary; absent: the server chooses one. @returns its id */
  async writeBytes(
    bytes: Uint8Array | Blob | string,
    contentType: string,
    { id, ...options }: RequestOptions & { readonly id?: string } = {},
  ): Promise<string> {
    const [method, path] = id === undefined ? ['POST', 'Binary'] : ['PUT', `Binary/${id}`];
    const headers = { ...options.headers, Prefer: 'return=minimal' };
    const answer = await this.connection.send({ ...options, method, path, body: bytes, contentType, headers });
    const [, made] = /Binary\/([^/]+)/.exec(answer.headers.get('location') ?? '') ?? [];
    return made ?? id ?? '';
  }

  /** Begins a transaction: all of it is done, or nothing. */
  transaction(): Transaction {
    return new Transaction(this.connection, 'transaction');
  }

  /** Begins a batch: each entry is done by itself. */
  batch(): Transaction {
    return new Transaction(this.connection, 'batch');
  }

  /** Calls an operation: `client.operation('everything', { type: 'Patient', id: '1', query: { _count: 10 } })`. */
  async operation<N extends string>(
    name: N,
    call: OperationCall<OperationOf<N>['type'], OperationQuery<N>> = {},
  ): Promise<OperationOf<N>['result']> {
    const { type, id, query, parameters, ...options } = call;
    const path = [type, id, `$${name}`].filter((each) => each !== undefined).join('/');
    const common = { ...options, path, ...(query !== undefined && { query: queryOf(query) }) };
    const body = parameters ?? (query === undefined ? { resourceType: 'Parameters' } : undefined);
    const request = body === undefined ? common : { ...common, method: 'POST', body };
    return (await this.connection.send<OperationOf<N>['result']>(request)).body as OperationOf<N>['result'];
  }

  /** Exports resources: `for await (const resource of client.export({ query: { _type: 'Patient' } }))`. */
  export(options: ExportOptions = {}): AsyncIterable<AnyResource> {
    return exportOf(this.connection, options);
  }

  /** Asks GraphQL. Of parts that could not be answered `errors` tells. @throws FhirClientError where all is refused, with its `errors` */
  async graphql<D = unknown>(query: string, options: GraphqlOptions = {}): Promise<GraphqlAnswer<D>> {
    const { type, id, variables, operationName, ...rest } = options;
    const { body } = await this.connection.send<GraphqlAnswer<D>>({
      ...rest,
      method: 'POST',
      path: [type, id, '$graphql'].filter((each) => each !== undefined).join('/'),
      body: { query, ...(variables && { variables }), ...(operationName !== undefined && { operationName }) },
      contentType: 'application/json',
      accept: 'application/json',
      isSafe: true,
    });
    return body ?? {};
  }

  /**
   * Runs a statement of HFQL.
   *
   * @returns the rows as CSV, in the columns of the statement, without a line of their names
   * @throws FhirClientError with what is wrong with the statement, and for what fails later
   */
  async hfql(statement: string, { limit, ...options }: HfqlOptions = {}): Promise<string> {
    const parameter = [
      { name: 'action', valueCode: 'search' },
      { name: 'query', valueString: statement },
      ...(limit === undefined ? [] : ['limit', 'fetchSize'].map((name) => ({ name, valueInteger: limit }))),
    ];
    const body = { resourceType: 'Parameters', parameter };
    const request = { ...options, method: 'POST', path: '$hfql-execute', body, accept: 'text/csv', isSafe: true };
    const { text, status, headers } = await this.connection.send(request);
    // Before the rows two lines tell of the protocol and the statement; a row is led by its number, an error by -1.
    const ends = [...text.matchAll(/"[^"]*"|\n/g)].flatMap(({ 0: mark, index }) => (mark === '\n' ? [index + 1] : []));
    const rows = ends.map((end, i) => text.slice(ends[i - 1] ?? 0, end)).slice(2);
    const [, fault] = /^-1,([^]*)\n$/.exec(rows.at(-1) ?? '') ?? [];
    if (fault === undefined) return rows.map((row) => row.slice(row.indexOf(',') + 1)).join('');
    throw new FhirClientError(status, undefined, fault.replace(/^"|"$/g, '').replaceAll('""', '"'), headers);
  }

  private async get<R>(path: string, options: RequestOptions & { readonly query?: URLSearchParams }): Promise<R> {
    return (await this.connection.send<R>({ ...options, path })).body as R;
  }

  private async erase(path: string, options: RequestOptions & Precondition): Promise<void> {
    const [headers, rest] = conditionOf(options);
    await this.connection.send({ ...rest, method: 'DELETE', path, headers: { ...rest.headers, ...headers } });
  }

  private async write<R>(
    method: string,
    path: string,
    body: AnyResource | Patch,
    own: Readonly<Record<string, string>>,
    options: RequestOptions,
  ): Promise<R> {
    const headers = { Prefer: 'return=representation', ...options.headers, ...own };
    const contentType = Array.isArray(body) ? JSON_PATCH : undefined;
    return (await this.connection.send<R>({ ...options, method, path, body, contentType, headers })).body as R;
  }
}

function conditionOf({ ifMatch, ...options }: RequestOptions & Precondition): [Record<string, string>, RequestOptions] {
  return [ifMatch === undefined ? {} : { 'If-Match': etag(ifMatch) }, options];
}
