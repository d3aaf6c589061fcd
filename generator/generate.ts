import { join, resolve } from 'node:path';
import type { Artefact } from './emit/artefact.js';
import { emitManifest } from './emit/manifest.js';
import { emitPages } from './emit/pages.js';
import { emitProfiles } from './emit/profiles.js';
import { emitRoutes } from './emit/routes.js';
import { emitTables } from './emit/tables.js';
import { emitTypeTables } from './emit/type-tables.js';
import { emitTypes } from './emit/types.js';
import { emitViews } from './emit/view-types.js';
import { GeneratorError } from './generator-error.js';
import { loadDefinitions, type Definitions, type PackagePin } from './load/definitions.js';
import { applyErrata, omitDefinitions, omitValueSets, type Erratum } from './load/errata.js';
import { findPackage, type FoundPackage } from './load/find-package.js';
import { loadPackage, type LoadedPackage } from './load/package.js';
import { addTypeCodes, addTypes, typesFor } from './load/types.js';
import { loadGuides, type GuideRequest, type LoadedGuide } from './load/guides.js';
import { createValidator } from '../runtime/validate/create-validator.js';
import { buildModel, concreteTypes } from './model/build.js';
import { addGuides, type GuidedModel } from './model/guides.js';
import type { Model } from './model/model.js';
import { tablesOf } from './model/tables-of.js';
import { buildViews } from './model/views.js';
import { printAll } from './print/print.js';
import { projectRoot } from './project-root.js';
import { takeCensus } from './verify/census.js';
import { verifyDefinitions, verifyGuide } from './verify/definitions.js';
import { verifyCensus, verifyExchanges, verifyModel, verifyScopes } from './verify/verify.js';

/** Options: what to read instead of what the checkout has. */
export interface GenerateOptions {
  /** The folder of the definitions. */
  readonly definitions?: string;
  /** `NAME@VERSION`, or the path of a package tarball. */
  readonly package?: string;
  /** The package itself, in place of its name: the one that generated files were made from. Its counts are not checked. */
  readonly found?: FoundPackage;
  /** Guides beside those that are pinned. */
  readonly guides?: GuideRequest;
}

/** A model, and what it was made of. */
export interface MadeModel extends GuidedModel {
  readonly guides: readonly LoadedGuide[];
}

/**
 * Loads the definitions and the package, makes the model, and verifies it.
 *
 * @throws GeneratorError for faults of the definitions or the package
 */
export async function makeModel(options: GenerateOptions = {}): Promise<Model> {
  return (await makeGuided(options)).model;
}

/** As `makeModel`, with the guides, and what of them has no effect. */
export async function makeGuided(options: GenerateOptions = {}): Promise<MadeModel> {
  const root = projectRoot();
  const definitions = loadDefinitions(options.definitions ?? join(root, 'definitions'));
  const pins = definitions.packages;
  const main = pinOf(pins, 'definitions');
  const pinned = `${main.name}@${main.version}`;
  const published = loadPackage(options.found ?? (await findPackage(options.package ?? pinned, root)));
  const expansions = await loadExpansions(published, definitions, root);
  verifyDefinitions(published);
  const isPinned = options.found === undefined && (options.package ?? pinned) === pinned;
  const made = correct(published, expansions, definitions.errata, isPinned ? main : undefined);
  const types = typesFor(published.name, definitions.types);
  const corrected = addTypes(made.corrected, types);
  const expanded = addTypeCodes(made.expanded, types);
  const core = buildModel({
    package: corrected,
    expansion: expanded,
    inputs: [published, ...(expansions === undefined ? [] : [expansions])].map(({ name, version, integrity }) => ({
      name,
      version,
      sha256: integrity,
    })),
    corrections: definitions.errata
      .filter((erratum) => erratum.package === published.name || erratum.package === expansions?.name)
      .map(({ target, reason }) => ({ target, reason })),
    operations: definitions.operations,
    scopes: definitions.scopes,
    exchanges: definitions.exchanges,
    aliases: definitions.aliases.filter((alias) => alias.package === published.name),
    profiles: definitions.profiles,
  });
  verifyModel(core);
  const isMain = published.name === main.name;
  if (isMain) {
    verifyScopes(core);
    verifyExchanges(core);
  }
  const tables = tablesOf(core);
  // Views are written for the types of one release.
  const model = isMain ? { ...core, views: buildViews(definitions.views, tables) } : core;
  const reader = { fhirVersion: model.fhirVersion, tables, validate: createValidator(tables) };
  const guides = await loadGuides(pins, options.guides, reader, root);
  if (guides.length === 0) return { model, guides, withoutEffect: [] };
  guides.forEach(verifyGuide);
  const guided = addGuides(model, {
    guides: guides.map(({ pin: { name, version, role, sha256, file }, guide, ...definitions }) => {
      const isDirect = role === 'guide';
      const row = {
        name,
        version,
        ...(isDirect && guide !== undefined && { guide }),
        sha256,
        ...(file !== undefined && { file }),
      };
      return { row, isDirect, ...definitions };
    }),
    structures: corrected.structures,
    concrete: (type) => concreteTypes(type, tables.resourceTypes, corrected.structures),
  });
  verifyModel(guided.model);
  return { ...guided, guides };
}

