import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Memory of a process, in kilobytes of addresses. Node takes 1,620,000 of them before it does anything. */
const MEMORY = 2_400_000;

/** Sets the limit where the system has one, and becomes the process. */
const LIMITED = `ulimit -v ${MEMORY} 2>/dev/null; ulimit -c 0 2>/dev/null; exec "$0" "$@"`;

/**
 * Starts a process that runs one query. It has nothing of the environment of the server, and no files of it: what it knows is sent to it.
 */
export function startProcess(): ChildProcess {
  const entry = fileURLToPath(new URL('./sql-worker.js', import.meta.url));
  const command = [process.execPath, '--max-old-space-size=128', '--max-semi-space-size=4', entry];
  const [file = '', ...given] = process.platform === 'win32' ? command : ['/bin/sh', '-c', LIMITED, ...command];
  return spawn(file, given, { env: {}, cwd: '/', stdio: ['ignore', 'ignore', 'ignore', 'ipc'], windowsHide: true });
}
