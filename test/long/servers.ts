import { readFileSync } from 'node:fs';

import { startKiln, type KilnProcess } from '../service/kiln-process.js';

/** Processes that serve one store, and the next ones where they are killed. */
export class Servers {
  private readonly running: { kiln: KilnProcess; base: string }[] = [];

  /** @param more options of the command */
  constructor(
    readonly store: string,
    private readonly more: readonly string[] = [],
  ) {}

  async start(): Promise<void> {
    const kiln = startKiln([
      'serve',
      '--port',
      '0',
      '--validation',
      'structure',
      '--store',
      this.store,
      '--log-level',
      'warn',
      ...this.more,
    ]);
    this.running.push({ kiln, base: await kiln.started });
  }

  /** One that runs. */
  get base(): string {
    return this.running.at(-1)!.base;
  }

  /** Memory of the largest, in MB. */
  memory(): number {
    return Math.max(...this.running.map(({ kiln }) => memoryOf(kiln.child.pid!)));
  }

  /** Kills the one that has run longest. */
  async kill(): Promise<void> {
    const { kiln } = this.running.shift()!;
    kiln.child.kill('SIGKILL');
    await kiln.ended;
  }

  async end(): Promise<void> {
    while (this.running.length > 0) await this.kill();
  }
}

function memoryOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024;
}
