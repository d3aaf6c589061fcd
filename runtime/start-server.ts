import { setTimeout as sleep } from 'node:timers/promises';
import { ownBasesOf } from './config/exposure.js';
import type { Config } from './config/settings.js';
import { hasSpans, startSpans } from './observe/trace/spans.js';
import { createExtractionThrottle } from './indexing/extraction-throttle.js';
import { collectWhenIdle } from './observe/collect-when-idle.js';
import type { Log } from './observe/log.js';
import { openCore, RESOURCE_TYPES } from './server.js';

/** A server that runs. */
export interface RunningServer {
  /** URL of the FHIR base. */
  readonly url: string;
  /** URL of the metrics; absent: they are off. */
  readonly metricsUrl?: string;
  /**
   * Ends it: not ready any more, then no new connections, then running requests end, then the store closes.
   *
   * @returns whether all requests ended within the time they have; what is left then is cut with the process
   */
  close(): Promise<boolean>;
}

/** Clients that keep their connection learn within this time that it ends, with their next answer, in milliseconds. */
const IDLE_FOR = 500;

/**
 * Starts a server.
 *
 * @throws Error where the store cannot be opened or an address not be listened on
 */
export async function startServer(config: Config, log: Log): Promise<RunningServer> {
  const { openTransport } = await import('./assembly/transport.js');
  const transport = await openTransport(config, log);
  await startSpans(RESOURCE_TYPES);
  const watched = { watchesCommands: config['metrics-port'] !== undefined || hasSpans() };
  const core = await openCore(config, { pace: createExtractionThrottle(), own: ownBasesOf(config), ...watched });
  const closers: (() => Promise<void>)[] = [() => core.store.close()];
  const closeAll = async (): Promise<void> => {
    for (const close of closers.reverse()) await close();
  };
  try {
    const { openApplication } = await import('./assembly/application.js');
    const application = await openApplication(config, core, transport, log);
    closers.push(() => application.close());
    const [{ listen }, { FHIR_PATH }] = await Promise.all([import('./http/listen.js'), import('./http/app.js')]);
    const listener = transport.front(application.listener);
    const upgrade = application.upgrade && transport.frontOf(application.upgrade);
    const server = await listen(listener, config.host, config.port, core.limits, transport.tls, upgrade);
    // Tokens say where they are good, which may depend on the port. No request comes before this is done.
    application.open({ root: config['base-url'] ?? server.url });
    const stopCollecting = collectWhenIdle();
    closers.push(() => Promise.resolve(stopCollecting()));
    const { metricsUrl } = application;
    return {
      url: server.url + FHIR_PATH,
      ...(metricsUrl === undefined ? {} : { metricsUrl }),
      async close() {
        application.drain();
        if (config['shutdown.delay'] > 0) await sleep(config['shutdown.delay']);
        const drain = config['shutdown.drain'];
        const ended = await server.close(drain, Math.min(IDLE_FOR, drain / 2));
        await closeAll();
        return ended;
      },
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}
