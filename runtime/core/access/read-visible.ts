import { newId, versionNumber } from '../../fhir/id.js';
import type { StoredVersion } from '../../store/store.js';
import { isHiddenByIndex, isWhollyHiddenByIndex } from './index-visibility.js';
import type { Looking, VisibilityServices } from './security-context.js';
import { isVisible } from './visibility.js';

/** A resource that is to be read, and perhaps one of its versions. */
interface ReadKey {
  readonly type: string;
  readonly id: string;
  readonly version?: string;
}

/**
 * A version as a read of its own would find it: what the token may not read is as good as missing, and takes as long.
 *
 * @returns undefined also where there never was one
 */
export async function readVisible(
  { type, id, version }: ReadKey,
  looking: Looking,
  services: VisibilityServices,
): Promise<StoredVersion | undefined> {
  // Nothing is looked up of a type that the token gives nothing of.
  if (looking.principal.access.on(type, 'r') === 'nothing') return undefined;
  const hidden = version === undefined ? isHiddenByIndex : isWhollyHiddenByIndex;
  const looked = (await hidden({ type, id }, 'r', looking, services)) ? newId() : id;
  const stored = await readVersion({ type, id: looked, ...(version !== undefined && { version }) }, services);
  return stored !== undefined && (await isVisible(stored, 'r', looking, services)) ? stored : undefined;
}

function readVersion({ type, id, version }: ReadKey, { store }: Pick<VisibilityServices, 'store'>) {
  if (version === undefined) return store.read(type, id);
  const number = versionNumber(version);
  return number === undefined ? Promise.resolve(undefined) : store.readVersion(type, id, number);
}
