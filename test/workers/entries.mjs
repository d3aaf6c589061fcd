// Node 20 cannot run our TypeScript sources in a worker thread. So before a test run each entry of one is bundled into a
// file, and the modules that start threads are told that they stand beside these files. The command `kiln` is bundled too:
// a process that reads its hundreds of modules one by one takes twice as long to start.
import { fileURLToPath, pathToFileURL } from 'node:url';

const STARTS_THREADS = /^(.*)\/runtime\/(?:[^/]+\/)*([^/]+)\/start-(?:thread|process)\.ts$/;

/** The bundles of the threads of a checkout whose entries are in a folder of this name: `<name of the entry>.js`. */
export function bundlesOf(root, folder) {
  return new URL(`.cache/workers/${folder}/`, urlOf(root));
}

/** The bundle of the command `kiln` of a checkout. */
export function commandOf(root) {
  return new URL('.cache/command/main.js', urlOf(root));
}

function urlOf(root) {
  const url = root.startsWith('file:') ? root : pathToFileURL(root).href;
  return `${url.replace(/\/$/, '')}/`;
}

/** The text of a module, whose path or URL is given; a module that starts threads starts the bundles of its checkout. */
export function withBundledEntries(path, text) {
  const [, root, folder] = STARTS_THREADS.exec(path) ?? [];
  if (root === undefined) return text;
  return text.replaceAll('import.meta.url', JSON.stringify(new URL('start-thread.js', bundlesOf(root, folder)).href));
}

/** The text of a module, whose path is given; one that starts threads of the SQLite store takes those that were used before, where there are some. */
export function withPooledThreads(path, text) {
  if (STARTS_THREADS.exec(path)?.[2] !== IN_ONE_SCRIPT) return text;
  const pooled = fileURLToPath(new URL('./pooled-thread.ts', import.meta.url));
  return text.replace(
    "import { Worker } from 'node:worker_threads';",
    `import { PooledThread as Worker } from ${JSON.stringify(pooled)};`,
  );
}

/** The folder whose entries become CommonJS: such a thread starts sooner, and another may run its text once more. */
export const IN_ONE_SCRIPT = 'threads';
