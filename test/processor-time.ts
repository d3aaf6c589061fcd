/** What the loop below takes of the processor that the bounds of tests were set on, in milliseconds. */
const USUAL = 10;

/** Milliseconds for which a measurement holds: what others do on the machine changes, and slows this process too. */
const FRESH = 2000;

const TEXT = JSON.stringify(
  Array.from({ length: 300 }, (_, i) => ({
    id: `p${i}`,
    name: [{ family: 'x'.repeat(i % 40), given: ['a', 'b'] }],
    n: i / 7,
  })),
);

let last = { at: -Infinity, slowness: 1 };

/**
 * Begins to count the processor time of this process, of all its threads. While others have the processor nothing is counted, so that a
 * bound tells what is quadratic, or does not end, from a busy machine; and of a slow processor, or one that is shared with a busy one, less
 * is counted.
 *
 * @returns how much it was since then, in milliseconds
 */
export function processorTime(): () => number {
  const before = slowness();
  const begun = process.cpuUsage();
  return () => {
    const spent = sum(process.cpuUsage(begun));
    return spent / Math.max(before, slowness());
  };
}

function sum({ user, system }: NodeJS.CpuUsage): number {
  return (user + system) / 1000;
}

/** How many times as long as usual a loop takes of the processor just now, at least once. */
export function slowness(): number {
  if (performance.now() - last.at < FRESH) return last.slowness;
  // The first is compiled meanwhile.
  const times = Array.from({ length: 6 }, loop).slice(1);
  const middle = times.sort((a, b) => a - b)[2]!;
  last = { at: performance.now(), slowness: Math.max(1, middle / USUAL) };
  return last.slowness;
}

/** Some work of the kind that most tests do. */
function loop(): number {
  const begun = process.cpuUsage();
  let length = 0;
  for (let i = 0; i < 20; i++) {
    for (const each of JSON.parse(TEXT) as object[]) length += JSON.stringify(each).length;
  }
  return sum(process.cpuUsage(begun)) + (length > 0 ? 0 : 1);
}
