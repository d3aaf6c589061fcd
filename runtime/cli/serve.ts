import { readConfig, type Flags } from '../config/read-config.js';
import type { Log } from '../observe/log.js';
import { EXIT, type Terminal } from './terminal.js';

/**
 * `kiln serve`: runs until SIGINT or SIGTERM, then lets requests in progress end. A second signal ends it at once, and
 * so does an error that nobody has foreseen: what state it left behind is unknown.
 *
 * @returns the exit code
 * @throws ConfigError
 */
export async function runServe(flags: Flags, terminal: Terminal): Promise<number> {
  const { config } = readConfig(flags, terminal.env);
  const [{ startServer }, { createLog }] = await Promise.all([
    import('../server.js'),
    import('../observe/create-log.js'),
  ]);
  const log = createLog(process[config['log.stream']], config['log.level']);
  let server;
  try {
    server = await startServer(config, log);
  } catch (error) {
    terminal.err(`kiln: ${explainStart(error, config)}`);
    return EXIT.failed;
  }
  endOnDefect(log);
  terminal.out(`Kiln serves FHIR R5 at ${server.url}`);
  if (server.metricsUrl !== undefined) log.info(`metrics at ${server.metricsUrl}`);
  const signal = await nextSignal();
  log.info(`${signal}: running requests may end, then the server does`);
  void nextSignal().then((second) => process.exit(second === 'SIGINT' ? 130 : 143));
  const ended = await server.close();
  if (!ended) log.info('some requests took too long and were cut');
  return ended ? EXIT.done : EXIT.failed;
}

function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    const settle = (signal: NodeJS.Signals): void => {
      process.off('SIGINT', settle);
      process.off('SIGTERM', settle);
      resolve(signal);
    };
    process.on('SIGINT', settle);
    process.on('SIGTERM', settle);
  });
}

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
  // A store in a folder that may not be written to says EACCES as well.
  if (code === 'EACCES' && syscall === 'listen')
    return `${where} may not be listened on; choose another with ${option}`;
  return message;
}
