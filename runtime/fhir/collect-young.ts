import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Bytes that may become garbage before they are collected. */
const MUCH = 8 * 1024 * 1024;

/**
 * For a stream of large buffers, each of which soon is garbage: V8 counts them, but collects when small objects fill its young
 * generation, or when 64 MB are held. A collection of the young generation takes a millisecond or so.
 *
 * @returns to be called with the bytes of each buffer that is no longer used
 */
export function createYoungCollector(): (bytes: number) => void {
  let held = 0;
  return (bytes) => {
    held += bytes;
    if (held < MUCH) return;
    held = 0;
    // Node offers this function only by a flag, which can be set at any time but is seen only by contexts made later.
    setFlagsFromString('--expose-gc');
    collect ??= runInNewContext('gc') as typeof collect;
    collect?.({ type: 'minor' });
  };
}

let collect: ((options: { readonly type: 'minor' }) => void) | undefined;
