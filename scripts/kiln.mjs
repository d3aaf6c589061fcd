// `npm start`, `npm run demo`: runs a command of kiln as it was built, or says what is missing.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const main = new URL('../dist/runtime/cli/main.js', import.meta.url);

if (existsSync(fileURLToPath(main))) {
  await import(main.href);
} else {
  process.stderr.write('kiln: dist/ is missing; run: npm run build\n');
  process.exitCode = 1;
}
