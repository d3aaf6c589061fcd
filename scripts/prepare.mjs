// Builds dist/ after `npm ci`, so that `npx kiln` works at once. Where TypeScript is absent (an install
// without development dependencies) there is nothing to build with, and nothing to do. The first `npx kiln` runs it, too, perhaps beside
// a server: what is current is left alone.
import { createRequire } from 'node:module';
import { build, isBuilt, tellSteps } from './build.mjs';

if (isInstalled('typescript')) process.exitCode = isBuilt() ? 0 : await build(tellSteps());
else process.stderr.write('kiln: TypeScript is not installed; dist/ is left as it is\n');

function isInstalled(name) {
  try {
    createRequire(import.meta.url).resolve(name);
    return true;
  } catch {
    return false;
  }
}
