import { readSetting, STORE_SETTING, type Flags } from '../config.js';
import { findFiles } from './load-files.js';
import { loadFiles } from './loader.js';
import { EXIT, type Terminal } from './terminal.js';

/**
 * `kiln load PATH…`: puts JSON files and folders of them into a store; a server may run on it meanwhile.
 *
 * @returns the exit code: 1 where a file failed
 * @throws ConfigError
 */
export async function runLoad(paths: readonly string[], flags: Flags, terminal: Terminal): Promise<number> {
  const url = readSetting(STORE_SETTING, flags, terminal.env);
  if (url === 'sqlite::memory:') {
    terminal.err('kiln: a memory store ends with this command; name a file with --store sqlite:PATH');
    return EXIT.usage;
  }
  const { openCore } = await import('../server.js');
  let core;
  try {
    core = openCore(url);
  } catch (error) {
    terminal.err(`kiln: ${error instanceof Error ? error.message : String(error)}`);
    return EXIT.failed;
  }
  try {
    const start = performance.now();
    const counts = await loadFiles(findFiles(paths), core, (path, reason) => terminal.err(`${path}: ${reason}`));
    const seconds = (performance.now() - start) / 1000;
    const done = counts.created + counts.updated + counts.unchanged;
    terminal.out(
      `${done} resources in ${seconds.toFixed(1)} s (${Math.round(done / seconds)} a second): ` +
        `${counts.created} created, ${counts.updated} updated, ${counts.unchanged} unchanged; ` +
        `${counts.failed} failed, ${counts.skipped} other files skipped`,
    );
    return counts.failed > 0 ? EXIT.failed : EXIT.done;
  } catch (error) {
    terminal.err(`kiln: ${error instanceof Error ? error.message : String(error)}`);
    return EXIT.failed;
  } finally {
    await core.store.close();
  }
}
