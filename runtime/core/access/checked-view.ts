import { isWithinReach } from '../../auth/access/visible.js';
import { neededOn } from '../../auth/access/needed-scopes.js';
import { constraintsMissed } from '../../auth/access/refuse.js';
import { OPEN_ACCESS } from '../../auth/scopes/principal.js';
import type { Interaction } from '../../contract/index.js';
import { FhirError } from '../../fhir/errors.js';
import { newId } from '../../fhir/id.js';
import { isObject, type Resource } from '../../fhir/resource.js';
import type { Put, StoredVersion } from '../../store/store.js';
import { BINARY } from '../binary/binary-content.js';
import type { Call } from '../call.js';
import { composePut } from '../write/compose-change.js';
import { isHiddenByIndex } from './index-visibility.js';
import type { Services } from '../services.js';
import { isJudged, isVisible } from './visibility.js';
import type { WriteView } from '../write/write-plan.js';

/** The letter that an interaction writes with, and the one by which what is there is seen. */
const LETTERS: Readonly<Partial<Record<Interaction, { readonly writes: string; readonly sees: string }>>> = {
  // What criteria find there is only shown.
  create: { writes: 'c', sees: 's' },
  update: { writes: 'u', sees: 'u' },
  'conditional-update': { writes: 'u', sees: 'u' },
  patch: { writes: 'u', sees: 'u' },
  'conditional-patch': { writes: 'u', sees: 'u' },
  delete: { writes: 'd', sees: 'd' },
  'conditional-delete': { writes: 'd', sees: 'd' },
};

/** Returns the letters of a call that writes: the one that it writes with, and the one by which it sees what is there. */
export function lettersOf({ interaction }: Call): { readonly writes: string; readonly sees: string } {
  const found = LETTERS[interaction];
  if (found === undefined) throw new Error(`no letter for ${interaction}`);
  return found;
}

/**
 * Limits a write's view to what the token may see. A read of a version outside of the token's constraints ends the write before
 * its preconditions are checked. So does a read of a resource that never existed, where the write needs one: preconditions
 * could tell the two apart.
 *
 * @throws FhirError `not-found`; `scope-missing` where the content could be written in no case
 */
export function checkedView(view: WriteView, call: Call, services: Services): WriteView {
  if (call.principal.access === OPEN_ACCESS) return view;
  const { sees } = lettersOf(call);
  const check = async (version: StoredVersion): Promise<void> => {
    // An entry before this one writes it: it is judged there.
    if (version.json === '' && (await isDraft(version, services))) return;
    if (await isVisible(version, sees, call, services)) return;
    throw await notFound(version.type, version.id, call, services);
  };
  return {
    async read(type, id) {
      if (view.isStore === true && (await isHiddenByIndex({ type, id }, sees, call, services))) {
        // Who asks for what never was waits for one more look.
        await view.read(type, newId());
        throw await notFound(type, id, call, services);
      }
      const version = await view.read(type, id);
      if (version !== undefined) await check(version);
      else if (needsPresence(call) && isJudged(type, call.principal.access.on(type, sees)))
        throw await notFound(type, id, call, services);
      return version;
    },
    async match(type, where, most) {
      const matches = await view.match(type, where, most);
      for (const version of matches.found) await check(version);
      return matches;
    },
    finds: (type, where) => view.finds(type, where),
  };
}

/** Whether a write makes nothing of an id that never was. */
function needsPresence({ interaction, conditions }: Call): boolean {
  return interaction === 'patch' || interaction === 'delete' || conditions.ifMatch !== undefined;
}

/** The answer where there is nothing, or nothing that may be seen. Content that lies outside is refused whatever is there. */
async function notFound(type: string, id: string, call: Call, services: Services): Promise<FhirError> {
  const { interaction, body } = call;
  if (interaction === 'update' || interaction === 'conditional-update') {
    const sent = type === BINARY ? withoutBytes(body) : (body as Resource);
    const put = await composePut(sent, id, undefined, services);
    if (put !== undefined) checkContent(put, call);
  }
  return new FhirError('not-found', `There is no ${type}/${id}`);
}

/** Bytes, which may come by themselves, are no part of what constraints ask. */
function withoutBytes(body: Call['body']): Resource {
  const { data: _data, ...rest } = isObject(body) ? body : {};
  return { ...rest, resourceType: BINARY };
}

async function isDraft({ type, id, version }: StoredVersion, { store }: Services): Promise<boolean> {
  return (await store.readVersion(type, id, version)) === undefined;
}

/** @throws FhirError `scope-missing` where what is to be written is not within what may be */
export function checkContent({ type, id, entries }: Put, call: Call): void {
  const { access, scope } = call.principal;
  const { writes } = lettersOf(call);
  const next = { id, lastUpdated: Date.now(), entries };
  if (!isWithinReach(access.on(type, writes), () => next))
    throw constraintsMissed('What is to be written', neededOn(type, writes), scope);
}
