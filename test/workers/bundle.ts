import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown, type OutputOptions, type RolldownOutput } from 'rolldown';

import { bundlesOf, commandOf, IN_ONE_SCRIPT, withBundledEntries } from './entries.mjs';

/** How long pieces of the command are kept that the sources no longer make. */
const KEPT_MS = 3_600_000;

/** Bundles the command `kiln` and the entries of worker threads of the checkout in a folder. */
export async function bundleEntries(root: string): Promise<void> {
  const files = readdirSync(join(root, 'runtime'), { recursive: true, encoding: 'utf8' });
  const threads = files.filter((file) => file.endsWith('-worker.ts')).map((file) => join(root, 'runtime', file));
  await Promise.all([
    ...threads.map((entry) => bundleThread(root, entry)),
    bundleCommand(join(root, 'runtime/cli/main.ts'), fileURLToPath(commandOf(root))),
  ]);
}

/** Makes one file of an entry and all of our modules that it imports; packages are imported as ever. */
async function bundleThread(root: string, entry: string): Promise<void> {
  const name = basename(dirname(entry));
  const folder = fileURLToPath(bundlesOf(root, name));
  const format = name === IN_ONE_SCRIPT ? 'cjs' : 'esm';
  const { output } = await bundle(entry, { codeSplitting: false, format });
  put(join(folder, 'package.json'), JSON.stringify({ type: format === 'cjs' ? 'commonjs' : 'module' }));
  put(join(folder, `${basename(entry, '.ts')}.js`), output[0].code);
}

/** Makes few files, so that what the command imports when it needs it is still read only then. */
async function bundleCommand(entry: string, file: string): Promise<void> {
  const [main, ...chunks] = (await bundle(entry, { codeSplitting: true })).output;
  for (const chunk of chunks) {
    const place = join(dirname(file), chunk.fileName);
    // Its name has a hash of what it holds.
    if (chunk.type === 'chunk' && !existsSync(place)) put(place, chunk.code);
  }
  put(file, main.code);
  const current = new Set([...chunks.map(({ fileName }) => fileName), basename(file)]);
  removeOld(dirname(file), (name) => !current.has(name));
}

/** Deletes files that no run uses any more: one that is under way may have begun with other sources. */
function removeOld(folder: string, isGone: (name: string) => boolean): void {
  for (const name of readdirSync(folder).filter(isGone)) {
    const place = join(folder, name);
    const written = statSync(place, { throwIfNoEntry: false })?.mtimeMs;
    if (written !== undefined && written < Date.now() - KEPT_MS) rmSync(place, { force: true });
  }
}

async function bundle(entry: string, options: OutputOptions): Promise<RolldownOutput> {
  const bundler = await rolldown({
    input: entry,
    platform: 'node',
    external: /^(?![./])/,
    plugins: [{ name: 'source-url', transform: { filter: { code: 'import.meta.url' }, handler: withSourceUrl } }],
  });
  try {
    return await bundler.generate({ ...options, chunkFileNames: '[name]-[hash].js' });
  } finally {
    await bundler.close();
  }
}

/** Another test run may be reading the file. */
function put(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  const own = `${file}.${randomUUID()}`;
  writeFileSync(own, text);
  renameSync(own, file);
}

/** What a module finds from where it stands, it finds from the bundle too; and threads are started from their bundles. */
function withSourceUrl(code: string, id: string): string {
  return withBundledEntries(id, code).replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href));
}
