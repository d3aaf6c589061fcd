/** Loaded first into a child process: folders are listed backwards, as another file system might. */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const list = fs.readdirSync as (...args: readonly unknown[]) => unknown[];
fs.readdirSync = ((...args: readonly unknown[]) => list(...args).reverse()) as unknown as typeof fs.readdirSync;
syncBuiltinESMExports();
