import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../generator/project-root.js';

/**
 * Type-checks folders of generated files below `dir` with the settings of this checkout, against its contract.
 *
 * @returns what tsc complains of, in order of files, which are named below `dir`
 */
export function typeCheck(dir: string, folders: readonly string[]): Promise<string[]> {
  const root = projectRoot();
  const compilerOptions = {
    noEmit: true,
    rootDir: '/',
    types: [],
    paths: { 'kiln/contract': [join(root, 'runtime/contract/index.ts')] },
  };
  writeFileSync(join(dir, 'package.json'), '{ "type": "module" }');
  writeFileSync(
    join(dir, 'tsconfig.json'),
    JSON.stringify({ extends: join(root, 'tsconfig.json'), compilerOptions, include: folders, exclude: [] }),
  );
  const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
  const child = spawn(process.execPath, [tsc, '-p', dir], { cwd: dir, stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', () =>
      resolve(
        said
          .split('\n')
          .filter((line) => /^\S/.test(line))
          .sort(),
      ),
    );
  });
}
