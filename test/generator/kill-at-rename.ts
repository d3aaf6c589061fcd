/** Loaded first into a child process: kills it just before the rename of this number. */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const last = Number(process.env['KILN_TEST_KILL_AT_RENAME']);
const rename = fs.renameSync;
let count = 0;
fs.renameSync = (from, to): void => {
  if (++count === last) process.kill(process.pid, 'SIGKILL');
  rename(from, to);
};
syncBuiltinESMExports();
