/** The middle of numbers: what is slow once, because another program took the machine, does not change it. */
export function middleOf(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)]!;
}
