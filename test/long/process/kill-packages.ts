import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';

import { codeSystem, makePackage } from '../../guides/make-package.js';
import { command } from '../../service/auth.js';
import { startKiln } from '../../service/kiln-process.js';
import { soak } from '../soak.js';

const KILLS = soak(4);
const SIZE = 3000;

/**
 * Additions and removals that are killed: the next call finishes them, and what is there then is whole.
 *
 * @param store a store that nobody has used
 * @param folder for files
 */
export function killPackages(store: string, folder: string): void {
  const kiln = (...args: string[]) => command('package', ...args, '--store', store);

  /** Starts a command and kills it once it has begun to write. @returns whether it was in the midst of it */
  async function killed(wait: number, ...args: string[]): Promise<boolean> {
    const { child, ended } = startKiln(['package', ...args, '--store', store]);
    for (;;) {
      const { err } = await kiln('list');
      if (err.includes('is in progress, or was killed') || child.exitCode !== null) break;
      await sleep(20);
    }
    await sleep(wait);
    child.kill('SIGKILL');
    await ended;
    const { code, out } = await kiln('check');
    const isPending = out.includes('the next kiln package add or remove finishes it');
    expect(isPending ? code : 1).toBe(1);
    return isPending;
  }

  it(`kill -9 during add and remove, ${KILLS} times each: old state, or finished by the next call`, async () => {
    const systems = Array.from({ length: SIZE }, (_, i) => codeSystem(`s${i}`, `http://a.example/${i}`));
    const file = makePackage(folder, { name: 'large.one', version: '1.0.0' }, systems);
    const small = makePackage(folder, { name: 'small.one', version: '1.0.0' }, [codeSystem('y', 'http://b.example/y')]);
    let midst = 0;
    for (let round = 0; round < KILLS; round++) {
      if (await killed(round * 100, 'add', file)) midst++;
      // Another call finishes what was begun, and does its own work.
      expect((await kiln('add', round % 2 === 0 ? small : file)).code).toBe(0);
      const rows = (await kiln('list')).out.split('\n').filter((line) => line.startsWith('large.one'));
      if (rows.length === 0) expect((await kiln('add', file)).code).toBe(0);
      expect((await kiln('check')).out).toMatch(/definitions: all as they came$/);
      if (await killed(round * 100, 'remove', 'large.one')) midst++;
      const { out } = await kiln('list');
      if (out.includes('large.one')) expect((await kiln('remove', 'large.one')).code).toBe(0);
      expect((await kiln('list')).out).not.toContain('large.one');
      expect((await kiln('check')).code).toBe(0);
      const again = await kiln('add', file, '--dry-run');
      expect(again.out).toContain(`${SIZE} resources would be added, 0 changed, 0 removed`);
    }
    expect(midst).toBeGreaterThan(0);
    console.info(`${midst} of ${2 * KILLS} were killed in the midst of it`);
  });

  it('two at a time: one waits for the other', async () => {
    const files = ['two.one', 'two.two'].map((name) => makePackage(folder, { name, version: '1.0.0' }, [codeSystem(name.replace('.', '-'), `http://c.example/${name}`)])); // prettier-ignore
    const done = await Promise.all(files.map((file) => kiln('add', file)));
    expect(done.map(({ code }) => code)).toEqual([0, 0]);
    const { out } = await kiln('list');
    expect(out).toContain('two.one@1.0.0  direct');
    expect(out).toContain('two.two@1.0.0  direct');
  });
}
