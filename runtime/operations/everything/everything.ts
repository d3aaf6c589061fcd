import { append } from '../../fhir/lists.js';
import { searchAccess } from '../../auth/access/search-access.js';
import { withinReach, type Reach } from '../../auth/scopes/reach.js';
import {
  checkConstraintIndexes,
  recordConstraints,
  type RecordedAccess,
} from '../../core/access/constraint-index-status.js';
import { disclosedTimestamp } from '../../core/access/disclosed-timestamp.js';
import { PAGE_ROOM } from '../../core/answer-room.js';
import type { Call, Reply } from '../../core/call.js';
import { staleWarnings } from '../../search-execution/present/warnings.js';
import { writeLink } from '../../search-execution/pages/page-walk.js';
import { FORM } from '../../search/control-parameters.js';
import { findAll } from '../../core/search-services/find-all.js';
import { PAGE_PARAMETER } from '../../core/search-services/page-links/page-link.js';
import { renderPage } from '../../search-execution/present/render-page.js';
import { replySearchBundle } from '../../search-execution/present/search-bundle.js';
import { withinBudget } from '../../search-execution/execute/search-budget.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import { isObject, type JsonValue, type Resource } from '../../fhir/resource.js';
import { read } from '../../interactions/read/read.js';
import { readStored } from '../../core/read-stored.js';
import type { UsedParameter } from '../../search/parse/used-by.js';
import type { StoredVersion } from '../../store/store.js';
import { readArguments, valueOf, valuesOf } from '../common/arguments.js';
import { allFoci, FIRST_MEMBER, memberFoci, singleFocus, type Foci } from './foci.js';
import { membersOfRecord, type Focus, type RecordFilter } from './members.js';
import { readReferred } from './referred.js';
import {
  digestOf,
  nextLink,
  openWalk,
  pathOf,
  shownBy,
  type AskedRecord,
  type Position,
  type EverythingCursor,
} from './walk.js';
import type { OwnBases } from '../../path/own-bases.js';
import { keyOf, nameOf, referredFrom, type ReferredKey } from '../../path/referred-from.js';

/** What comes along with a page that is large itself has so many still. */
const LEAST_ROOM = 4 * 1024 * 1024;

/** What one page looks at, of a record of which it shows little. */
const MOST_PASSED = { resources: 20_000, queries: 1000 } as const;

/** Encounters of one episode of care whose compartments belong to its record. */
const MOST_ENCOUNTERS = 500;

/**
 * `$everything`: the record of a resource, page by page: the resource itself, what belongs to it, and in one step what these refer
 * to that is in no patient's compartment. All of it within the scopes of the token. No resource comes twice on a walk through the
 * pages. https://hl7.org/fhir/R5/patient-operation-everything.html
 *
 * @throws FhirError `not-found`, `deleted`, `parameter-invalid`, `page-invalid`, `index-not-current`, `too-costly`
 */
export async function everything(call: Call, services: Services): Promise<Reply> {
  const opened = await openWalk(call, services);
  const walk = opened ?? { asked: readAsked(call, services), position: { shown: '' } };
  const { tables, limits } = services;
  const { access } = call.principal;
  const recorded = recordConstraints(searchAccess(access, tables.resourceTypes));
  const before = await services.indexStatus.notCurrent();
  const page = await withinBudget(limits.queryTime, call.signal, (signal) =>
    new RecordReader(call, services, recorded, walk, signal).readPage(),
  );
  const next = page.position && (await nextLink(call, { asked: walk.asked, position: page.position }, services));
  const self =
    opened === undefined
      ? writeLink(call, pathOf(call), call.body === undefined ? ownParameters(call) : [])
      : writeLink(call, pathOf(call), [[PAGE_PARAMETER, call.params.get(PAGE_PARAMETER) ?? '']]);
  const complete = disclosedTimestamp(page.complete, access, tables.resourceTypes);
  return replySearchBundle({
    page: { versions: page.versions, complete },
    base: call.base,
    self,
    ...(next !== undefined && { next }),
    texts: await renderPage(page.versions, () => undefined, services),
    included: page.included,
    includedTexts: await renderPage(page.included, () => undefined, services),
    notes: await staleWarnings({ used: page.used, before }, services),
  });
}

