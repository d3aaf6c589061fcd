import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GeneratorError } from './generator-error.js';
import { loadExpansions, pinOf } from './generate.js';
import { loadDefinitions, PACKAGES_FILE, type PackagePin } from './load/definitions.js';
import { applyErrata, omitDefinitions } from './load/errata.js';
import { findPackage, namedPackages } from './load/find-package.js';
import { digestPackage } from './load/package-digest.js';
import { loadPackage, type LoadedPackage } from './load/package.js';
import { projectRoot } from './project-root.js';
import { takeCensus } from './verify/census.js';
import { changedCounts, countLine } from './verify/verify.js';

/** Options of `acceptPackage`: the package that replaces the one of `definitions/packages.json`. */
export interface AcceptOptions {
  /** The folder of the definitions; absent: that of the checkout. */
  readonly definitions?: string;
  /** `NAME@VERSION`, or the path of a package tarball; absent: the package that is there. */
  readonly package?: string;
}

/**
 * Takes a package and its counts as those that the generator expects from now on: writes them into `definitions/packages.json`.
 *
 * @returns what changed, in words
 * @throws GeneratorError where corrections do not fit the package, or its name and version lead to other files
 */
export async function acceptPackage(options: AcceptOptions = {}): Promise<readonly string[]> {
  const root = projectRoot();
  const folder = options.definitions ?? join(root, 'definitions');
  const definitions = loadDefinitions(folder);
  const { errata, packages } = definitions;
  const pin = pinOf(packages, 'definitions');
  const published = loadPackage(await findPackage(options.package ?? `${pin.name}@${pin.version}`, root));
  applyErrata(published, errata);
  const expansions = await loadExpansions(published, definitions, root);
  const { name, version } = published;
  checkName(published, root);
  const expect = takeCensus(published, omitDefinitions(published, errata), expansions);
  const accepted: PackagePin = { ...pin, name, version, expect };
  const whole = { packages: packages.map((each) => (each === pin ? accepted : each)) };
  const file = join(folder, PACKAGES_FILE);
  const text = `${JSON.stringify(whole, null, 2)}\n`;
  if (readFileSync(file, 'utf8') !== text) writeFileSync(file, text);
  const [before, after] = [`${pin.name}@${pin.version}`, `${name}@${version}`];
  return [
    ...(before === after ? [] : [`package: ${before} -> ${after}`]),
    ...changedCounts(pin.expect, expect).map(countLine),
  ];
}

/** Checks that the name leads to the package: from now on the generator finds it by that. @throws GeneratorError */
function checkName({ name, version, integrity }: LoadedPackage, root: string): void {
  const [first] = namedPackages(name, version, root);
  if (first !== undefined && digestPackage(first.dir) === integrity) return;
  throw new GeneratorError(
    `--accept: ${name}@${version} ${first === undefined ? 'is not installed' : 'leads to other files'}; ` +
      'install the tarball first: npm install --ignore-scripts --save-dev FILE',
  );
}
