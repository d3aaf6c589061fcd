import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

import { checkTransport } from '../../config/check-transport.js';
import { ConfigError } from '../../config/config-error.js';
import { checkExposure } from '../../config/exposure.js';
import { isMongoUrl } from '../../config/mongo-url.js';
import { readConfig, type Flags } from '../../config/read-config.js';
import type { Config } from '../../config/settings.js';
import { gatherLines } from '../../observe/gather-lines.js';
import { sqlitePathOf } from '../../store/sqlite-path.js';
import { onEndSignals, serveProcess, SIGNALLED, surviveClosedOutput } from './serve-process.js';
import { startLine } from './start-line.js';
import type { Terminal } from '../terminal.js';

/**
 * `kiln serve`: runs until SIGINT or SIGTERM, then lets requests in progress end. A second signal ends it at once.
 *
 * @returns the exit code
 * @throws ConfigError
 */
export async function runServe(flags: Flags, terminal: Terminal): Promise<number> {
  const { config } = readConfig(flags, terminal.env);
  checkExposure(config);
  checkTransport(config);
  checkWorkers(config);
  const { createLog } = await import('../../observe/create-log.js');
  const stream = gatherLines(process.stderr);
  surviveClosedOutput(terminal, createLog(stream, config['log.level']));
  if (config.workers > 1) {
    const { runWorkers } = await import('./workers.js');
    return runWorkers(config, terminal, createLog(stream, config['log.level'], { pid: process.pid }));
  }
  const newFile = fileToMake(config);
  return serveProcess(config, {
    terminal,
    log: createLog(stream, config['log.level']),
    onReady: ({ url }) => terminal.out(startLine(url, config, newFile)),
    waitForEnd: firstSignal,
  });
}

/** The file of a SQLite store that is not there yet; undefined: there is one, or it has none that stays. */
function fileToMake({ store }: Config): string | undefined {
  if (isMongoUrl(store) || store === 'sqlite::memory:') return undefined;
  const file = resolve(sqlitePathOf(store));
  return existsSync(file) ? undefined : file;
}

/** @throws ConfigError where several processes cannot be */
function checkWorkers({ workers, store, port, 'metrics-port': metrics }: Config): void {
  if (workers === 1) return;
  if (!isMongoUrl(store)) {
    throw new ConfigError(`--workers ${workers}: on SQLite one process serves, with threads; it has to be 1`);
  }
  if (metrics === undefined) return;
  if (metrics === 0) throw new ConfigError('--metrics-port 0: with workers it has to be a port, that of the first');
  const last = metrics + workers - 1;
  if (last > 65_535 || (port >= metrics && port <= last)) {
    throw new ConfigError(
      `--metrics-port ${metrics}: ${workers} workers have theirs at ports from ${metrics} to ${last}; ` +
        `none may be above 65535, nor be --port ${port}`,
    );
  }
}

function firstSignal(): Promise<string> {
  return new Promise((resolve) => {
    let hasCome = false;
    onEndSignals((signal) => {
      if (hasCome) process.exit(SIGNALLED[signal]);
      hasCome = true;
      resolve(signal);
    });
  });
}
