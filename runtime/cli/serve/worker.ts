import cluster from 'node:cluster';

import { ConfigError } from '../../config/config-error.js';
import type { Config } from '../../config/settings.js';
import { createLog } from '../../observe/create-log.js';
import { gatherLines } from '../../observe/gather-lines.js';
import { onEndSignals, serveProcess, surviveClosedOutput } from './serve-process.js';
import type { Terminal } from '../terminal.js';
import type { FromWorker, ToWorker } from './worker-messages.js';

/**
 * One of the processes of `kiln serve --workers N`, which starts it and tells it what to do. A signal lets it end as that
 * of its parent does, once: ctrl-C reaches both.
 *
 * @returns the exit code
 * @throws ConfigError where another program started it
 */
export async function runWorker(terminal: Terminal): Promise<number> {
  if (!cluster.isWorker) throw new ConfigError('worker is what kiln serve --workers starts; call that');
  let serve: (config: Config) => void = () => {};
  let stop: (signal: string) => void = () => {};
  const told = new Promise<Config>((resolve) => (serve = resolve));
  const stopped = new Promise<string>((resolve) => (stop = resolve));
  onEndSignals(stop);
  process.on('message', (message: ToWorker) => {
    if (message.kind === 'serve') serve(message.config);
    else stop(message.signal);
  });
  tell({ kind: 'listens' });
  const config = await told;
  const log = createLog(gatherLines(process.stderr), config['log.level'], { pid: process.pid });
  surviveClosedOutput(terminal, log);
  try {
    return await serveProcess(config, {
      terminal,
      log,
      onReady: ({ url }) => tell({ kind: 'serves', url }),
      waitForEnd: () => stopped,
    });
  } finally {
    // The channel would keep the process.
    process.channel?.unref();
  }
}

function tell(message: FromWorker): void {
  process.send?.(message);
}
