import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';

import { bundlesOf } from './entries.mjs';

/** Bundles the entries of worker threads of the checkout in a folder. */
export async function bundleEntries(root: string): Promise<void> {
  mkdirSync(bundlesOf(root), { recursive: true });
  const files = readdirSync(join(root, 'runtime'), { recursive: true, encoding: 'utf8' });
  const entries = files.filter((file) => file.endsWith('-worker.ts'));
  await Promise.all(entries.map((file) => bundle(join(root, 'runtime', file), bundlesOf(root))));
}

/** Makes one file of an entry and all of our modules that it imports; packages are imported as ever. */
async function bundle(entry: string, folder: URL): Promise<void> {
  const bundler = await rolldown({
    input: entry,
    platform: 'node',
    external: /^(?![./])/,
    plugins: [{ name: 'source-url', transform: { filter: { code: 'import.meta.url' }, handler: withSourceUrl } }],
  });
  const { output } = await bundler.generate({ codeSplitting: false });
  await bundler.close();
  const file = fileURLToPath(new URL(`${basename(entry, '.ts')}.js`, folder));
  // A thread of another test run may be reading it.
  const own = `${file}.${randomUUID()}`;
  writeFileSync(own, output[0].code);
  renameSync(own, file);
}

/** What a module finds from where it stands, it finds from the bundle too. */
function withSourceUrl(code: string, id: string): string {
  return code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href));
}
