import { liveOn } from '../subscriptions/check/live-on.js';
import { SUBSCRIPTION_TOPIC } from '../subscriptions/topic/compile-topic.js';
import type { Resource } from '../fhir/resource.js';
import { counted } from '../cli/terminal.js';
import type { OpenPackages } from './open-packages.js';
import type { PackageFault } from './package-fault.js';
import { keyOf, type Plan } from './plan.js';
import { readContents, type PackageContents } from './read-package.js';

/**
 * Names the topics that a plan deletes, or changes so that live Subscriptions are no longer valid. Whether endpoints may be called is not
 * asked: that is for the servers.
 */
export async function topicsInUse(
  { writes, deletions }: Plan,
  packages: readonly PackageContents[],
  { core, reader }: OpenPackages,
): Promise<readonly PackageFault[]> {
  const changed = writes.filter(({ type, from, before }) => type === SUBSCRIPTION_TOPIC && from && before);
  const deleted = deletions.filter(({ type }) => type === SUBSCRIPTION_TOPIC);
  const faults: PackageFault[] = [];
  if (changed.length + deleted.length === 0) return faults;
  const [{ createServing }, { compileTopic }, { countBroken }] = await Promise.all([
    import('../http/create-services.js'),
    import('../subscriptions/topic/compile-topic.js'),
    import('../subscriptions/check/create-subscription-checks.js'),
  ]);
  const { services } = createServing(core, core.definitions.current)();
  const ports = {
    hasWebsocket: false,
    endpointFault: () => undefined,
    liveOn: (id: string) => liveOn(core.store, id),
  };
  const look = async (where: string, key: { readonly type: string; readonly id: string }, topic?: Resource) => {
    const plan = topic && compileTopic({ ...topic, id: key.id }, services).plan;
    const count = await countBroken(key.id, plan, services, ports);
    if (count === 0) return;
    const fate = topic === undefined ? 'be gone' : 'change so that they are no longer valid';
    const what = `${counted(count, 'live Subscription')} of ${keyOf(key)}, which would ${fate}`;
    faults.push({ where, what, remedy: 'set their status to off first' });
  };
  for (const { name, source } of packages) {
    const own = new Map(
      changed.flatMap((each) => (each.from!.package === name ? [[each.from!.resource.path, each]] : [])),
    );
    if (own.size === 0) continue;
    for await (const { path, resource } of readContents(source, reader, (each) => own.has(each)))
      await look(`${source.label}/${path}`, own.get(path)!, resource);
  }
  for (const each of deleted) await look(each.url ?? keyOf(each), each);
  return faults;
}
