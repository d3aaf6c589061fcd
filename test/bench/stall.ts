import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Bench, Row } from './measuring/row.js';
import { STALL_CASES } from './stall/cases.js';
import { describeStall, faultsOf, isChosen, SETTINGS } from './stall/judge-stall.js';
import { runStalls, type Stall, type StallServer } from './stall/run-stall.js';

/** The command as it was built last. */
const COMMAND = 'dist/runtime/cli/main.js';

/**
 * One request of each kind at its limits, or several at once, sent to a server in a process of its own while another client reads: how long
 * that one waits, what the main thread computed of it, and how far the memory rises.
 */
export const bench: Bench = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-bench-'));
  const rows: Row[] = [];
  try {
    for await (const stall of runStalls(STALL_CASES.filter(isChosen), () =>
      start(`sqlite:${join(folder, 'kiln.db')}`),
    )) {
      process.stdout.write(`${describeStall(stall)}\n`);
      rows.push(toRow(stall));
      for (const fault of faultsOf(stall)) {
        process.stderr.write(`bench: ${fault}\n`);
        process.exitCode = 1;
      }
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  return rows;
};

async function start(store: string): Promise<StallServer> {
  // What is set for benches is no setting of a server.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('KILN_')));
  const args = [COMMAND, ...SETTINGS, '--store', store];
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  let line = '';
  for await (const piece of child.stdout) if (/http:\S+\s/.test((line += String(piece)))) break;
  const base = /http:\S+/.exec(line)?.[0];
  if (base === undefined || child.pid === undefined) throw new Error(`the server did not start: ${line}`);
  return {
    pid: child.pid,
    base,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

function toRow({ name, reads, longest, took }: Stall): Row {
  return {
    name: `read beside ${name}`,
    unit: 'reads',
    measured: { count: reads, wallMs: took, cpuMs: took, times: { p50: NaN, p99: NaN, longest } },
  };
}
