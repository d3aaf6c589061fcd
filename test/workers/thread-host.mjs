// A thread that runs one bundled entry after another, each on a port of its own instead of that of the thread. What an entry keeps in its
// modules begins anew each time; what is saved is the start of the thread, and the compiler. See pooled-thread.ts.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Script } from 'node:vm';
import * as threads from 'node:worker_threads';

/** Compiled entries, by file: each a function that runs it. */
const compiled = new Map();

threads.parentPort.on('message', ({ file, port, workerData }) => {
  let entry = compiled.get(file);
  if (entry === undefined) {
    const text = `(function (require, exports) {${readFileSync(file, 'utf8')}\n})`;
    entry = new Script(text, { filename: file }).runInThisContext();
    compiled.set(file, entry);
  }
  const require = createRequire(file);
  port.on('close', () => threads.parentPort.postMessage('left'));
  const own = { ...threads, parentPort: port, workerData };
  entry((name) => (name === 'node:worker_threads' ? own : require(name)), {});
});
