// Builds dist/ after `npm ci`, so that `npx kiln` works at once. Where TypeScript is absent (an install
// without development dependencies) there is nothing to build with, and nothing to do.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
let tsc;
try {
  tsc = require.resolve('typescript/bin/tsc');
} catch {
  process.stderr.write('kiln: TypeScript is not installed; dist/ is left as it is\n');
  process.exit(0);
}
const run = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], { stdio: 'inherit' });
process.exit(run.status ?? 1);
