import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { gatherLines } from '../../../runtime/observe/gather-lines.js';

let written: string[];
let lines: ReturnType<typeof gatherLines>;
beforeEach(() => {
  vi.useFakeTimers();
  written = [];
  lines = gatherLines({ write: (text) => written.push(text) });
});
afterEach(() => vi.useRealTimers());

/** Does the work that waits for the end of the process, which has one listener for all of it. */
function endProcess(): void {
  const listener = process.listeners('exit').find(({ name }) => name === 'runAll') as () => void;
  listener();
}

const request = (id: string): string => `{"event":"request","requestId":"${id}"}\n`;

it('lines of requests are written together a moment later, in their order', () => {
  lines.write(request('a'));
  lines.write(request('b'));
  expect(written).toEqual([]);
  vi.advanceTimersByTime(10);
  expect(written).toEqual([request('a') + request('b')]);
  lines.write(request('c'));
  vi.advanceTimersByTime(10);
  expect(written).toEqual([request('a') + request('b'), request('c')]);
});

it('another line is written at once, behind those that wait', () => {
  lines.write(request('a'));
  lines.write('{"event":"note"}\n');
  expect(written).toEqual([`${request('a')}{"event":"note"}\n`]);
  vi.advanceTimersByTime(100);
  expect(written).toHaveLength(1);
});

it('lines that are many wait for no more, and the end of the process waits for none', () => {
  const long = request('x'.repeat(70_000));
  lines.write(long);
  expect(written).toEqual([long]);
  lines.write(request('last'));
  endProcess();
  vi.advanceTimersByTime(100);
  expect(written).toEqual([long, request('last')]);
});
