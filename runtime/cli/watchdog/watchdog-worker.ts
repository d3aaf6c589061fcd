// Entry of the thread that ends a process whose main thread is blocked. It counts its own seconds: while the whole machine sleeps, these do not go on.
import { write } from 'node:fs';
import { workerData } from 'node:worker_threads';

import { formatInstant } from '../../fhir/instant.js';
import { PLACES, type WatchdogSettings } from './start-thread.js';

const { shared, patience } = workerData as WatchdogSettings;

/** Descriptor of the log: a thread has no `process.stderr.fd`. */
const STDERR = 2;

/** How long the last line of the log may take, in milliseconds: the reader of the log may be blocked as well. */
const LAST_LINE = 1000;

let beat = -1;
let standing = 0;
let ending = 0;

setInterval(() => {
  const now = Atomics.load(shared, PLACES.beat);
  standing = now === beat ? standing + 1 : 0;
  beat = now;
  const end = Atomics.load(shared, PLACES.end);
  if (end > 0) ending++;
  if (standing >= patience) endProcess(`the main thread stood still for ${patience} s; the process is ended`);
  else if (end > 0 && ending > end) endProcess(`the process did not end within ${end} s; it is ended`);
}, 1000);

function endProcess(message: string): void {
  const line = JSON.stringify({ level: 'error', time: formatInstant(Date.now()), event: 'note', message });
  // No other signal would reach it: the main thread takes those that can be caught.
  const kill = (): void => void process.kill(process.pid, 'SIGKILL');
  write(STDERR, `${line}\n`, kill);
  setTimeout(kill, LAST_LINE);
}
