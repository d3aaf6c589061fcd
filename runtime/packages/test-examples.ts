import { OPERATOR } from '../auth/scopes/principal.js';
import type { Flags } from '../config/read-config.js';
import { validateWritten } from '../core/write/validate-written.js';
import { FhirError } from '../fhir/errors.js';
import { isObject, type JsonValue, type Resource } from '../fhir/resource.js';
import { describeFaults } from '../cli/load/faults.js';
import { counted, EXIT, printable, type Terminal } from '../cli/terminal.js';
import { refusedOrFailed, type PackageAddFlags } from './add.js';
import { install, prepareAddition } from './install.js';
import { openPackages, type OpenPackages } from './open-packages.js';
import { readRequest } from './read-request.js';
import { isExamplePath, isResourcePath, readContents } from './read-package.js';

/** What came of one example. */
interface Judged {
  readonly key: string;
  readonly isListed: boolean;
  /** Why it would be refused; undefined: it would not be. */
  readonly refusal: string | undefined;
}

/**
 * `kiln package test FILE`: installs a package in memory, and validates its examples as writes are. Those that its ImplementationGuide
 * lists have to be right, others to be refused; where it lists none, all have to be right.
 *
 * @returns the exit code: 1 where one is judged otherwise
 * @throws ConfigError
 */
export async function runPackageTest(
  file: string,
  options: Pick<PackageAddFlags, 'from' | 'use'>,
  flags: Flags,
  terminal: Terminal,
): Promise<number> {
  let close = (): Promise<void> => Promise.resolve();
  try {
    const request = await readRequest([file], options);
    const open = await openPackages(flags, terminal, 'trial');
    close = () => open.core.store.close();
    const addition = await prepareAddition(request, open);
    const { signal } = new AbortController();
    const storeExamples = (): Promise<void> => Promise.resolve();
    await install({ ...request, hasExamples: false }, addition, open, { signal, storeExamples });
    const judged = await judgeExamples(request.direct[0]!, open);
    const listsAny = judged.some(({ isListed }) => isListed);
    let wrong = 0;
    for (const { key, isListed, refusal } of judged) {
      const isRight = !listsAny || isListed ? refusal === undefined : refusal !== undefined;
      if (!isRight) wrong++;
      const verdict = refusal === undefined ? 'passes' : `refused: ${refusal}`;
      const expected = isRight ? 'as expected' : isListed || !listsAny ? 'but should pass' : 'but should be refused';
      terminal.out(printable(`${isRight ? 'ok  ' : 'FAIL'} ${key}: ${verdict} (${expected})`));
    }
    terminal.out(`${counted(judged.length, 'example')}, ${judged.length - wrong} as expected, ${wrong} not`);
    return wrong === 0 ? EXIT.done : EXIT.failed;
  } catch (error) {
    return refusedOrFailed(error, terminal);
  } finally {
    await close();
  }
}

async function judgeExamples(
  source: Parameters<typeof readContents>[0],
  { core, reader }: OpenPackages,
): Promise<readonly Judged[]> {
  const { validateByProfiles } = await import('../operations/validation/validate-by-profiles.js');
  const services = { ...core, validateByProfiles, largeTexts: undefined };
  const listed = new Set<string>();
  const found: { readonly key: string; readonly refusal: string | undefined }[] = [];
  const wanted = (path: string): boolean => isExamplePath(path) || isResourcePath(path);
  for await (const { path, resource } of readContents(source, reader, wanted)) {
    if (!isExamplePath(path)) {
      if (resource.resourceType === 'ImplementationGuide') for (const key of examplesOf(resource)) listed.add(key);
      continue;
    }
    const key = `${resource.resourceType}/${String(resource['id'])}`;
    found.push({ key, refusal: await refusalOf(() => validateWritten(resource, { principal: OPERATOR }, services)) });
  }
  found.sort((a, b) => (a.key < b.key ? -1 : 1));
  return found.map((each) => ({ ...each, isListed: listed.has(each.key) }));
}

async function refusalOf(validate: () => Promise<void>): Promise<string | undefined> {
  try {
    await validate();
    return undefined;
  } catch (error) {
    if (error instanceof FhirError) return describeFaults(error.issues);
    throw error;
  }
}

/** https://hl7.org/fhir/R5/implementationguide-definitions.html#ImplementationGuide.definition.resource.isExample */
function* examplesOf({ definition }: Resource): Generator<string> {
  const resources: JsonValue | undefined = isObject(definition) ? definition['resource'] : undefined;
  for (const each of Array.isArray(resources) ? resources : []) {
    const reference = isObject(each) && each['isExample'] === true ? each['reference'] : undefined;
    if (isObject(reference) && typeof reference['reference'] === 'string') yield reference['reference'];
  }
}
