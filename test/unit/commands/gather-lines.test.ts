import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { gatherLines } from '../../../runtime/observe/gather-lines.js';

let written: string[];
let lines: ReturnType<typeof gatherLines>;
let onExit: (() => void) | undefined;
beforeEach(() => {
  vi.useFakeTimers();
  written = [];
  lines = gatherLines({ write: (text) => written.push(text) });
  onExit = process.listeners('exit').at(-1) as () => void;
});
afterEach(() => {
  process.off('exit', onExit!);
  vi.useRealTimers();
});

it('lines of a log are written together a moment later, in their order', () => {
  lines.write('a\n');
  lines.write('b\n');
  expect(written).toEqual([]);
  vi.advanceTimersByTime(10);
  expect(written).toEqual(['a\nb\n']);
  lines.write('c\n');
  vi.advanceTimersByTime(10);
  expect(written).toEqual(['a\nb\n', 'c\n']);
});

it('lines that are many wait for no more, and the end of the process waits for none', () => {
  const long = `${'x'.repeat(70_000)}\n`;
  lines.write(long);
  expect(written).toEqual([long]);
  lines.write('last\n');
  onExit!();
  vi.advanceTimersByTime(100);
  expect(written).toEqual([long, 'last\n']);
});
