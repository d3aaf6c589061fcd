import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { acceptPackage } from './accept.js';
import { MANIFEST } from './emit/manifest.js';
import { explain } from './explain.js';
import { GeneratorError } from './generator-error.js';
import { makeFiles, makeGuided, makeModel, outputFolder } from './generate.js';
import { describeGuideChanges } from './guide-changes.js';
import { loadDefinitions, PACKAGES_FILE, type GuidePin } from './load/definitions.js';
import type { GuideRequest, LoadedGuide } from './load/guides.js';
import type { Model } from './model/model.js';
import { tablesOf } from './model/tables-of.js';
import { lackingFeatures } from '../runtime/core/release-needs.js';
import { projectRoot } from './project-root.js';
import type { Census } from './verify/census.js';
import { changedCounts, countLine, type ChangedCount } from './verify/verify.js';
import { compare, write, type Difference } from './write.js';

/** Options of `kiln generate`. */
export interface GenerateCommand {
  readonly check?: boolean;
  readonly package?: string;
  readonly out?: string;
  /** Take the package and its counts as those that are expected from now on. */
  readonly accept?: boolean;
  /** Archives of guides, which become part of the tables, and are pinned in `definitions/packages.json`, unless there is `out`. */
  readonly guide?: readonly string[];
  /** Folder with archives of what they need. */
  readonly from?: string;
  /** `NAME@VERSION` each: taken whatever guides ask for. */
  readonly use?: readonly string[];
}

/**
 * `kiln generate`: brings the output folder up to date, or with `check` reports how it differs.
 *
 * @returns exit code: 0 if the folder is up to date, 1 if it differs or must not be written
 */
export async function runGenerate(command: GenerateCommand): Promise<number> {
  return reporting(async () => {
    const dir = outputFolder(command.out);
    if (command.out !== undefined) refuseUnusable(dir, command);
    if (command.accept === true) await accept(command);
    const { model, guides, withoutEffect } = await makeGuided({ ...command, ...guidesOf(command) });
    const files = makeFiles(model);
    if (command.guide !== undefined) await takeGuides(guides, model, command);
    for (const each of withoutEffect) say(`without effect: ${each}`);
    for (const each of lackingFeatures(tablesOf(model))) say(`not in FHIR ${model.fhirVersion}: ${each}`);
    const differences = compare(dir, files);
    const counts = changedOutput(manifestOf(dir), files.get(MANIFEST) ?? '');
    const isOurs = command.out === undefined;
    if (command.check === true) {
      const code = reportCheck(dir, files.size, differences, command);
      return isOurs && code === 0 ? reportBuild(files) : code;
    }
    write(dir, files, differences);
    for (const each of counts) say(`${MANIFEST}: ${countLine(each)}`);
    const count = (kind: Difference['kind']): number =>
      differences.filter((difference) => difference.kind === kind).length;
    const deleted = count('stray');
    say(
      `${String(files.size)} files, ${String(count('changed') + count('missing'))} written, ${String(deleted)} deleted`,
    );
    return 0;
  });
}

function guidesOf({ guide, from, use }: GenerateCommand): { readonly guides?: GuideRequest } {
  if (guide !== undefined)
    return { guides: { files: guide, ...(from !== undefined && { from }), ...(use !== undefined && { use }) } };
  if (from !== undefined || use !== undefined) throw new GeneratorError('--from and --use are for --guide FILE');
  return {};
}

/** Says what the guides change, and pins them where the output is that of the checkout. */
async function takeGuides(guides: readonly LoadedGuide[], model: Model, command: GenerateCommand): Promise<void> {
  const folder = join(projectRoot(), 'definitions');
  const { packages } = loadDefinitions(folder);
  const others = packages.filter(({ role }) => role === 'definitions' || role === 'expansions');
  const before = packages.filter((pin): pin is GuidePin => !others.includes(pin));
  for (const line of await describeGuideChanges(before, guides, projectRoot(), model.fhirVersion)) say(line);
  if (command.check === true || command.out !== undefined) return;
  const text = JSON.stringify({ packages: [...others, ...guides.map(({ pin }) => pin)] }, null, 2);
  writeFileSync(join(folder, PACKAGES_FILE), `${text}\n`);
}

