import { vi } from 'vitest';

/** What the segmenter is given, a number of units for each time. */
export function given(work: () => void): number[] {
  const spy = vi.spyOn(Intl.Segmenter.prototype, 'segment');
  try {
    work();
    return spy.mock.calls.map(([text]) => text.length);
  } finally {
    spy.mockRestore();
  }
}

export const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0);
