import { withinReach } from '../../auth/scopes/reach.js';
import { OPEN_ACCESS } from '../../auth/scopes/principal.js';
import { isIndexCurrent } from '../../core/access/index-visibility.js';
import { visibleVersions } from '../../core/access/visibility.js';
import { BINARY } from '../../core/binary/binary-content.js';
import { openBinaries } from '../../core/binary/with-data.js';
import { parseStored } from '../../core/parse-stored.js';
import { FhirError } from '../../fhir/errors.js';
import type { Resource } from '../../fhir/resource.js';
import { scopeMissing } from '../../auth/access/refuse.js';
import { neededOn } from '../../auth/access/needed-scopes.js';
import type { StoredVersion } from '../../store/store.js';
import type { Projector } from '../project/projector.js';
import type { Execution, Found, Match } from './context.js';

/** Names a resource, or one of its versions. */
export interface TargetKey {
  readonly type: string;
  readonly id: string;
  readonly version?: string;
}

/** Resources that one query asks the store for. */
const CHUNK = 500;

/** Longer texts are read, in characters: that is done elsewhere, where the server has such a place. */
const LONGEST = 128 * 1024;

/** Reads resources by type and id, each once, within the scopes of the token. */
export class ResourceReader {
  /** What was read; of some the version alone, as long as nothing else is needed of it. */
  readonly #known = new Map<string, Found<Resource> | StoredVersion>();
  #hasTexts = false;
  #binaries: ((stored: Resource) => Promise<Resource>) | undefined;

  constructor(private readonly execution: Execution) {}

  /** What `read` has read. */
  found(key: TargetKey): Found<Resource> | undefined {
    const known = this.#known.get(nameOfKey(key));
    return known === undefined || 'type' in known ? undefined : known;
  }

  /** Whether some of it is text still: a number may be a `Decimal`, or what a query needs of a resource was copied. */
  get hasTexts(): boolean {
    return this.#hasTexts;
  }

  /** A version that a search found, which its token shows. */
  take(version: StoredVersion): Resource | Promise<Resource> {
    const name = nameOf(version);
    const before = this.#known.get(name);
    if (before !== undefined && 'value' in before) return before.value;
    const { type, json = '{}' } = this.#first(before, version);
    const resource = this.#parse(type, json);
    if (!(resource instanceof Promise)) return this.#remember(name, resource);
    return resource.then((value) => this.#remember(name, value));
  }

  /** The same as a match. */
  whole(version: StoredVersion): Match | Promise<Match> {
    const name = nameOf(version);
    const resource = this.take(version);
    return resource instanceof Promise ? resource.then((value) => ({ name, resource: value })) : { name, resource };
  }

  /** The same, of which the query needs what is copied, if its text allows that. */
  project(version: StoredVersion, projector: Projector): Match | Promise<Match> {
    const name = nameOf(version);
    const before = this.#known.get(name);
    if (version.type === BINARY || (before !== undefined && 'value' in before)) return this.whole(version);
    const { json = '{}' } = before !== undefined && 'type' in before ? before : version;
    const projected = json.length > LONGEST ? undefined : projector.project(json);
    if (projected === undefined) return this.whole(version);
    this.#hasTexts = true;
    this.#known.set(name, this.#first(before, version));
    return { name, projected };
  }

  /** What was found of a resource first, which counts. */
  #first(before: Found<Resource> | StoredVersion | undefined, version: StoredVersion): StoredVersion {
    if (before !== undefined && 'type' in before) return before;
    this.execution.budget.readResources(1);
    return version;
  }

  #parse(type: string, json: string): Resource | Promise<Resource> {
    const resource = parseStored(json, this.execution.services);
    if (resource instanceof Promise) this.#hasTexts = true;
    if (type !== BINARY) return resource;
    this.#binaries ??= openBinaries(this.execution.services.store.blobs);
    return Promise.resolve(resource).then(this.#binaries);
  }

  #remember(name: string, value: Resource): Resource {
    this.#known.set(name, { value });
    return value;
  }

  /** Reads what is not known yet, all in as few queries as the store allows. */
  async read(keys: Iterable<TargetKey>): Promise<void> {
    const { access } = this.execution.call.principal;
    const wanted = new Map<string, TargetKey>();
    for (const key of keys) {
      const name = nameOfKey(key);
      const known = this.#known.get(name);
      if (known !== undefined) {
        if ('type' in known) this.#remember(name, await this.#parse(key.type, known.json ?? '{}'));
        continue;
      }
      if (access.on(key.type, 'r') === 'nothing')
        this.#known.set(name, { fault: scopeMissing(neededOn(key.type, 'r'), access) });
      else wanted.set(name, key);
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
      if (this.#known.has(name)) continue;
      this.#known.set(name, {
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
      found.push(...page.versions);
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
      const name = nameOfKey({ type, id, ...(version !== undefined && { version }) });
      this.#known.set(
        name,
        json === undefined
          ? { fault: new FhirError('deleted', `${name} is deleted`) }
          : { value: await this.#parse(type, json) },
      );
    }
  }
}

function nameOf({ type, id }: Pick<TargetKey, 'type' | 'id'>): string {
  return `${type}/${id}`;
}

function nameOfKey(key: TargetKey): string {
  return key.version === undefined ? nameOf(key) : `${nameOf(key)}/_history/${key.version}`;
}
