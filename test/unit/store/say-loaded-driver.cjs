// For lazy-store.test.ts: how many files of the MongoDB driver a process has loaded when it ends, and how many once it is loaded.
'use strict';

const count = () => Object.keys(require.cache).filter((file) => /node_modules.mongodb./.test(file)).length;

if (require('node:worker_threads').isMainThread) {
  process.once('exit', () => {
    const before = count();
    require('mongodb');
    process._rawDebug(`loaded ${JSON.stringify([before, count()])}`);
  });
}
