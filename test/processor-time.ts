/** What the loop below takes of the processor that the bounds of tests were set on, in milliseconds. */
const USUAL = 30;

const TEXT = JSON.stringify(
  Array.from({ length: 300 }, (_, i) => ({
    id: `p${i}`,
    name: [{ family: 'x'.repeat(i % 40), given: ['a', 'b'] }],
    n: i / 7,
  })),
);

let slowness: number | undefined;

/**
 * Begins to count the processor time of this process, of all its threads. While others have the processor nothing is counted, so that a
 * bound tells what is quadratic, or does not end, from a busy machine; and of a slow processor less is counted.
 *
 * @returns how much it was since then, in milliseconds
 */
export function processorTime(): () => number {
  slowness ??= Math.max(1, measure() / USUAL);
  const begun = process.cpuUsage();
  return () => sum(process.cpuUsage(begun)) / slowness!;
}

function sum({ user, system }: NodeJS.CpuUsage): number {
  return (user + system) / 1000;
}

/** How long the loop takes, the median of five, in milliseconds. */
function measure(): number {
  // The first is compiled meanwhile.
  const times = Array.from({ length: 6 }, loop).slice(1);
  return times.sort((a, b) => a - b)[2]!;
}

/** Some work of the kind that most tests do. */
function loop(): number {
  const begun = process.cpuUsage();
  let length = 0;
  for (let i = 0; i < 60; i++) {
    for (const each of JSON.parse(TEXT) as object[]) length += JSON.stringify(each).length;
  }
  return sum(process.cpuUsage(begun)) + (length > 0 ? 0 : 1);
}
