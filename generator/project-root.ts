import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GeneratorError } from './generator-error.js';

/** The root folder of the checkout, found from the path of this file, so that the working directory does not matter. */
export function projectRoot(): string {
  let dir = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(dir, 'definitions', 'packages.json'))) {
    const parent = dirname(dir);
    if (parent === dir)
      throw new GeneratorError('the generator needs a development checkout: definitions/ is not there');
    dir = parent;
  }
  return dir;
}