interface RecordPage {
  readonly versions: readonly StoredVersion[];
  readonly included: readonly StoredVersion[];
  readonly complete: number;
  readonly used: readonly UsedParameter[];
  /** Where the next page begins; undefined: this is the last one. */
  readonly position: Position | undefined;
}

/** What members refer to: what comes along, and the names of what has no room yet. */
interface Included {
  readonly included: readonly StoredVersion[];
  readonly left: readonly string[];
}

class RecordReader {
  private readonly versions: StoredVersion[] = [];
  private readonly used = new Map<string, UsedParameter>();
  private readonly now = Date.now();
  private readonly compartment: ReadonlySet<string>;
  private complete = Infinity;
  /** Characters of the versions. */
  private size = 0;
  /** What resources refer to that the page does not show. */
  private readonly passed = new Map<string, ReferredKey>();
  private looked = 0;
  private queries = 0;
  /** The patient whom an encounter or an episode of care, the focus, is about. */
  private about: ReferredKey | undefined;

  constructor(
    private readonly call: Call,
    private readonly services: Services,
    private readonly access: RecordedAccess,
    private readonly walk: EverythingCursor,
    private readonly signal: AbortSignal | undefined,
  ) {
    const row = services.tables.compartments.find(({ type }) => type === 'Patient');
    this.compartment = new Set(['Patient', ...Object.keys(row?.members ?? {})]);
  }

  async readPage(): Promise<RecordPage> {
    const { count } = this.walk.asked;
    const foci = await this.openFoci();
    const { left: before = [] } = this.walk.position;
    if (before.length > 0) return this.readLeft(before);
    const { shown } = this.walk.position;
    let { list, focus, members }: Position = this.walk.position;
    // The group itself came before its members.
    if (this.versions.length > 0) list = FIRST_MEMBER;
    let isOpen = true;
    while (this.versions.length < count && this.size < PAGE_ROOM && !this.isTired()) {
      if (focus === undefined) {
        const found = await foci.after(list);
        if (found === undefined) {
          isOpen = false;
          break;
        }
        list = found.next;
        focus = found.version.id;
        this.take([found.version]);
        if (this.versions.length >= count) break;
      }
      members = await this.readMembers({ type: foci.type, id: focus }, members, count - this.versions.length);
      if (members === undefined) focus = undefined;
    }
    // A page that ends with a record is the last one where no other record follows.
    if (isOpen && focus === undefined) isOpen = (await foci.after(list)) !== undefined;
    const { included, left, digests } = await this.readIncluded(shownBy(this.walk.position));
    const position = {
      ...(list !== undefined && { list }),
      ...(focus !== undefined && { focus }),
      ...(members !== undefined && { members }),
      shown: shown + digests.join(''),
    };
    return this.page(included, position, left, !isOpen);
  }

  /** What had no room on the page before, as far as this one has. */
  private async readLeft(names: readonly string[]): Promise<RecordPage> {
    const { left: _left, isOver, ...position } = this.walk.position;
    const { included, left } = await this.readKeys(names.map(keyOf));
    return this.page(included, position, left, isOver === true);
  }

  private page(
    included: readonly StoredVersion[],
    position: Position,
    left: readonly string[],
    isOver: boolean,
  ): RecordPage {
    const { complete } = this;
    const later = { ...position, left, ...(isOver && { isOver: true as const }) };
    return {
      versions: this.versions,
      included,
      complete: complete === Infinity ? this.now : complete,
      used: [...this.used.values()],
      position: left.length > 0 ? later : isOver ? undefined : position,
    };
  }

  private async openFoci(): Promise<Foci> {
    const { call, services, signal, walk } = this;
    const { type = '', id = '', level } = call;
    if (level === 'type') {
      const reach = this.access.on(type, 'rs');
      await checkConstraintIndexes(this.access.constraints, services);
      return allFoci(type, reach, services, signal);
    }
    const { versionId, lastUpdated = 0, json } = await read(plainRead(call), services);
    if (json === undefined) throw new Error('a read without content');
    const version: StoredVersion = { type, id, version: Number(versionId), lastUpdated, json };
    this.about = patientOf(version, services.own);
    if (type !== 'Group') return singleFocus(version);
    const { list, focus } = walk.position;
    if (list === undefined && focus === undefined) this.versions.push(version);
    const reach = this.access.on('Patient', 'r');
    await checkConstraintIndexes(this.access.constraints, services);
    return memberFoci(await readStored(json, services), reach, services, signal);
  }

