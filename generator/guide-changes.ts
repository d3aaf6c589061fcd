import { changeOf, describeChanges, MOST_LINES } from '../runtime/packages/changes/describe-changes.js';
import type { Resource } from '../runtime/fhir/resource.js';
import type { GuidePin } from './load/definitions.js';
import { pinnedSource, readDefinitions } from './load/guide-sources.js';
import type { LoadedGuide } from './load/guides.js';

/**
 * Describes for people what other versions of guides change, at most 40 lines: each resource that is added, removed or changed.
 *
 * @param before the guides that were pinned; of one whose file is not there any more only the version is compared
 */
export async function describeGuideChanges(
  before: readonly GuidePin[],
  guides: readonly LoadedGuide[],
  root: string,
  fhirVersion: string,
): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const pin of before)
    if (!guides.some((guide) => guide.pin.name === pin.name)) lines.push(`${pin.name}@${pin.version} is gone`);
  for (const { pin } of guides) {
    const old = before.find(({ name }) => name === pin.name);
    const needed = pin.role === 'dependency' ? ' (needed by others)' : '';
    if (old === undefined) lines.push(`${pin.name}@${pin.version}${needed} is new`);
    if (old === undefined || old.sha256 === pin.sha256) continue;
    lines.push(`${pin.name}: ${old.version} → ${pin.version}`);
    const was = await readAll(old, root, fhirVersion).catch(() => undefined);
    if (was === undefined)
      lines.push(`  what ${old.version} had is not known: ${old.file ?? 'the package'} is not as it was`);
    else lines.push(...compare(was, await readAll(pin, root, fhirVersion)));
  }
  const more = lines.length - MOST_LINES;
  return more > 0 ? [...lines.slice(0, MOST_LINES - 1), `… and ${String(more + 1)} more lines`] : lines;
}

function compare(before: ReadonlyMap<string, Resource>, after: ReadonlyMap<string, Resource>): string[] {
  const changed = [...after].flatMap(([key, resource]) => {
    const was = before.get(key);
    const change = was === undefined ? undefined : changeOf(key, was, resource);
    return change === undefined || change.lines.length === 0 ? [] : [change];
  });
  return [
    ...[...after.keys()].filter((key) => !before.has(key)).map((key) => `+ ${key}`),
    ...[...before.keys()].filter((key) => !after.has(key)).map((key) => `- ${key}`),
    ...describeChanges(changed),
  ];
}

async function readAll(pin: GuidePin, root: string, fhirVersion: string): Promise<ReadonlyMap<string, Resource>> {
  const all = await readDefinitions(await pinnedSource(pin, root, fhirVersion));
  const byKey = all.map((each): [string, Resource] => [`${each.resourceType}/${String(each['id'])}`, each]);
  return new Map(byKey.sort(([a], [b]) => (a < b ? -1 : 1)));
}
