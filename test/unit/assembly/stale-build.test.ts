import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, it } from 'vitest';

import { isStaleBuild } from '../../../runtime/assembly/stale-build.js';

const root = mkdtempSync(join(tmpdir(), 'kiln-stale-'));
afterAll(() => rmSync(root, { recursive: true }));

/** Writes `generated/manifest.json` below a folder. */
function manifest(folder: string, text: string): void {
  mkdirSync(join(folder, 'generated'), { recursive: true });
  writeFileSync(join(folder, 'generated', 'manifest.json'), text);
}

it('tables that were generated after the build make it stale, which was served without a word', () => {
  const dist = join(root, 'dist');
  const built = pathToFileURL(`${dist}/`);
  mkdirSync(dist);
  expect(isStaleBuild(built), 'installed: there is no generated/ beside it').toBe(false);
  manifest(root, '{"files":{"a":"1"}}');
  expect(isStaleBuild(built), 'a build that does not say from what').toBe(true);
  manifest(dist, '{"files":{"a":"1"}}');
  expect(isStaleBuild(built), 'built from these').toBe(false);
  manifest(root, '{"files":{"a":"2"}}');
  expect(isStaleBuild(built), 'generated anew').toBe(true);
  expect(isStaleBuild(pathToFileURL(`${root}/`)), 'sources are no build').toBe(false);
});
