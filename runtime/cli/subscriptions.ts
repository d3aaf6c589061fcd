import { ConfigError } from '../config/config-error.js';
import { isMongoUrl } from '../config/mongo-url.js';
import { readConfig, type Flags } from '../config/read-config.js';
import { formatInstant } from '../fhir/instant.js';
import { readJson } from '../format/read-json.js';
import type { Resource } from '../fhir/resource.js';
import type { Services } from '../core/services.js';
import { EXIT, failed, printable, type Terminal } from './terminal.js';

/** Action of `kiln subscriptions`: lists all Subscriptions, or changes the state of one. */
export type SubscriptionsAction = 'list' | 'retry' | 'off';

/**
 * `kiln subscriptions`: lists the Subscriptions of a store with what was delivered, has one start anew with a handshake, or turns it off.
 * Beside servers that run, which do what follows from it.
 *
 * @param id of the Subscription; absent: all are listed
 * @returns the exit code
 * @throws ConfigError
 */
export async function runSubscriptions(
  action: SubscriptionsAction,
  id: string | undefined,
  flags: Flags,
  terminal: Terminal,
): Promise<number> {
  const { config } = readConfig(flags, terminal.env);
  if (config.store === 'sqlite::memory:') throw new ConfigError('a memory store has no Subscriptions of others');
  if (action !== 'list' && id === undefined) throw new ConfigError(`kiln subscriptions ${action} needs an id`);
  let close = (): Promise<void> => Promise.resolve();
  try {
    const { openCore, storeExists } = await import('../server.js');
    if (!isMongoUrl(config.store) && !storeExists(config.store))
      throw new Error(`there is no store at ${config.store}`);
    const core = await openCore(config, { existing: true });
    close = () => core.store.close();
    const { createServing } = await import('../http/create-services.js');
    const { services } = createServing(core, core.definitions.current)();
    if (action === 'list') return await list(services, terminal);
    return await change(id!, action === 'off' ? 'off' : 'requested', services, terminal);
  } catch (error) {
    return failed(error, terminal);
  } finally {
    await close();
  }
}

async function list({ store }: Services, terminal: Terminal): Promise<number> {
  const { SubscriptionRows } = await import('../subscriptions/engine/rows.js');
  const kept = new SubscriptionRows(store.maps);
  for (const [id, { value: row }] of await kept.rows()) {
    const current = await store.read('Subscription', id);
    const { status } = (current?.json === undefined ? {} : readJson(current.json)) as Partial<Resource>;
    const { done, errors, notBefore } = (await kept.sent(id, row)).value;
    const [error] = errors;
    const next = notBefore === undefined || error === undefined ? '' : `, next attempt ${formatInstant(notBefore)}`;
    const why = error === undefined ? '' : `: ${error.text}${next}`;
    const owner = row.owner.clientId === '' ? '' : `  ${printable(row.owner.clientId)}`;
    terminal.out(`${id}  ${String(status ?? 'gone')}  ${done} of ${row.number} events delivered${owner}${why}`);
  }
  return EXIT.done;
}

async function change(
  id: string,
  status: 'requested' | 'off',
  services: Services,
  terminal: Terminal,
): Promise<number> {
  const { writeStatus } = await import('../subscriptions/engine/write-status.js');
  const current = await services.store.read('Subscription', id);
  if (current?.json === undefined) {
    terminal.err(`kiln: there is no Subscription ${printable(id)}`);
    return EXIT.failed;
  }
  await writeStatus(id, current.version, status, services);
  terminal.out(`Subscription ${printable(id)} is ${status}`);
  return EXIT.done;
}
