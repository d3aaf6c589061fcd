import type { AnyResource, Bundle } from '../../generated/types/index.js';
import type { Connection } from './http.js';

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
  update(resource: AnyResource, options: { readonly ifMatch?: string } = {}): this {
    const url = `${resource.resourceType}/${idOf(resource)}`;
    const ifMatch = options.ifMatch === undefined ? {} : { ifMatch: etag(options.ifMatch) };
    this.entries.push({ resource, request: { method: 'PUT', url, ...ifMatch } });
    return this;
  }

  /** Adds a deletion. */
  delete(type: string, id: string): this {
    this.entries.push({ request: { method: 'DELETE', url: `${type}/${id}` } });
    return this;
  }

  /** Adds a read, or a search: `Patient/1`, `Patient?name=x`. */
  get(url: string): this {
    this.entries.push({ request: { method: 'GET', url } });
    return this;
  }

  /** Sends it. @returns the answers in the order of what was added */
  async send(): Promise<Bundle> {
    const body: Bundle = { resourceType: 'Bundle', type: this.type, entry: this.entries };
    return (await this.connection.send<Bundle>({ method: 'POST', path: '', body })).body as Bundle;
  }
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
