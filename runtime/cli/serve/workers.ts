import cluster, { type Worker } from 'node:cluster';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Config } from '../../config/settings.js';
import type { Log } from '../../observe/log.js';
import { GRACE, onEndSignals, SIGNALLED } from './serve-process.js';
import { startLine } from './start-line.js';
import { EXIT, type Terminal } from '../terminal.js';
import { endUnaccepted } from './unaccepted.js';
import type { FromWorker, ToWorker } from './worker-messages.js';

/** Before a worker is started again: after its first death, and at most, where it keeps dying. In milliseconds. */
const PAUSE = { first: 500, most: 30_000 };

/** Who has lived this long did not die of its start, in milliseconds. */
const HEALTHY = 60_000;

/** Starts in a row that may fail while no worker serves. */
const MAX_FAILURES = 5;

/** One process, as long as it lives. */
interface Life {
  readonly worker: Worker;
  readonly started: number;
  /** Where it serves; undefined: it died before. */
  readonly ready: Promise<string | undefined>;
  /** Its exit code, or the signal that killed it. */
  readonly ended: Promise<number | string>;
}

/**
 * `kiln serve --workers N`: processes that share one port, as long as this one lives. One that dies is started again.
 *
 * @returns the exit code: 1 where they did not start, or one of them had to cut requests off in the end
 */
export async function runWorkers(config: Config, terminal: Pick<Terminal, 'out' | 'err'>, log: Log): Promise<number> {
  const script = process.argv[1];
  cluster.setupPrimary({ ...(script === undefined ? {} : { exec: script }), args: ['worker'] });
  const stopping = new AbortController();
  const lives = new Set<Life>();
  const serving = new Set<Life>();
  const port = config.port === 0 ? await findFreePort(config.host) : config.port;
  let failures = 0;
  let exitCode: number = EXIT.done;

  function start(index: number): Life {
    const worker = cluster.fork();
    endUnaccepted(worker.process);
    const ended = new Promise<number | string>((resolve) => {
      worker.once('exit', (code: number | null, signal: string | null) => resolve(signal ?? code ?? EXIT.failed));
    });
    const ready = new Promise<string | undefined>((resolve) => {
      worker.on('message', (message: FromWorker) => {
        if (message.kind === 'listens') return brief(worker, index);
        serving.add(life);
        failures = 0;
        resolve(message.url);
      });
      void ended.then(() => resolve(undefined));
    });
    const life: Life = { worker, started: performance.now(), ready, ended };
    lives.add(life);
    void ended.then((how) => {
      lives.delete(life);
      if (!serving.delete(life)) failures++;
      // While others serve, the place of this one is filled again; in the end it counts.
      if (stopping.signal.aborted && how !== EXIT.done) exitCode = EXIT.failed;
    });
    return life;
  }

  function brief(worker: Worker, index: number): void {
    const metrics = config['metrics-port'];
    const own = metrics === undefined ? undefined : metrics + index;
    tell(worker, { kind: 'serve', config: { ...config, port, 'metrics-port': own } });
    if (stopping.signal.aborted) tell(worker, { kind: 'stop', signal: String(stopping.signal.reason) });
  }

  /** Lets all end, and ends those that do not. */
  function stop(reason: string): void {
    stopping.abort(reason);
    for (const { worker } of lives) tell(worker, { kind: 'stop', signal: reason });
    setTimeout(killAll, config['shutdown.delay'] + config['shutdown.drain'] + GRACE).unref();
  }

  function killAll(): void {
    for (const { worker } of lives) worker.process.kill('SIGKILL');
  }

  function giveUp(reason: string): void {
    terminal.err(`kiln: ${reason}`);
    exitCode = EXIT.failed;
    stop(reason);
  }

  /** Fills one place until all are to end. */
  async function keep(index: number, first: Life): Promise<void> {
    let pause = PAUSE.first;
    for (let life = first; ;) {
      const how = await life.ended;
      if (stopping.signal.aborted) return;
      if (failures >= MAX_FAILURES && serving.size === 0) return giveUp('workers keep dying before they serve');
      if (performance.now() - life.started > HEALTHY) pause = PAUSE.first;
      log.info(`worker ${life.worker.process.pid} ended with ${how}; another is started in ${pause} ms`);
      await sleep(pause, undefined, { signal: stopping.signal }).catch(() => {});
      if (stopping.signal.aborted) return;
      pause = Math.min(pause * 2, PAUSE.most);
      life = start(index);
    }
  }

  const forget = onEndSignals((signal) => {
    if (stopping.signal.aborted) {
      killAll();
      process.exit(SIGNALLED[signal]);
    }
    log.info(`${signal}: the workers may end`);
    stop(signal);
  });
  // The first alone: where it cannot start, none can, and it is reported once.
  const first = start(0);
  const all = [first];
  let url = await first.ready;
  if (url !== undefined && !stopping.signal.aborted) {
    for (let index = 1; index < config.workers; index++) all.push(start(index));
    const others = await Promise.all(all.map(({ ready }) => ready));
    if (others.includes(undefined)) url = undefined;
  }
  if (!stopping.signal.aborted) {
    if (url === undefined) giveUp('a worker ended before it served');
    else terminal.out(startLine(url, config));
  }
  await Promise.all(all.map((life, index) => keep(index, life)));
  await Promise.all([...lives].map(({ ended }) => ended));
  forget();
  return exitCode;
}

/** A port that all workers can listen on: were each to choose, those that are started again would get another. */
async function findFreePort(host: string): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** One that dies meanwhile is noticed by its end. */
function tell(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message, () => {});
}
