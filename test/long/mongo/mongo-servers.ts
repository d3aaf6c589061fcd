import { findMongod } from '../../mongod/find-mongod.js';
import { withDatabase } from '../../mongod/connection-string.js';
import { startReplicaSet, type ReplicaSet } from '../../mongod/replica-set.js';
import { startKiln, type KilnProcess } from '../../service/kiln-process.js';
import { buildDist } from '../../workers/build-dist.js';
import type { Target } from '../write-load.js';

/** A server of `dist/`; its base is another one after each start. */
export interface Server extends Target {
  readonly kiln: KilnProcess;
  /** What its processes logged, errors only. */
  log(): string;
  /** Ends it without warning. */
  kill(): Promise<void>;
  /** Starts it again; resolves when it serves. */
  start(): Promise<void>;
}

/** A replica set that a test may take apart, and the URL of a store on it. */
export async function startOwnReplicaSet(size: number): Promise<ReplicaSet & { readonly store: string }> {
  await buildDist();
  const set = await startReplicaSet((await findMongod()).path, size);
  return { ...set, store: withDatabase(set.url, 'kiln') };
}

/** Starts a server on a store; `clockAhead` milliseconds are added to what its process takes for the time. */
export async function startServer(store: string, clockAhead = 0): Promise<Server> {
  const args = ['serve', '--port', '0', '--validation', 'structure', '--store', store, '--log-level', 'error'];
  const env = clockAhead === 0 ? {} : { NODE_OPTIONS: `--import ${shiftedClock(clockAhead)}` };
  const started: KilnProcess[] = [];
  const server: Server = {
    base: '',
    get kiln() {
      return started.at(-1)!;
    },
    log: () =>
      started
        .flatMap(({ output: { out, err } }) => `${out}\n${err}`.split('\n'))
        .filter((line) => line.startsWith('{'))
        .join('\n'),
    async start() {
      started.push(startKiln(args, 'dist', env));
      server.base = await server.kiln.started;
    },
    async kill() {
      server.kiln.child.kill('SIGKILL');
      await server.kiln.ended;
    },
  };
  await server.start();
  return server;
}

/** A module that shifts the clock of the process that loads it first, and of each of its threads. */
function shiftedClock(ms: number): string {
  const source = `
    const RealDate = Date;
    const now = () => RealDate.now() + ${ms};
    globalThis.Date = class Date extends RealDate {
      constructor(...args) {
        if (args.length === 0) super(now());
        else super(...args);
      }
      static now = now;
    };
    Object.defineProperty(performance, 'timeOrigin', { value: performance.timeOrigin + ${ms} });`;
  return `data:text/javascript,${encodeURIComponent(source)}`;
}
