/** What the loop below takes on the machine that the bounds of tests were set on, with nothing beside it, in milliseconds. */
const QUIET = 30;

const TEXT = JSON.stringify(
  Array.from({ length: 300 }, (_, i) => ({
    id: `p${i}`,
    name: [{ family: 'x'.repeat(i % 40), given: ['a', 'b'] }],
    n: i / 7,
  })),
);

/**
 * A bound on how long something takes: longer where this machine is slower just now, by whatever it is. It tells what is quadratic, or does
 * not end, from a busy machine.
 *
 * @param bound on a quiet machine, in any unit
 */
export function atMost(bound: number): number {
  // The first is compiled meanwhile.
  const times = Array.from({ length: 6 }, loop).slice(1);
  const middle = times.sort((a, b) => a - b)[2]!;
  return bound * Math.max(1, middle / QUIET);
}

/** Some work of the kind that most tests do. @returns how long it took, in milliseconds */
function loop(): number {
  const begun = performance.now();
  let length = 0;
  for (let i = 0; i < 60; i++) {
    for (const each of JSON.parse(TEXT) as object[]) length += JSON.stringify(each).length;
  }
  return performance.now() - begun + (length > 0 ? 0 : 1);
}
