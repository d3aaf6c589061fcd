import type { ProfileRow } from '../../contract/profiles.js';
import type { Resource } from '../../fhir/resource.js';
import { readJson } from '../../format/read-json.js';
import type { Store } from '../../store/store.js';
import { createFhirTypes, type FhirTypes, type TypeTables } from '../../validate/profiles/fhir-types.js';
import type { Soon } from '../../validate/profiles/profile-deps.js';
import { imposedBy, isTrial, profileRow } from '../../validate/profiles/definition/profile-row.js';
import {
  ofRightForm,
  ProfileFault,
  unversioned,
  type StructureDefinition,
} from '../../validate/profiles/definition/structure-definition.js';
import { STORED_DEPTH } from '../read-stored.js';
import { shippedId } from '../shipped/shipped-pack.js';
import { snapshotOf } from './snapshot-of.js';

const TYPE = 'StructureDefinition';

/** Profiles and definitions of extensions that are remembered, unknown ones too. */
const KEPT = 2000;
/** How long an answer holds, in milliseconds: all processes see a change within two seconds. */
const BELIEVED = 1500;
/** Stored definitions with the same URL that are looked at. */
const SAME = 50;

/** Finds profiles for validation. */
export interface StoredProfiles {
  readonly types: FhirTypes;
  /**
   * The profile of a canonical: a generated one, or one made from a stored StructureDefinition. Scopes of the client do not matter:
   * a resource is valid or not for all clients alike. Of the definition only names, cardinalities and values get into messages.
   */
  readonly profile: (canonical: string) => Soon<ProfileRow | undefined>;
  /** Why the definition of a canonical cannot be used that `profile` did not find; undefined: none is stored. */
  readonly whyUnusable: (canonical: string) => string | undefined;
  /** The store given. Writing a StructureDefinition to it drops what is remembered. */
  readonly store: Store;
}

interface Answer {
  readonly at: number;
  readonly row: Soon<ProfileRow | undefined>;
}

/**
 * @param load the generated profiles
 * @param now milliseconds, from any beginning on
 */
export function createStoredProfiles(
  base: Store,
  tables: TypeTables,
  load: () => Promise<readonly ProfileRow[]>,
  now: () => number = () => performance.now(),
): StoredProfiles {
  const types = createFhirTypes(tables);
  const answers = new Map<string, Answer>();
  const unusable = new Map<string, string>();
  let generated: Promise<ReadonlyMap<string, ProfileRow>> | undefined;
  let writes = 0;

  async function look(canonical: string): Promise<ProfileRow | undefined> {
    generated ??= load().then((rows) => new Map(rows.map((row) => [row.url, row])));
    const [url = '', version] = canonical.split('|');
    const row = (await generated).get(url);
    if (row !== undefined && (version === undefined || row.version === undefined || row.version === version))
      return row;
    const definition = await findStored(base, canonical);
    unusable.delete(canonical);
    if (definition === undefined) return undefined;
    const made = await rowOf(definition, base, types);
    if (typeof made !== 'string') return made;
    if (unusable.size >= KEPT) unusable.clear();
    unusable.set(canonical, made);
    return undefined;
  }

  function profile(canonical: string): Soon<ProfileRow | undefined> {
    const known = answers.get(canonical);
    if (known !== undefined && now() - known.at < BELIEVED) return known.row;
    if (answers.size >= KEPT) answers.clear();
    const begun = writes;
    const found = look(canonical).then(
      (row) => {
        // What was found before a write may not hold after it.
        if (begun === writes) answers.set(canonical, { at: now(), row });
        else answers.delete(canonical);
        return row;
      },
      (error: unknown) => {
        answers.delete(canonical);
        throw error;
      },
    );
    answers.set(canonical, { at: now(), row: found });
    return found;
  }

  const store = Object.assign(Object.create(base) as Store, {
    async write(...args: Parameters<Store['write']>) {
      const changes = args[0].some(({ type }) => type === TYPE);
      try {
        return await base.write(...args);
      } finally {
        if (changes) {
          writes++;
          answers.clear();
        }
      }
    },
  });
  return { types, profile, whyUnusable: (canonical) => unusable.get(canonical), store };
}

/** A stored definition; of several versions the greatest of those that are in force. */
async function findStored(store: Pick<Store, 'find'>, canonical: string): Promise<StructureDefinition | undefined> {
  const [url = '', version] = canonical.split('|');
  const where = { param: 'url', any: [{ is: 'uri-equals' as const, value: url }] };
  const { versions } = await store.find({ type: TYPE, where, sort: [], count: SAME, total: 'none' });
  const all = versions.flatMap(({ json }) => (json === undefined ? [] : [readJson(json, STORED_DEPTH) as Resource]));
  const fitting = all.filter((each) => version === undefined || each['version'] === version);
  fitting.sort(
    (a, b) => distanceOf(a) - distanceOf(b) || versionOf(b).localeCompare(versionOf(a), 'en', { numeric: true }),
  );
  return fitting[0] as unknown as StructureDefinition | undefined;
}

/**
 * How far a definition is from being in force: a draft, what is retired, or an extension on trial takes nothing from an active one that is
 * not, however great its version is.
 */
function distanceOf(resource: Resource): number {
  const isOnTrial = resource['type'] === 'Extension' && isTrial(resource as unknown as StructureDefinition);
  return (resource['status'] === 'active' ? 0 : 2) + (isOnTrial ? 1 : 0);
}

function versionOf(resource: Resource): string {
  return typeof resource['version'] === 'string' ? resource['version'] : '';
}

/** Profiles from one to the type that it constrains. */
const LONGEST_LINE = 30;

/** What a profile and those that it is made of impose: a resource of the profile is one of these, too. */
async function imposedByLine(definition: StructureDefinition, store: Pick<Store, 'find'>): Promise<readonly string[]> {
  const imposed = new Set<string>();
  const seen = new Set<string>();
  let at: StructureDefinition | undefined = definition;
  while (at !== undefined && seen.size < LONGEST_LINE) {
    const own: StructureDefinition = at;
    for (const each of ofRightForm(own, () => imposedBy(own))) imposed.add(each);
    const { baseDefinition } = own;
    if (typeof baseDefinition !== 'string' || seen.has(baseDefinition)) break;
    seen.add(baseDefinition);
    const isShipped = shippedId(TYPE, unversioned(baseDefinition)) !== undefined;
    at = isShipped ? undefined : await findStored(store, baseDefinition);
  }
  return [...imposed];
}

/** A text: why no profile can be made of the definition. */
async function rowOf(
  definition: StructureDefinition,
  store: Pick<Store, 'find'>,
  types: FhirTypes,
): Promise<ProfileRow | string> {
  if (definition.derivation !== 'constraint') return 'it is no profile: its derivation is not "constraint"';
  try {
    const element =
      definition.snapshot?.element ?? (await snapshotOf(definition, (canonical) => findStored(store, canonical)));
    const row = ofRightForm(definition, () => profileRow({ ...definition, snapshot: { element } }, types));
    const imposes = await imposedByLine(definition, store);
    return imposes.length === 0 ? row : { ...row, imposes };
  } catch (error) {
    if (error instanceof ProfileFault) return error.message;
    throw error;
  }
}
