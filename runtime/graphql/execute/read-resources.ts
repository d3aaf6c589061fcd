import { append } from '../../fhir/lists.js';
import { withinReach } from '../../auth/scopes/reach.js';
import { OPEN_ACCESS } from '../../auth/scopes/principal.js';
import { isIndexCurrent } from '../../core/access/index-visibility.js';
import { visibleVersions } from '../../core/access/visibility.js';
import { BINARY } from '../../core/binary/binary-content.js';
import type { ReadNotes } from '../../core/read-notes.js';
import { openBinaries } from '../../core/binary/with-data.js';
import { parseStored } from '../../core/parse-stored.js';
import { FhirError } from '../../fhir/errors.js';
import type { Resource } from '../../fhir/resource.js';
import { scopeMissing } from '../../auth/access/refuse.js';
import { neededOn } from '../../auth/access/needed-scopes.js';
import type { StoredVersion } from '../../store/store.js';
import type { Execution, Lookup } from './context.js';

/** Names a resource, or one of its versions. */
export interface TargetKey {
  readonly type: string;
  readonly id: string;
  readonly version?: string;
}

/** Resources that one query asks the store for. */
const CHUNK = 500;

/** Reads resources by type and id, each once, within the scopes of the token. */
export class ResourceReader {
  /** What was read, by type and id. */
  readonly #known = new Map<string, Map<string, Lookup<Resource>>>();
  #hasDecimals = false;
  /** For the audit. */
  readonly reads: ReadNotes | undefined;
  #binaries: ((stored: Resource) => Promise<Resource>) | undefined;

  constructor(private readonly execution: Execution) {
    this.reads = execution.services.audit.notes?.();
  }

  /** What `read` has read. */
  found(key: TargetKey): Lookup<Resource> | undefined {
    return this.#of(key.type).get(placeOf(key));
  }

  /** Whether a number may be a `Decimal`. */
  get hasDecimals(): boolean {
    return this.#hasDecimals;
  }

  /** A version that a search found, which its token shows. */
  take(version: StoredVersion): Resource | Promise<Resource> {
    const before = this.#of(version.type).get(version.id);
    if (before !== undefined && 'value' in before) return before.value;
    const { type, id, json = '{}' } = version;
    this.execution.budget.readResources(1);
    this.execution.budget.readCharacters(json.length);
    this.reads?.about(type, id, json);
    const resource = this.#parse(type, json);
    if (!(resource instanceof Promise)) return this.#remember(type, id, resource);
    return resource.then((value) => this.#remember(type, id, value));
  }

  #parse(type: string, json: string): Resource | Promise<Resource> {
    const resource = parseStored(json, this.execution.services);
    if (resource instanceof Promise) this.#hasDecimals = true;
    if (type !== BINARY) return resource;
    this.#binaries ??= openBinaries(this.execution.services.store.blobs);
    return Promise.resolve(resource).then(this.#binaries);
  }

  #remember(type: string, place: string, value: Resource): Resource {
    this.#of(type).set(place, { value });
    return value;
  }

  /** What is known of a type. */
  #of(type: string): Map<string, Lookup<Resource>> {
    let known = this.#known.get(type);
    if (known === undefined) this.#known.set(type, (known = new Map()));
    return known;
  }

  /** Reads what is not known yet, all in as few queries as the store allows. */
  async read(keys: Iterable<TargetKey>): Promise<void> {
    const { access } = this.execution.call.principal;
    const wanted = new Map<string, TargetKey>();
    for (const key of keys) {
      const { type } = key;
      const place = placeOf(key);
      if (this.#of(type).has(place)) continue;
      if (access.on(type, 'r') === 'nothing')
        this.#of(type).set(place, { fault: scopeMissing(neededOn(type, 'r'), access) });
      else wanted.set(`${type}/${place}`, key);
    }
    if (wanted.size === 0) return;
    this.execution.budget.readResources(wanted.size);
    const current = [...wanted.values()].filter(({ version }) => version === undefined);
    for (let at = 0; at < current.length; at += CHUNK) {
      await this.#keep(await this.#readCurrent(current.slice(at, at + CHUNK)));
    }
    for (const { type, id, version } of wanted.values()) {
      if (version === undefined) continue;
      this.execution.signal?.throwIfAborted();
      const stored = /^[1-9]\d{0,9}$/.test(version)
        ? await this.execution.services.store.readVersion(type, id, Number(version))
        : undefined;
      if (stored !== undefined) await this.#keep([stored], version);
    }
    for (const [name, key] of wanted) {
      const known = this.#of(key.type);
      if (known.has(placeOf(key))) continue;
      known.set(placeOf(key), {
        fault: new FhirError('not-found', `There is no ${name}${key.version === undefined ? '' : ', or it is gone'}`),
      });
    }
  }

  /** Current versions: by the index where constraints have to hold, so that what they hide is not even read. */
  async #readCurrent(keys: readonly TargetKey[]): Promise<readonly StoredVersion[]> {
    const { call, services, signal } = this.execution;
    const { access } = call.principal;
    const { store } = services;
    signal?.throwIfAborted();
    const isBound = ({ type }: TargetKey): boolean => typeof access.on(type, 'r') !== 'string';
    const bound = (await isIndexCurrent(services)) ? keys.filter(isBound) : [];
    const found = (await store.readMany(keys.filter((key) => !bound.includes(key)))).filter(
      (each) => each !== undefined,
    );
    if (bound.length === 0) return found;
    const ids = new Map<string, string[]>();
    for (const { type, id } of bound) ids.set(type, [...(ids.get(type) ?? []), id]);
    const parts = [...ids].map(([type, some]) => ({ type, where: withinReach({ ids: some }, access.on(type, 'r')) }));
    const query = { parts, sort: [], count: CHUNK, total: 'none' } as const;
    for (let after: string | undefined; ;) {
      const page = await store.findMultiType(after === undefined ? query : { ...query, after }, signal);
      append(found, page.versions);
      if (page.next === undefined) return found;
      after = page.next;
    }
  }

  async #keep(versions: readonly StoredVersion[], version?: string): Promise<void> {
    const { call, services } = this.execution;
    const { access } = call.principal;
    const seen =
      access === OPEN_ACCESS
        ? versions
        : await visibleVersions(versions, (type) => access.on(type, 'r'), call, services);
    for (const { type, id, json } of seen) {
      this.execution.budget.readCharacters(json?.length ?? 0);
      this.reads?.about(type, id, json);
      const place = placeOf({ id, ...(version !== undefined && { version }) });
      this.#of(type).set(
        place,
        json === undefined
          ? { fault: new FhirError('deleted', `${type}/${place} is deleted`) }
          : { value: await this.#parse(type, json) },
      );
    }
  }
}

/** What follows the type in a reference. */
function placeOf({ id, version }: Omit<TargetKey, 'type'>): string {
  return version === undefined ? id : `${id}/_history/${version}`;
}
