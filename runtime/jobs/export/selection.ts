import { readStored } from '../../core/read-stored.js';
import type { Services } from '../../core/services.js';
import type { Resource } from '../../fhir/resource.js';
import { writeJson } from '../../format/write-json.js';
import { isLink } from '../../search/query/criterion.js';
import { matches } from '../../search/query/match.js';
import { EVERYTHING, type Condition, type Ends } from '../../search/query/query.js';
import type { StoredVersion } from '../../store/store.js';
import { compartmentOf, isOfSomePatient } from './compartment.js';
import type { ExportInput, ExportPart } from './export-input.js';
import { createRowLines, type RowLines } from './row-lines.js';

/** Patients that one query asks about. */
const BLOCK = 200;

/** Selection of the resources of one type for an export, as a query of the index and as a test of single versions. */
export class Selection {
  private readonly ids: readonly string[] | undefined;
  private rows: RowLines | undefined;

  constructor(
    readonly part: ExportPart,
    private readonly input: ExportInput,
    private readonly services: Services,
  ) {
    this.ids = Array.isArray(input.patients) ? (input.patients as readonly string[]) : undefined;
  }

  /** Whether all that the query finds is taken as it is stored, or as the rows of a view. */
  get isPlain(): boolean {
    const { part, input } = this;
    const isWhole = input.patients === undefined && part.postFilter === undefined && part.elements === undefined;
    return isWhole && !input.isHistory;
  }

  /** How many queries it takes: one, or one for each block of patients. */
  get blocks(): number {
    return this.ids === undefined ? 1 : Math.ceil(this.ids.length / BLOCK);
  }

  /** The condition of one of the queries. */
  where(block: number): Condition {
    const all = [...this.updated(), ...this.filters()];
    const patients = this.ids?.slice(block * BLOCK, (block + 1) * BLOCK);
    if (patients !== undefined) all.unshift(this.ofPatients(patients));
    return all.length === 0 ? EVERYTHING : all.length === 1 ? all[0]! : { all };
  }

  /**
   * Whether a version that a query found belongs to the files, as far as the query does not tell: the filters after the fetch, the
   * compartment of some patient, and whether an earlier block brought the resource already.
   */
  async takes(version: StoredVersion, block: number): Promise<boolean> {
    const { part, input } = this;
    if (block > 0 && (await this.isOfEarlier(version, block))) return false;
    if (part.postFilter === undefined && input.patients !== 'all') return true;
    if (input.patients === 'all' && part.type === 'Patient' && part.postFilter === undefined) return true;
    const resource = await this.read(version);
    if (input.patients === 'all' && !isOfSomePatient(resource, this.services)) return false;
    return part.postFilter === undefined || this.fulfils(part.postFilter, version, resource);
  }

  /**
   * Whether a past version belongs to the files. Conditions with links are asked of the current version, because the index knows
   * no other.
   */
  async takesPast(version: StoredVersion, signal: AbortSignal): Promise<boolean> {
    if (!this.isInTime(version.lastUpdated)) return false;
    const { part, ids } = this;
    if (!(await this.takes(version, 0))) return false;
    if (part.filter === undefined && ids === undefined) return true;
    if (ids !== undefined) {
      const resource = await this.read(version);
      if (!this.fulfils(this.ofPatients(ids), version, resource)) return false;
    }
    if (part.filter === undefined) return true;
    if (!asksLinks(part.filter)) return this.fulfils(part.filter, version, await this.read(version));
    const where = { all: [{ ids: [version.id] }, part.filter] };
    const query = { type: part.type, where, sort: [], count: 1, total: 'none' } as const;
    return (await this.services.store.find(query, signal)).versions.length > 0;
  }

  /** Whether the last version of a deleted resource was of those exported, times aside. */
  async tookBefore(version: StoredVersion): Promise<boolean> {
    const { part, ids } = this;
    if (!(await this.takes(version, 0))) return false;
    const { filter } = part;
    const needs = [
      ...(ids === undefined ? [] : [this.ofPatients(ids)]),
      ...(filter && !asksLinks(filter) ? [filter] : []),
    ];
    if (needs.length === 0) return true;
    return this.fulfils({ all: needs }, version, await this.read(version));
  }

  /** Whether `_since` and `_until` take a version of this time. */
  isInTime(lastUpdated: number): boolean {
    const { since = -Infinity, until = Infinity } = this.input;
    return lastUpdated > since && lastUpdated < until;
  }

  /** The lines of a version: one, but for the rows of a view. */
  async lines(version: StoredVersion): Promise<readonly string[]> {
    return this.rowLines === undefined ? [await this.line(version)] : this.rowLines(version.json ?? '');
  }

  /** Maker of the lines of a resource, from its text; undefined: there is no view. */
  get rowLines(): RowLines | undefined {
    const { part, input, services } = this;
    return part.view && (this.rows ??= createRowLines(part.view, input.transactionTime, services));
  }

  private async line({ json = '' }: StoredVersion): Promise<string> {
    const { elements } = this.part;
    const { subset } = this.services;
    // What names the patient is needed until the files are organized.
    if (this.input.organizedBy !== undefined) return toLine(json, this.services);
    if (elements !== undefined && subset !== undefined) {
      const resource = await readStored(json, this.services);
      return writeJson(subset(resource, { elements }));
    }
    return toLine(json, this.services);
  }

  private async isOfEarlier(version: StoredVersion, block: number): Promise<boolean> {
    const { type, id, json = '' } = version;
    const earlier = new Set(this.ids?.slice(0, block * BLOCK));
    const named = type === 'Patient' ? [...patientsNamedIn(json), id] : patientsNamedIn(json);
    const patients = [...new Set(named)].filter((each) => earlier.has(each));
    if (patients.length === 0) return false;
    return this.fulfils(this.ofPatients(patients), version, await this.read(version));
  }

  private ofPatients(patients: readonly string[]): Condition {
    return compartmentOf(this.part.type, patients, this.services.tables);
  }

  private filters(): Condition[] {
    const { filter, narrowed = filter } = this.part;
    return narrowed === undefined ? [] : [narrowed];
  }

  private updated(): Condition[] {
    const { since, until } = this.input;
    if (since === undefined && until === undefined) return [];
    const bound = { ...(since !== undefined && { gt: since }), ...(until !== undefined && { lt: until }) };
    const ends: Ends = { low: bound, high: bound };
    return [{ updated: [ends] }];
  }

  private fulfils(condition: Condition, { id, lastUpdated }: StoredVersion, resource: Resource): boolean {
    return matches(condition, { id, lastUpdated, entries: this.services.extract(resource) });
  }

  private read({ json = '' }: StoredVersion): Promise<Resource> {
    return readStored(json, this.services);
  }
}

async function toLine(json: string, services: Services): Promise<string> {
  return json.includes('\n') ? writeJson(await readStored(json, services)) : json;
}

/** Finds the ids of all patients that a text may name. */
export function patientsNamedIn(json: string): readonly string[] {
  return [...json.matchAll(PATIENT_REFERENCE)].map(([, found = '']) => found);
}

const PATIENT_REFERENCE = /"(?:[^"\\]*\/)?Patient\/([A-Za-z0-9.-]{1,64})(?:\/_history\/[^"\\]*)?"/g;

/** Whether a condition asks for other resources. */
export function asksLinks(condition: Condition): boolean {
  if ('all' in condition) return condition.all.some(asksLinks);
  if ('some' in condition) return condition.some.some(asksLinks);
  if ('not' in condition) return asksLinks(condition.not);
  return isLink(condition);
}