  /** Members of one record after a place; @returns the place after them, undefined: these were the last. */
  private async readMembers(focus: Focus, after: string | undefined, count: number): Promise<string | undefined> {
    const { services, signal, call, walk, about } = this;
    const source = { now: this.now };
    const encounters = focus.type === 'EpisodeOfCare' ? await this.encountersOf(focus) : [];
    const asked = { ...focus, ...(about !== undefined && { patient: about.id }) };
    const { parts, candidates, used } = membersOfRecord(asked, this.walked(), encounters, source, services);
    for (const each of used) this.used.set(`${each.type} ${each.code}`, each);
    const seen = parts.flatMap(({ type, where }) => {
      const reach = this.reach(type);
      if (reach === 'nothing') return [];
      // The group that was asked for is in the compartments of its members, and came already.
      const rest = type === call.type ? { all: [where, { not: { ids: [call.id ?? ''] } }] } : where;
      return [{ type, where: withinReach(rest, reach) }];
    });
    await checkConstraintIndexes(this.access.constraints, services);
    if (seen.length === 0) return undefined;
    const query = { parts: seen, sort: [], count, total: 'none' } as const;
    const page = await services.store.findMultiType(after === undefined ? query : { ...query, after }, signal);
    const named = new Set([`${focus.type}/${focus.id}`, ...encounters.map((id) => `Encounter/${id}`)]);
    const members = page.versions.filter((each) => !candidates.has(each.type) || refersTo(each, named, services.own));
    this.take(members.filter((each) => isAsked(each, walk.asked)));
    for (const [key, each] of this.referredBy(members.filter((member) => !isAsked(member, walk.asked)))) {
      this.passed.set(key, each);
    }
    this.looked += page.versions.length;
    this.queries++;
    this.complete = Math.min(this.complete, page.complete);
    return page.next;
  }

  /** Whether the page looked at enough, though it shows less than it may. */
  private isTired(): boolean {
    return this.looked >= MOST_PASSED.resources || this.queries >= MOST_PASSED.queries;
  }

  /**
   * What is asked of the members that are looked at. Types and changes are asked of what is shown: a resource that changed, or of a
   * type that is wanted, may be one that members of another type, or unchanged ones, refer to.
   */
  private walked(): RecordFilter {
    const { since, types, ...rest } = this.walk.asked;
    const areMembers = types?.every((type) => this.compartment.has(type)) !== false;
    return since === undefined && areMembers ? this.walk.asked : rest;
  }

  private async encountersOf({ id }: Focus): Promise<readonly string[]> {
    const { services, signal } = this;
    const focus = { type: 'EpisodeOfCare', id };
    const [part] = membersOfRecord(focus, { types: ['Encounter'] }, [], { now: this.now }, services).parts;
    const reach = this.reach('Encounter');
    if (part === undefined || reach === 'nothing') return [];
    const where = withinReach(part.where, reach);
    const query = { type: 'Encounter', where, sort: [], count: MOST_ENCOUNTERS, total: 'none' } as const;
    const ids: string[] = [];
    for await (const version of findAll(query, (...asks) => services.store.find(...asks), signal)) {
      if (ids.push(version.id) > MOST_ENCOUNTERS) {
        throw new FhirError('too-costly', `The episode of care has more than ${MOST_ENCOUNTERS} encounters`);
      }
    }
    return ids;
  }

  /** What the resources of the page refer to, each once in the whole walk. */
  private async readIncluded(shown: ReadonlySet<string>): Promise<Included & { readonly digests: readonly string[] }> {
    const { walk, about } = this;
    const isAbout = about !== undefined && walk.asked.types?.includes(about.type) !== false;
    const own = isAbout ? [[`${about.type}/${about.id}`, about] as const] : [];
    const keys = new Map([...this.passed, ...this.referredBy(this.versions), ...own]);
    const notShown = [...keys].filter(([key]) => !shown.has(digestOf(key)));
    if (notShown.length === 0) return { included: [], left: [], digests: [] };
    const there = new Set(this.versions.map(({ type, id }) => `${type}/${id}`));
    const fresh = notShown.filter(([, { type, id }]) => !there.has(`${type}/${id}`));
    const read = await this.readKeys(fresh.map(([, key]) => key));
    return { ...read, digests: fresh.map(([key]) => digestOf(key)) };
  }

