/** `find-one.ts REQUEST ROOT`: finds a package as several runs of the generator at once do. */
import { readdirSync } from 'node:fs';
import { findPackage } from '../../generator/load/find-package.js';

const { name, version, dir } = await findPackage(process.argv[2]!, process.argv[3]!);
process.stdout.write(`${name}@${version}: ${String(readdirSync(dir).length)} files\n`);
