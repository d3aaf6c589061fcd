// Node 20 cannot run our TypeScript sources in a worker thread. So before a test run each entry of one is bundled into a
// file, and the modules that start threads are told that they stand beside these files.
import { pathToFileURL } from 'node:url';

const STARTS_THREADS = /^(.*)\/runtime\/(?:[^/]+\/)+start-thread\.ts$/;

/** Where the bundles of a checkout are: `<name of the entry>.js`. */
export function bundlesOf(root) {
  const url = root.startsWith('file:') ? root : pathToFileURL(root).href;
  return new URL('.cache/workers/', `${url.replace(/\/$/, '')}/`);
}

/** The text of a module, whose path or URL is given; a module that starts threads starts the bundles of its checkout. */
export function withBundledEntries(path, text) {
  const root = STARTS_THREADS.exec(path)?.[1];
  if (root === undefined) return text;
  return text.replaceAll('import.meta.url', JSON.stringify(new URL('start-thread.js', bundlesOf(root)).href));
}
