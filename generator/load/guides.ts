import { PackageRefused } from '../../runtime/packages/package-fault.js';
import { planPackages } from '../../runtime/packages/plan.js';
import { readPackage, type PackageReader } from '../../runtime/packages/read-package.js';
import { readRequest } from '../../runtime/packages/read-request.js';
import { resolvePackages } from '../../runtime/packages/resolve.js';
import { GeneratorError } from '../generator-error.js';
import type { GuidePin, PackagePin } from './definitions.js';
import type { OperationDefinition, SearchParameter, StructureDefinition } from './fhir-json.js';
import {
  archiveSource,
  GUIDE_LIMITS,
  installedSources,
  pinnedSource,
  readDefinitions,
  type GuideSource,
} from './guide-sources.js';

/** Guides to generate with, beside those that are pinned. */
export interface GuideRequest {
  readonly files: readonly string[];
  /** Folder with archives of what they need; absent: the folder of each file. */
  readonly from?: string;
  /** `NAME@VERSION`: taken whatever is asked for. */
  readonly use?: readonly string[];
}

/** A package of a guide: its definitions of which anything ends up in the tables. */
export interface LoadedGuide {
  /** Pin in `definitions/packages.json`. */
  readonly pin: GuidePin;
  /** Canonical with version of its ImplementationGuide; undefined: it has none. */
  readonly guide: string | undefined;
  readonly structures: readonly StructureDefinition[];
  readonly searchParameters: readonly SearchParameter[];
  readonly operations: readonly OperationDefinition[];
}

/** Facts about the core package that guides are read with. */
export type GuideReader = Omit<PackageReader, 'limits' | 'nesting' | 'checkStorable' | 'rules'>;

/** Definitions of which nothing ends up in the tables: the build packs them. They are most of the bytes. */
const TERMINOLOGY = /^package\/(?:CodeSystem|ConceptMap|NamingSystem|ValueSet)-/;

/**
 * Loads guides and all that they need, from files and `node_modules`, never from a network: those that are pinned, and in front of them
 * those that are asked for, which are checked as `kiln package add` checks them.
 *
 * @throws GeneratorError with all that is wrong
 */
export async function loadGuides(
  pins: readonly PackagePin[],
  request: GuideRequest | undefined,
  reader: GuideReader,
  root: string,
): Promise<readonly LoadedGuide[]> {
  try {
    const pinned = pins.filter((pin): pin is GuidePin => pin.role === 'guide' || pin.role === 'dependency');
    if (request === undefined) {
      const sources = await Promise.all(pinned.map((pin) => pinnedSource(pin, root, reader.fhirVersion)));
      return await Promise.all(sources.map((source, i) => loadGuide(source, pinned[i]!)));
    }
    return await resolveGuides(pinned, request, reader, root);
  } catch (error) {
    if (error instanceof PackageRefused)
      throw new GeneratorError('these guides are not taken', error.message.split('\n'));
    if (error instanceof Error && error.name === 'ConfigError') throw new GeneratorError(error.message);
    throw error;
  }
}

async function resolveGuides(
  pinned: readonly GuidePin[],
  request: GuideRequest,
  reader: GuideReader,
  root: string,
): Promise<LoadedGuide[]> {
  const { fhirVersion } = reader;
  const { folder, uses } = await readRequest(request.files, request);
  const checks: PackageReader = {
    ...{ ...reader, limits: GUIDE_LIMITS, nesting: GUIDE_LIMITS.nesting },
    ...{ rules: () => [], checkStorable: () => Promise.resolve() },
  };
  const direct = await Promise.all(request.files.map((file) => archiveSource(file, root, fhirVersion)));
  const isReplaced = ({ name }: GuidePin): boolean => direct.some((each) => each.name === name);
  const kept = pinned.filter((pin) => !isReplaced(pin));
  const others = await Promise.all(kept.map((pin) => pinnedSource(pin, root, fhirVersion)));
  const archives = folder.map(({ label }) => archiveSource(label, root, fhirVersion).catch(() => []));
  const near = [...(await Promise.all(archives)).flat(), ...(await installedSources(root, fhirVersion))];
  const candidate = (each: GuideSource) => ({ ...each, label: each.source.label });
  const { chosen, faults } = resolvePackages({
    ...{ uses, allowsDowngrade: true, fhirVersion },
    direct: direct.map((each) => ({ ...candidate(each), origin: 'direct' })),
    folder: near.map((each) => ({ ...candidate(each), origin: 'folder' })),
    stored: others.map((each, i) => ({ ...candidate(each), origin: 'store', overridden: kept[i]!.overridden ?? {} })),
  });
  const contents = await Promise.all(direct.map(({ source }) => readPackage(source, checks)));
  const plan = planPackages({ packages: contents, removed: [], rows: [], stored: [], replaces: false });
  const wrong = [...faults, ...plan.faults];
  if (wrong.length > 0) throw new PackageRefused(wrong);

  const roots = [
    ...direct.map(({ name }) => name),
    ...kept.filter(({ role }) => role === 'guide').map(({ name }) => name),
  ];
  const needed = new Set(roots);
  for (const name of needed)
    for (const each of Object.keys(chosen.get(name)?.dependencies ?? {})) if (chosen.has(each)) needed.add(each);
  const all = [...direct, ...others, ...near];
  // What others need comes first: of the same canonical the last is found.
  const order = (name: string): string => `${roots.includes(name) ? 1 : 0} ${name}`;
  return Promise.all(
    [...needed]
      .sort((a, b) => (order(a) < order(b) ? -1 : 1))
      .map((name) => {
        const choice = chosen.get(name)!;
        const source = all.find((each) => each.name === name && each.source.label === choice.candidate.label)!;
        const counts = contents.find((each) => each.name === name)?.resources;
        const before = kept.find((pin) => pin.name === name);
        return loadGuide(source, {
          ...{ name, version: source.version, role: roots.includes(name) ? 'guide' : 'dependency' },
          ...(source.file !== undefined && { file: source.file }),
          ...{ sha256: source.sha256(), expect: counts === undefined ? (before?.expect ?? {}) : countsOf(counts) },
          ...(Object.keys(choice.overridden).length > 0 && { overridden: choice.overridden }),
        });
      }),
  );
}

function countsOf(resources: readonly { readonly type: string }[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { type } of resources) counts[type] = (counts[type] ?? 0) + 1;
  return Object.fromEntries(Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1)));
}

async function loadGuide(source: GuideSource, pin: GuidePin): Promise<LoadedGuide> {
  const found = await readDefinitions(source, (path) => !TERMINOLOGY.test(path));
  const ofType = <T>(type: string): T[] =>
    found.filter(({ resourceType }) => resourceType === type).map((each) => each as unknown as T);
  const guides = ofType<Record<string, unknown>>('ImplementationGuide');
  const own = guides.find(({ packageId }) => packageId === pin.name) ?? guides[0];
  return {
    pin,
    guide: own === undefined ? undefined : [own['url'], own['version'] ?? []].flat().join('|'),
    // Logical models are no types of resources.
    structures: ofType<StructureDefinition>('StructureDefinition').filter(
      ({ derivation }) => derivation === 'constraint',
    ),
    searchParameters: ofType<SearchParameter>('SearchParameter'),
    operations: ofType<OperationDefinition>('OperationDefinition'),
  };
}
