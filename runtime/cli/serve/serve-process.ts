import { setFlagsFromString } from 'node:v8';

import type { Config } from '../../config/settings.js';
import type { Log } from '../../observe/log.js';
import type { RunningServer } from '../../start-server.js';
import { EXIT, type Terminal } from '../terminal.js';
import { startWatchdog } from '../watchdog/start-thread.js';

/** Time that a process may take to end, in milliseconds, beyond the time that its requests have. */
export const GRACE = 20_000;

/** Surroundings of a server: its terminal, its log, and when it starts and ends. */
export interface Surroundings {
  readonly terminal: Pick<Terminal, 'err'>;
  readonly log: Log;
  /** Called when it serves. */
  onReady(server: RunningServer): void;
  /** Waits until it has to end. @returns the reason */
  waitForEnd(): Promise<string>;
}

/**
 * Serves in this process until it is stopped; then requests in progress may end. An error that is unexpected ends
 * the process at once: what state it left behind is unknown.
 *
 * @returns the exit code
 */
export async function serveProcess(config: Config, surroundings: Surroundings): Promise<number> {
  const { terminal, log } = surroundings;
  // The heap of a server is small, and V8 would let it grow by a tenth or 8 MB between two collections of all of it, buffers of the
  // database's driver included. Beside an export that meant three or four a second, each of which holds requests up for 20 ms.
  setFlagsFromString('--heap-growing-percent=100');
  let server: RunningServer;
  try {
    const { startServer } = await import('../../start-server.js');
    server = await startServer(config, log);
  } catch (error) {
    terminal.err(`kiln: ${explainStart(error, config)}`);
    return EXIT.failed;
  }
  endOnDefect(log);
  // Before the caller learns that it serves: a signal right after that found no handler, and cut off requests.
  const end = surroundings.waitForEnd();
  surroundings.onReady(server);
  const watchdog = startWatchdog();
  if (server.metricsUrl !== undefined) log.info(`metrics at ${server.metricsUrl}`);
  log.info(`${await end}: running requests may end, then the server does`);
  watchdog?.expectEnd(config['shutdown.delay'] + config['shutdown.drain'] + GRACE);
  const ended = await server.close();
  await watchdog?.stop();
  if (!ended) log.info('some requests took too long and were cut');
  return ended ? EXIT.done : EXIT.failed;
}

/** A server goes on where the reader of its output has gone, and says so once, where that can be read. */
export function surviveClosedOutput(terminal: Pick<Terminal, 'onClosed'>, log: Pick<Log, 'warn'>): void {
  let isTold = false;
  terminal.onClosed?.((error) => {
    if (!isTold) log.warn(`the output can no longer be written: ${error.message}`);
    isTold = true;
  });
}

/** How often a process that npm started looks whether npm is still there, in milliseconds. */
const PARENT_CHECK = 500;

/**
 * Calls for each signal that ends a program, also where it comes again. npm passes no SIGTERM on to what npx or a script of it
 * started: there the end of the parent counts as one, unless a signal came before, which may have ended the parent too.
 *
 * @returns ends that
 */
export function onEndSignals(call: (signal: 'SIGINT' | 'SIGTERM') => void): () => void {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.env['npm_command'] !== undefined && process.ppid !== parent) onSignal('SIGTERM');
  }, PARENT_CHECK).unref();
  const onSignal = (signal: 'SIGINT' | 'SIGTERM'): void => {
    clearInterval(watch);
    call(signal);
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return () => {
    clearInterval(watch);
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
  };
}

/** Exit codes of a program that a signal ended, as shells have them. */
export const SIGNALLED = { SIGINT: 130, SIGTERM: 143 } as const;

function endOnDefect(log: Log): void {
  const end = (error: unknown): void => {
    log.defect('none', error);
    process.exit(EXIT.failed);
  };
  process.on('uncaughtException', end);
  process.on('unhandledRejection', end);
}

interface Addresses {
  readonly port: number;
  readonly host: string;
  readonly 'metrics-port': number | undefined;
}

function explainStart(error: unknown, config: Addresses): string {
  const { code, syscall, message, port, address } = error as NodeJS.ErrnoException & {
    port?: number;
    address?: string;
  };
  const isMetrics = port !== config.port && port === config['metrics-port'];
  const where = `port ${port ?? config.port} of ${address ?? config.host}`;
  const option = isMetrics ? '--metrics-port' : '--port';
  if (code === 'EADDRINUSE') return `${where} is in use; choose another with ${option}`;
  // A store in a folder that may not be written to says EACCES as well. Workers bind, others listen.
  if (code === 'EACCES' && (syscall === 'listen' || syscall === 'bind')) {
    return `${where} may not be listened on; choose another with ${option}`;
  }
  return message;
}
