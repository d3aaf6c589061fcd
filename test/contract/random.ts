/** Random choices that a seed repeats. */
export interface Random {
  /** Below 1. */
  next(): number;
  /** A whole number below this. */
  below(limit: number): number;
  /** Whether something that happens so often happens now. */
  chance(probability: number): boolean;
  pick<T>(pool: readonly T[]): T;
  /** So many things, from 0 to a number below the limit. */
  some<T>(limit: number, make: () => T): T[];
}

/** Mulberry32, a generator of 32 bits. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), bits | 61)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    next,
    below,
    chance: (probability) => next() < probability,
    pick: (pool) => pool[below(pool.length)]!,
    some: (limit, make) => Array.from({ length: below(limit) }, make),
  };
}

/** The seed of this run: `KILN_TEST_SEED`, or one that was never used. Tests print it when they fail. */
export function seedOfRun(): number {
  return Number(process.env['KILN_TEST_SEED'] ?? Date.now() % 2 ** 31);
}