  private async readKeys(keys: readonly ReferredKey[]): Promise<Included> {
    const { call, services, walk, signal } = this;
    const readable = keys.filter(({ type }) => this.reach(type) !== 'nothing');
    await checkConstraintIndexes(this.access.constraints, services);
    const reach = (type: string): Reach => this.reach(type);
    const room = Math.max(PAGE_ROOM - this.size, LEAST_ROOM);
    const { found, left } = await readReferred(readable, room, walk.asked, reach, call, services, signal);
    return { included: found, left: left.map(nameOf) };
  }

  private referredBy(versions: readonly StoredVersion[]): ReadonlyMap<string, ReferredKey> {
    const { services, walk, compartment } = this;
    const { types } = walk.asked;
    const isWanted = (type: string): boolean =>
      services.tables.resourceTypes.includes(type) && !compartment.has(type) && types?.includes(type) !== false;
    const texts = versions.map(({ json = '' }) => json);
    return referredFrom(texts, services.own, isWanted);
  }

  private take(versions: readonly StoredVersion[]): void {
    append(this.versions, versions);
    this.size = versions.reduce((sum, { json = '' }) => sum + json.length, this.size);
  }

  private reach(type: string): Reach {
    return this.access.onAny(type, ['r', 's']);
  }
}

/** Whether a client wants to see a resource of the record. */
function isAsked({ type, lastUpdated }: StoredVersion, { types, since }: RecordFilter): boolean {
  return types?.includes(type) !== false && (since === undefined || lastUpdated >= Date.parse(since));
}

/** Whether a resource refers to one of these, by an element or an extension. */
function refersTo({ json = '' }: StoredVersion, named: ReadonlySet<string>, own: OwnBases): boolean {
  const keys = referredFrom([json], own, (type) => type === 'Encounter' || type === 'EpisodeOfCare').values();
  return [...keys].some(({ type, id }) => named.has(`${type}/${id}`));
}

/** The patient whom an encounter or an episode of care is about. */
function patientOf({ type, json = '{}' }: StoredVersion, own: OwnBases): ReferredKey | undefined {
  if (type !== 'Encounter' && type !== 'EpisodeOfCare') return undefined;
  const content = JSON.parse(json) as Resource;
  const about: JsonValue | undefined = content['subject'] ?? content['patient'];
  const text = isObject(about) ? about['reference'] : undefined;
  if (typeof text !== 'string') return undefined;
  const [key] = referredFrom([JSON.stringify({ reference: text })], own, (each) => each === 'Patient').values();
  return key;
}

function readAsked(call: Call, services: Services): AskedRecord {
  const found = readArguments(call, services);
  const { search, tables } = services;
  const text = (name: string): string | undefined => valueOf(found, name) as string | undefined;
  const [start, end, since] = [text('start'), text('end'), text('_since')];
  const types = valuesOf(found, '_type')
    .flatMap((each) => String(each).split(','))
    .filter((each) => each !== '');
  const unknown = types.find((each) => !tables.resourceTypes.includes(each));
  if (unknown !== undefined) {
    throw new FhirError(
      'parameter-invalid',
      `The parameter "_type" names no resource type with ${JSON.stringify(unknown)}`,
    );
  }
  // One Bundle has all of it, unless a client wants pages, or it is too much.
  const count = Number(valueOf(found, '_count') ?? search.maxCount);
  if (!(count >= 1)) throw new FhirError('parameter-invalid', 'The parameter "_count" is at least 1');
  return {
    ...(start !== undefined && { start }),
    ...(end !== undefined && { end }),
    ...(since !== undefined && { since }),
    ...(types.length > 0 && { types }),
    count: Math.min(count, search.maxCount),
  };
}

function plainRead(call: Call): Call {
  const { params: _params, conditions: _conditions, ...rest } = call;
  return { ...rest, params: new URLSearchParams(), conditions: {} };
}

function ownParameters({ params }: Call): [string, string][] {
  return [...params].filter(([name]) => !FORM.has(name));
}
