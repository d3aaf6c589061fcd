import type {
  AnyResource,
  Bundle,
  Operations,
  Parameters,
  Reference,
  ResourceOf,
  ResourceType,
} from '../../generated/types/index.js';
import { Connection, FhirClientError, type ClientOptions } from './http.js';
import { queryOf, searchOf, type Criteria, type ParameterValue, type Search } from './search.js';
import { etag, idOf, Transaction } from './transaction.js';

/** One change of a JSON Patch. https://www.rfc-editor.org/rfc/rfc6902 */
export type JsonPatch = readonly {
  readonly op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test';
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
}[];

/** Where an operation is called, and with what. */
export interface OperationCall<
  T extends string = ResourceType,
  Q = Readonly<Record<string, ParameterValue | undefined>>,
> {
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

/** A reference to a stored resource. @throws Error where it has no id */
export function referenceTo<R extends AnyResource>(resource: R): Reference<R['resourceType']> {
  return { reference: `${resource.resourceType}/${idOf(resource)}` };
}

/** A reference below the base: `Patient/1`, perhaps with a version. */
const RELATIVE = /^[A-Z][A-Za-z]+\/[A-Za-z0-9.-]{1,64}(?:\/_history\/[A-Za-z0-9.-]{1,64})?$/;

/** How often a change is tried again where another writer came first. */
const ATTEMPTS = 10;

/** A client of a FHIR R5 server. Types of resources and search parameters come from the definitions. */
export class FhirClient {
  private readonly connection: Connection;

  constructor(options: ClientOptions) {
    this.connection = new Connection(options);
  }

  /** @throws FhirClientError 404, 410 */
  async read<T extends ResourceType>(type: T, id: string, version?: string): Promise<ResourceOf<T>> {
    const path = `${type}/${id}${version === undefined ? '' : `/_history/${version}`}`;
    return this.get<ResourceOf<T>>(path);
  }

  /** The resource, or undefined where it is not there or deleted. */
  async find<T extends ResourceType>(type: T, id: string): Promise<ResourceOf<T> | undefined> {
    try {
      return await this.read(type, id);
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
  async resolve<T extends string>({ reference = '' }: Reference<T>): Promise<Referred<T>> {
    const { base } = this.connection;
    const path = reference.startsWith(`${base}/`) ? reference.slice(base.length + 1) : reference;
    if (!RELATIVE.test(path))
      throw new Error(`the reference ${JSON.stringify(reference)} leads to nothing below ${base}`);
    return this.get<Referred<T>>(path);
  }

  /** Searches a type: `for await (const patient of client.search('Patient', { family: 'Simpson' }))`. */
  search<T extends ResourceType>(type: T, criteria: Criteria<T>, signal?: AbortSignal): Search<T> {
    return searchOf(this.connection, type, criteria, signal);
  }

  /** @returns the resource as it was stored, or with `ifNoneExist` the one that was there */
  async create<T extends ResourceType>(
    resource: Sent<T>,
    options: { readonly ifNoneExist?: string } = {},
  ): Promise<ResourceOf<T>> {
    const headers = options.ifNoneExist === undefined ? {} : { 'If-None-Exist': options.ifNoneExist };
    return this.write<ResourceOf<T>>('POST', resource.resourceType, resource, headers);
  }

  /** Replaces the resource of this id, or creates it. @param options `ifMatch`: version id that it has to have */
  async update<T extends ResourceType>(
    resource: Sent<T>,
    options: { readonly ifMatch?: string } = {},
  ): Promise<ResourceOf<T>> {
    const headers = options.ifMatch === undefined ? {} : { 'If-Match': etag(options.ifMatch) };
    return this.write<ResourceOf<T>>('PUT', `${resource.resourceType}/${idOf(resource)}`, resource, headers);
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
  ): Promise<ResourceOf<T>> {
    for (let attempt = 1; ; attempt++) {
      const current = await this.read(type, id);
      const version = (current as AnyResource).meta?.versionId;
      const changed = (await change(current)) as AnyResource;
      try {
        return (await this.update(changed, version === undefined ? {} : { ifMatch: version })) as ResourceOf<T>;
      } catch (error) {
        const isLate = error instanceof FhirClientError && (error.status === 412 || error.status === 409);
        if (!isLate || attempt === ATTEMPTS) throw error;
      }
    }
  }

  async patch<T extends ResourceType>(
    type: T,
    id: string,
    patch: JsonPatch,
    options: { readonly ifMatch?: string } = {},
  ): Promise<ResourceOf<T>> {
    const { body } = await this.connection.send<ResourceOf<T>>({
      method: 'PATCH',
      path: `${type}/${id}`,
      body: patch,
      contentType: 'application/json-patch+json',
      headers: options.ifMatch === undefined ? {} : { 'If-Match': etag(options.ifMatch) },
    });
    return body as ResourceOf<T>;
  }

  async delete(type: ResourceType, id: string): Promise<void> {
    await this.connection.send({ method: 'DELETE', path: `${type}/${id}` });
  }

  /** History of a resource, of a type, or of all: the first page. */
  async history(
    type?: ResourceType,
    id?: string,
    query: Readonly<Record<string, ParameterValue>> = {},
  ): Promise<Bundle> {
    const path = [type, id, '_history'].filter((each) => each !== undefined).join('/');
    return this.get<Bundle>(path, queryOf(query));
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
    const { type, id, query: asked, parameters } = call;
    const query = asked as Readonly<Record<string, ParameterValue | undefined>> | undefined;
    const path = [type, id, `$${name}`].filter((each) => each !== undefined).join('/');
    const common = { path, ...(query !== undefined && { query: queryOf(query) }) };
    const body = parameters ?? (query === undefined ? { resourceType: 'Parameters' } : undefined);
    const request = body === undefined ? { ...common, method: 'GET' } : { ...common, method: 'POST', body };
    return (await this.connection.send<OperationOf<N>['result']>(request)).body as OperationOf<N>['result'];
  }

  private async get<R>(path: string, query?: URLSearchParams): Promise<R> {
    const { body } = await this.connection.send<R>({ method: 'GET', path, ...(query !== undefined && { query }) });
    return body as R;
  }

  private async write<R>(method: string, path: string, body: AnyResource, headers: Record<string, string>): Promise<R> {
    const all = { Prefer: 'return=representation', ...headers };
    return (await this.connection.send<R>({ method, path, body, headers: all })).body as R;
  }
}
