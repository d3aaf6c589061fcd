import { readServeConfig, type Flags } from '../config.js';
import { createLog } from '../observe/log.js';
import { EXIT, type Terminal } from './terminal.js';

/**
 * `kiln serve`: runs until SIGINT or SIGTERM, then lets requests in progress end. A second signal ends it at once.
 *
 * @returns the exit code
 * @throws ConfigError
 */
export async function runServe(flags: Flags, terminal: Terminal): Promise<number> {
  const config = readServeConfig(flags, terminal.env);
  const { startServer } = await import('../server.js');
  let server;
  try {
    server = await startServer(config, createLog(process.stderr));
  } catch (error) {
    terminal.err(`kiln: ${explainStart(error, config.host, config.port)}`);
    return EXIT.failed;
  }
  terminal.out(`Kiln serves FHIR R5 at ${server.url}`);
  await new Promise<void>((resolve) => {
    process.once('SIGINT', resolve);
    process.once('SIGTERM', resolve);
  });
  await server.close();
  return EXIT.done;
}

function explainStart(error: unknown, host: string, port: number): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') return `port ${port} of ${host} is in use; choose another with --port`;
  if (code === 'EACCES') return `port ${port} of ${host} may not be listened on; choose another with --port`;
  return message;
}