async function accept(command: GenerateCommand): Promise<void> {
  if (command.check === true) throw new GeneratorError('--accept writes, and --check does not: give one of them');
  const changes = await acceptPackage(command);
  for (const each of changes) say(`definitions/${PACKAGES_FILE}: ${each}`);
  if (changes.length === 0)
    say(`definitions/${PACKAGES_FILE} is as it was: the package has the counts that it expects`);
}

/** The counts of the output that are not those of the manifest before; none where there was no manifest. */
function changedOutput(before: string, after: string): readonly ChangedCount[] {
  const countsIn = (manifest: string): Census => (JSON.parse(manifest) as { readonly counts: Census }).counts;
  try {
    return changedCounts(countsIn(before), countsIn(after));
  } catch {
    return [];
  }
}

/**
 * `kiln explain PATH`: prints what the model says about a type or an element.
 *
 * @returns exit code: 0 explained, 1 no such path
 */
export async function runExplain(path: string, options: { readonly package?: string } = {}): Promise<number> {
  return reporting(async () => {
    say(explain(await makeModel(options), path));
    return 0;
  });
}

/**
 * Checks that files may be deleted from the output folder: it must be empty, or have a manifest that names kiln. A file of
 * that name is not enough, because web applications have one too.
 */
function refuseUnusable(dir: string, command: GenerateCommand): void {
  const stat = statSync(dir, { throwIfNoEntry: false });
  if (stat !== undefined && !stat.isDirectory()) throw new GeneratorError(`--out ${dir}: is not a folder`);
  if (command.check === true || stat === undefined || readdirSync(dir).length === 0) return;
  if (!manifestOf(dir).includes('"generatedBy": "kiln')) {
    throw new GeneratorError(`--out ${dir}: not empty and without a ${MANIFEST} of kiln; name a new or empty folder`);
  }
}

function manifestOf(dir: string): string {
  try {
    return readFileSync(join(dir, MANIFEST), 'utf8');
  } catch {
    return '';
  }
}

function reportCheck(dir: string, total: number, differences: readonly Difference[], command: GenerateCommand): number {
  if (differences.length === 0) {
    say(`${String(total)} files are current`);
    return 0;
  }
  const shown = relative(process.cwd(), dir) || '.';
  for (const { path, kind, line, found, expected } of differences) {
    const file = `${shown}/${path}`;
    if (kind === 'changed') {
      const [have, want] = excerpts(found ?? '', expected ?? '');
      complain(`${file}:${String(line)}: changed\n  found    ${have}\n  expected ${want}`);
    } else complain(`${file}: ${kind === 'missing' ? 'missing' : 'stray: the definitions do not make this file'}`);
  }
  const guides = command.guide?.map((file) => ` --guide ${file}`) ?? [];
  const options = [
    command.package && ` --package ${command.package}`,
    ...guides,
    command.out && ` --out ${command.out}`,
  ];
  const remedy = options.some(Boolean) ? `npx kiln generate${options.filter(Boolean).join('')}` : 'npm run generate';
  complain(`${String(differences.length)} of ${String(total)} files are not current. To mend: ${remedy}`);
  return 1;
}

/** A build has a copy of the manifest that it was made from. Where there is no build, the next one will be right. */
function reportBuild(files: ReadonlyMap<string, string>): number {
  const dist = join(projectRoot(), 'dist');
  if (!existsSync(dist) || manifestOf(join(dist, 'generated')) === files.get(MANIFEST)) return 0;
  complain('dist/ was built with other tables. To mend: npm run build');
  return 1;
}

async function reporting(run: () => Promise<number>): Promise<number> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof GeneratorError)) throw error;
    complain([error.message, ...error.details.map((detail) => `  ${detail}`)].join('\n'));
    return 1;
  }
}

/** Two lines, cut to where they differ. Characters that look alike or are invisible are escaped. */
function excerpts(found: string, expected: string): [string, string] {
  let first = 0;
  while (first < found.length && found[first] === expected[first]) first++;
  const start = first > 120 ? first - 40 : 0;
  const excerpt = (text: string): string => {
    const cut = `${start > 0 ? '…' : ''}${text.slice(start, start + 160)}${text.length > start + 160 ? '…' : ''}`;
    return cut.replace(/ $|[^\P{C}\n]|[^\P{Z} ]/gu, (c) => `\\u{${(c.codePointAt(0) ?? 0).toString(16)}}`);
  };
  return [excerpt(found), excerpt(expected)];
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function complain(text: string): void {
  process.stderr.write(`${text}\n`);
}
