import type { AnyResource, Bundle, Parameters, ResourceType } from '../../generated/types/index.js';
import type { Connection, RequestOptions } from './http.js';
import { queryOf, type Criteria } from './search.js';

/** One change of a JSON Patch. https://www.rfc-editor.org/rfc/rfc6902 */
export type JsonPatch = readonly {
  readonly op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test';
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
}[];

/** Changes as JSON Patch, or as FHIRPath Patch in Parameters. https://hl7.org/fhir/R5/fhirpatch.html */
export type Patch = JsonPatch | Parameters;

/** A version id that the resource has to have. */
export interface Precondition {
  readonly ifMatch?: string;
}

/** A media type of JSON Patch. */
export const JSON_PATCH = 'application/json-patch+json';

/** Changes that the server makes all together, or not at all. https://hl7.org/fhir/R5/http.html#transaction */
export class Transaction {
  private readonly entries: NonNullable<Bundle['entry']> = [];

  constructor(
    private readonly connection: Connection,
    private readonly type: 'transaction' | 'batch',
  ) {}

  /**
   * Adds a creation.
   *
   * @param options `ifNoneExist`: criteria; where they find a resource, that one is taken
   * @returns a reference for other resources of the transaction (`urn:uuid:…`), which the server replaces by the right one
   */
  create(resource: AnyResource, options: { readonly ifNoneExist?: string } = {}): string {
    const fullUrl = `urn:uuid:${crypto.randomUUID()}`;
    const request = {
      method: 'POST' as const,
      url: resource.resourceType,
      ...(options.ifNoneExist !== undefined && { ifNoneExist: options.ifNoneExist }),
    };
    this.entries.push({ fullUrl, resource, request });
    return fullUrl;
  }

  /** Adds an update, or a creation with the id of the resource. */
  update(resource: AnyResource, options: Precondition = {}): this {
    return this.add('PUT', `${resource.resourceType}/${idOf(resource)}`, resource, options);
  }

  /** Adds an update of the one resource that the criteria find, or a creation where they find none. */
  updateWhere<T extends ResourceType>(criteria: Criteria<T>, resource: AnyResource & { resourceType: T }): this {
    return this.add('PUT', whereOf(resource.resourceType, criteria), resource);
  }

  /** Adds a patch of a resource. */
  patch(type: ResourceType, id: string, patch: Patch, options: Precondition = {}): this {
    return this.add('PATCH', `${type}/${id}`, patchResource(patch), options);
  }

  /** Adds a patch of the one resource that the criteria find. */
  patchWhere<T extends ResourceType>(type: T, criteria: Criteria<T>, patch: Patch): this {
    return this.add('PATCH', whereOf(type, criteria), patchResource(patch));
  }

  /** Adds a deletion. */
  delete(type: string, id: string, options: Precondition = {}): this {
    return this.add('DELETE', `${type}/${id}`, undefined, options);
  }

  /** Adds a deletion of what the criteria find. */
  deleteWhere<T extends ResourceType>(type: T, criteria: Criteria<T>): this {
    return this.add('DELETE', whereOf(type, criteria));
  }

  /** Adds a read, or a search: `Patient/1`, `Patient?name=x`. */
  get(url: string): this {
    return this.add('GET', url);
  }

  /** Sends it. @returns the answers in the order of what was added */
  async send(options: RequestOptions = {}): Promise<Bundle> {
    const body: Bundle = { resourceType: 'Bundle', type: this.type, entry: this.entries };
    return (await this.connection.send<Bundle>({ ...options, method: 'POST', path: '', body })).body as Bundle;
  }

  private add(
    method: 'GET' | 'PUT' | 'PATCH' | 'DELETE',
    url: string,
    resource?: AnyResource,
    { ifMatch }: Precondition = {},
  ): this {
    this.entries.push({
      ...(resource !== undefined && { resource }),
      request: { method, url, ...(ifMatch !== undefined && { ifMatch: etag(ifMatch) }) },
    });
    return this;
  }
}

/** A patch as an entry of a Bundle has it. https://hl7.org/fhir/R5/http.html#jsonpatch-transaction */
function patchResource(patch: Patch): AnyResource {
  if ('resourceType' in patch) return patch;
  const bytes = new TextEncoder().encode(JSON.stringify(patch));
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return { resourceType: 'Binary', contentType: JSON_PATCH, data: btoa(text) };
}

/** `Patient?identifier=x` @throws Error where there are no criteria: they would find anything */
export function whereOf(type: string, criteria: object): string {
  const query = queryOf(criteria).toString();
  if (query === '') throw new Error(`there are no criteria: which ${type} is meant?`);
  return `${type}?${query}`;
}

/** @throws Error where the resource has no id */
export function idOf({ resourceType, id }: AnyResource): string {
  if (id === undefined) throw new Error(`the ${resourceType} has no id; create it instead`);
  return id;
}

/** The header of a version id. */
export function etag(version: string): string {
  return `W/"${version}"`;
}
