// The server of the bench of large Bundles: a process of its own, started as `kiln serve` starts one. Its argument is the store.
import { runServe } from '../../../runtime/cli/serve/serve.js';

const [store = ''] = process.argv.slice(2);
process.exitCode = await runServe(
  { store, port: '0', auth: 'open', 'log-level': 'error' },
  { out: (line) => process.send?.(line), err: (line) => process.stderr.write(`${line}\n`), env: {} },
);
process.disconnect();
