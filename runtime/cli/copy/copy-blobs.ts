import type { ListedBlob, Store } from '../../store/store.js';
import { persist } from './persist.js';

/** Blobs that are copied at once: small ones mostly wait for the disk. */
const AT_ONCE = 4;

/**
 * Makes the blobs of a target those of a source. Each is stored whole or not at all, so what is there under the same key
 * with the same size and hash need not be copied again.
 *
 * @param onStep called when one is done
 * @throws the signal's reason where it was stopped; Error naming a blob whose content is not what was stored once
 */
export async function copyBlobs(
  source: Pick<Store['blobs'], 'list' | 'get'>,
  target: Store['blobs'],
  signal: AbortSignal,
  onStep: () => void,
): Promise<void> {
  const wanted = await source.list('');
  const present = new Map((await target.list('')).map((blob) => [blob.key, blob]));
  const left = [...wanted].reverse();
  let hasFailed = false;

  async function work(): Promise<void> {
    for (let blob = left.pop(); blob !== undefined && !hasFailed; blob = left.pop()) {
      signal.throwIfAborted();
      const there = present.get(blob.key);
      if (there?.size !== blob.size || there.sha256 !== blob.sha256) {
        await persist(() => copyOne(source, target, blob), signal);
      }
      onStep();
    }
  }
  function fail(error: unknown): { readonly error: unknown } {
    hasFailed = true;
    return { error };
  }

  const working = Array.from({ length: AT_ONCE }, () => work().catch(fail));
  // No work may be in progress when the stores are closed.
  const failures = (await Promise.all(working)).filter((failure) => failure !== undefined);
  if (failures[0] !== undefined) throw failures[0].error;

  const keys = new Set(wanted.map(({ key }) => key));
  for (const key of present.keys()) if (!keys.has(key)) await target.delete(key);
}

async function copyOne(source: Pick<Store['blobs'], 'get'>, target: Store['blobs'], blob: ListedBlob): Promise<void> {
  const found = await source.get(blob.key);
  // Deleted since it was listed, by a server that still runs.
  if (found === undefined) return;
  const { size, sha256 } = await target.put(blob.key, found.stream, found.size);
  if (size === blob.size && sha256 === blob.sha256) return;
  await target.delete(blob.key);
  throw new Error(`the content ${blob.key} of the source has another hash than it had when it was stored`);
}
