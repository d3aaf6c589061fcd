import { monitorEventLoopDelay } from 'node:perf_hooks';

import { tables } from '../../../generated/tables.js';
import { createApp } from '../../../runtime/http/app.js';
import { listen } from '../../../runtime/http/listen.js';
import { openBodyWorkers } from '../../../runtime/body-workers/body-workers.js';
import { startBodyWorker } from '../../../runtime/body-workers/start-thread.js';
import { DEFAULT_LIMITS } from '../../../runtime/fhir/limits.js';
import { createExtractor } from '../../../runtime/search/extract.js';
import { openSqliteStore } from '../../../runtime/store/sqlite/sqlite-store.js';
import { createValidator } from '../../../runtime/validate/create-validator.js';

/**
 * A server in a process of its own (`process.send`). Sends its port; and for each message how long its event loop stood
 * still at most since the one before, in milliseconds, and its memory, in megabytes, garbage aside.
 */
const limits = DEFAULT_LIMITS;
const large = openBodyWorkers(() => startBodyWorker({ zone: 'UTC', validation: 'full', limits }, 1024), {
  body: limits.body,
});
const store = openSqliteStore('sqlite::memory:');
const app = createApp({ tables, store, extract: createExtractor(tables), validate: createValidator(tables), large });
const server = await listen(app, '127.0.0.1', 0);
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();

process.on('message', () => {
  const longest = delay.max / 1e6;
  global.gc?.();
  delay.reset();
  process.send?.({ longest, memory: process.memoryUsage().rss / 2 ** 20 });
});
process.on('disconnect', () => {
  void server.close(0).then(() => Promise.all([large.close(), store.close()]));
});
process.send?.(server.port);
