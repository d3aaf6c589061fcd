// Node 20 cannot run our TypeScript sources in a worker thread. So before a test run each entry of one is bundled into a
// file, and the modules that start threads are told that they stand beside these files. The command `kiln` is bundled too:
// a process that reads its hundreds of modules one by one takes twice as long to start.
import { pathToFileURL } from 'node:url';

const STARTS_THREADS = /^(.*)\/runtime\/(?:[^/]+\/)+start-thread\.ts$/;

/** Where the bundles of the threads of a checkout are: `<name of the entry>.js`. */
export function bundlesOf(root) {
  return new URL('.cache/workers/', urlOf(root));
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
  const root = STARTS_THREADS.exec(path)?.[1];
  if (root === undefined) return text;
  return text.replaceAll('import.meta.url', JSON.stringify(new URL('start-thread.js', bundlesOf(root)).href));
}
