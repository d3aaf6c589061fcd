import { describe, expect, it } from 'vitest';

import { runProgram } from '../../runtime/cli/program.js';

async function kiln(args: string[], env: Record<string, string> = {}) {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runProgram(args, { out: (line) => out.push(line), err: (line) => err.push(line), env });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

describe('the command line', () => {
  it.each([
    [['serve', '--auth', 'smart'], '--auth "smart": authorization is not available yet'],
    [['serve', '--host', '192.168.0.1'], '--host "192.168.0.1"'],
    [['serve', '--tls-cert', 'x', '--tls-key', 'y'], '--tls-cert'],
    [['serve', '--metrics-port', '9000'], '--metrics-port'],
    [['serve', '--colour'], '--colour'],
    [['load'], 'path'],
    [['load', 'x', '--store', 'mongodb://x'], '--store "mongodb://x"'],
    [['load', 'x', '--store', 'sqlite::memory:'], 'memory'],
    [['bake'], 'bake'],
    [['explain'], 'path'],
  ])('%j is called wrongly: exit code 2 and one line', async (args, message) => {
    const { code, out, err } = await kiln(args);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(message);
    expect(err).toMatch(/^kiln: [^\n]+$/);
  });

  it('reads the environment', async () => {
    const { code, err } = await kiln(['serve'], { KILN_AUTH: 'smart' });
    expect([code, err]).toEqual([2, 'kiln: KILN_AUTH "smart": authorization is not available yet; use open']);
  });

  it('helps', async () => {
    const { code, out } = await kiln(['serve', '--help']);
    expect(code).toBe(0);
    for (const option of ['--port', '--host', '--store', '--auth', 'KILN_PORT', '8080']) expect(out).toContain(option);
    expect(out).not.toContain('--workers');
    expect((await kiln(['--help'])).out).toMatch(/serve[^]*load[^]*generate[^]*explain/);
  });
});
