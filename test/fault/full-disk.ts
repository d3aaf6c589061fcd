import { spawnSync } from 'node:child_process';

/** Mounts a small file system on a folder; undefined, with a warning, where this user may not. */
export function mountSmallDisk(
  folder: string,
  megabytes: number,
): { remount(how: 'ro' | 'rw'): void; unmount(): void } | undefined {
  const run = (...args: string[]) => spawnSync('mount', args, { encoding: 'utf8' });
  const mounted = run('-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder);
  if (mounted.status !== 0) {
    console.warn(
      `NO REAL DISK: mounting a small file system was refused (${mounted.stderr ?? mounted.error}); a limit of SQLite stands in`,
    );
    return undefined;
  }
  return {
    remount: (how) => {
      const { status, stderr } = run('-o', `remount,${how},size=${megabytes}m`, folder);
      if (status !== 0) throw new Error(stderr);
    },
    unmount: () => void spawnSync('umount', ['-l', folder]),
  };
}
