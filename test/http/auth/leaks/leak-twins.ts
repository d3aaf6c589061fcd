import { createRandom } from '../../../contract/random.js';
import { contentMaker, makeDrafts, type Draft } from './leak-world.js';
import { STORED_OPEN } from './leak-parameters.js';
import { LAB } from '../support.js';

/** What a client may do, and what it sees by that: worked out by itself, without the guard. */
export interface Policy {
  readonly name: string;
  readonly scopes: string;
  /** Types of which it sees all, and those of which it sees what is open; nothing of others. */
  readonly all: readonly string[];
  readonly open?: readonly string[];
  /** Of these types it may search and not read: they show it no Binaries. */
  readonly unread?: readonly string[];
  /**
   * Writes are tried too. So what is hidden has to be there on both sides, since an update tells what is hidden from what is
   * not there; and no Binary has a context, since a client that creates the context comes to see the Binary.
   */
  readonly writes?: true;
}

const OPEN = '_language=en';
/** It gives no resources by itself. */
const ADMIN = '__admin.reindex __admin.expunge';
const SOME = [
  'Patient',
  'Encounter',
  'List',
  'Location',
  'Organization',
  'Provenance',
  'DocumentReference',
  'GraphDefinition',
];

/** Clients whose answers are looked at. */
export const POLICIES: readonly Policy[] = [
  { name: 'one type', scopes: `system/Patient.rs ${ADMIN}`, all: ['Patient'] },
  { name: 'the other type', scopes: `system/Observation.rs ${ADMIN}`, all: ['Observation'] },
  { name: 'a part of a type', scopes: `system/Observation.rs?${LAB} ${ADMIN}`, all: [], open: ['Observation'] },
  {
    name: 'parts of types',
    scopes: `system/Observation.rs?${LAB} ${SOME.map((type) => `system/${type}.rs?${OPEN}`).join(' ')} system/Binary.rs system/Subscription.rs ${ADMIN}`,
    all: ['Binary', 'Subscription'],
    open: ['Observation', ...SOME],
  },
  {
    name: 'parts of types by a parameter of the store',
    scopes: `${['Observation', ...SOME].map((type) => `system/${type}.rs?${STORED_OPEN}`).join(' ')} ${ADMIN}`,
    all: [],
    open: ['Observation', ...SOME],
  },
  {
    name: 'types and parts of types',
    scopes: `system/Patient.rs system/Encounter.rs system/Condition.rs system/Group.rs system/GraphDefinition.rs system/Subscription.rs system/Observation.rs?${LAB} ${ADMIN}`,
    all: ['Subscription', 'Patient', 'Encounter', 'Condition', 'Group', 'GraphDefinition'],
    open: ['Observation'],
  },
  {
    name: 'types by some letters',
    scopes:
      'system/Patient.r system/Observation.s system/Provenance.s system/List.r system/Binary.s system/GraphDefinition.r',
    all: ['Patient', 'Observation', 'Provenance', 'List', 'Binary', 'GraphDefinition'],
    unread: ['Observation', 'Provenance', 'Binary'],
  },
  {
    name: 'parts of types, to write',
    scopes: `system/Observation.cruds?${LAB} system/Patient.cruds?${OPEN} system/Encounter.ruds?${OPEN} system/Binary.cruds ${ADMIN}`,
    all: ['Binary'],
    open: ['Observation', 'Patient', 'Encounter'],
    writes: true,
  },
  {
    name: 'parts of types, to import others',
    scopes: `system/Basic.cruds system/Condition.cruds system/Binary.cruds system/Observation.rs?${LAB} system/Patient.rs?${OPEN} system/Encounter.rs?${OPEN} ${ADMIN}`,
    all: ['Basic', 'Condition', 'Binary'],
    open: ['Observation', 'Patient', 'Encounter'],
    writes: true,
  },
];

/**
 * Makes the resources of one of two twins. All policies that only read may be held against the same.
 *
 * @param writes as in a Policy
 */
export function makeWorld(seed: number, writes: Policy['writes']): readonly Draft[] {
  const random = createRandom(seed);
  return makeDrafts(random, contentMaker(random), writes === undefined);
}

/** Makes the resources of the other: they differ in nothing that the client of a policy sees, and in all that it does not see. */
export function makeTwin(policy: Policy, world: readonly Draft[], seed: number): readonly Draft[] {
  const make = contentMaker(createRandom(seed + 1), OTHER_WORDS);
  const seen = sightOf(policy, world);
  return world.flatMap((draft) => hideIn(draft, seen(draft), policy, make));
}

/** From where words are counted that no other resource has. */
const OTHER_WORDS = 100_000;

/** For a draft, which of its versions a client sees. */
function sightOf(
  { all, open = [], unread = [] }: Policy,
  drafts: readonly Draft[],
): (draft: Draft) => readonly boolean[] {
  const byName = new Map(drafts.map((draft) => [`${draft.type}/${draft.id}`, draft]));
  const seen = (draft: Draft): readonly boolean[] => {
    const { type, context } = draft;
    const isContextSeen = context === undefined || isSeenNow(byName.get(context), 4);
    return draft.versions.map(({ isOpen }) => isContextSeen && (all.includes(type) || (open.includes(type) && isOpen)));
  };
  // The context of a context decides on that, in a row of four Binaries at most.
  const isSeenNow = (draft: Draft | undefined, left: number): boolean => {
    const last = draft?.versions.at(-1);
    if (draft === undefined || last?.content === undefined || unread.includes(draft.type)) return false;
    if (!all.includes(draft.type) && !(open.includes(draft.type) && last.isOpen)) return false;
    if (draft.type === 'Binary' && left === 0) return false;
    return draft.context === undefined || isSeenNow(byName.get(draft.context), left - 1);
  };
  return seen;
}

/** The twin of a draft; none: there is nothing that the client sees. */
function hideIn(
  draft: Draft,
  seen: readonly boolean[],
  { writes }: Policy,
  make: ReturnType<typeof contentMaker>,
): readonly Draft[] {
  const { type, id, versions, context } = draft;
  const last = seen.lastIndexOf(true);
  if (last < 0 && writes === undefined) return [];
  // Of what is hidden at the end one version is left: how many there are nobody is to know.
  const kept = versions.slice(0, last + 2);
  const secured = context !== undefined && { securityContext: { reference: context } };
  return [
    {
      ...draft,
      versions: kept.map((version, n) => {
        if (seen[n] === true || version.content === undefined) return version;
        return { ...version, content: { ...make(type, version.isOpen), ...secured, id } };
      }),
    },
  ];
}