/**
 * Applies the errata, then counts what there is. In this order, because an erratum that fits no definition any more changes counts too,
 * and is what has to be mended.
 *
 * @param pin what the counts have to be; absent: they are not checked
 * @throws GeneratorError naming errata that do not apply, or else counts that differ
 */
export function correct(
  published: LoadedPackage,
  expansions: LoadedPackage | undefined,
  errata: readonly Erratum[],
  pin: PackagePin | undefined,
): { readonly corrected: LoadedPackage; readonly expanded: LoadedPackage['valueSet'] } {
  const corrected = applyErrata(published, errata);
  const expanded = expansions === undefined ? published.valueSet : omitValueSets(expansions, errata);
  if (pin !== undefined) verifyCensus(takeCensus(published, omitDefinitions(published, errata), expansions), pin);
  return { corrected, expanded };
}

/** Files below the output folder, and their texts. A function of the definitions and the package alone. */
export function makeFiles(model: Model): Map<string, string> {
  const artefacts: Artefact[] = [
    ...emitTypes(model),
    ...emitTypeTables(model),
    ...emitTables(model),
    ...emitProfiles(model),
    emitRoutes(model),
    ...emitViews(model),
    ...emitPages(model, 'markdown'),
  ];
  const files = printAll(artefacts, model.package);
  return new Map(
    [...files, ...printAll([emitManifest(model, files)], model.package)].sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

/**
 * The reference pages in HTML, which the build makes beside its tables: files below the output folder, and their texts.
 *
 * @public scripts/build.mjs calls it in `dist/`.
 */
export function makeHtmlPages(model: Model): Map<string, string> {
  return printAll(emitPages(model, 'html'), model.package);
}

/** The output folder: the requested one, or `generated/` of the checkout, whatever the working directory. */
export function outputFolder(out: string | undefined): string {
  return out === undefined ? join(projectRoot(), 'generated') : resolve(out);
}

/** The package that has a role. @throws GeneratorError where there is none */
export function pinOf(pins: readonly PackagePin[], role: PackagePin['role']): PackagePin {
  const pin = pins.find((candidate) => candidate.role === role);
  if (pin === undefined) throw new GeneratorError(`definitions/packages.json names no package with the role ${role}`);
  return pin;
}

/** The pinned expansions, if they are of the FHIR release of the package. */
export async function loadExpansions(
  published: LoadedPackage,
  definitions: Definitions,
  root: string,
): Promise<LoadedPackage | undefined> {
  const pin = pinOf(definitions.packages, 'expansions');
  const found = loadPackage(await findPackage(`${pin.name}@${pin.version}`, root));
  return found.fhirVersion === published.fhirVersion ? found : undefined;
}
