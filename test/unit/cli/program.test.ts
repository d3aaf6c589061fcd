import { describe, expect, it } from 'vitest';

import { runProgram } from '../../../runtime/cli/program.js';

async function kiln(args: string[], env: Record<string, string> = {}) {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runProgram(args, { out: (line) => out.push(line), err: (line) => err.push(line), env });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

describe('the command line', () => {
  it.each([
    [['serve', '--auth', 'none'], '--auth "none": has to be smart or open'],
    [['serve', '--auth', 'open', '--host', '192.168.0.1'], '--host 192.168.0.1: without authorization'],
    [['serve', '--auth', 'smart', '--host', '192.168.0.1'], '--host 192.168.0.1: plain http is for this machine only'],
    [['token', '--client', 'x'], '--client and --key go together'],
    [['token', '--port', '0'], '--port 0'],
    [['load', 'x.json', '--url', 'http://h/fhir', '--client', 'x'], '--client and --key go together'],
    [['load', 'x.json', '--client', 'x', '--key', 'k'], '--client goes with --url'],
    [['load', 'x.json', '--url', 'http://h/fhir', '--token', 't', '--client', 'x', '--key', 'k'], 'exclude each other'],
    [['client', 'add', '--id', 'x', '--scope', 's', '--store', 'sqlite::memory:'], 'a memory store ends'],
    [['client', 'disable'], "'--id <ID>' not specified"],
    [['keys', 'rotate', '--store', 'sqlite::memory:'], 'a memory store ends'],
    [['serve', '--metrics-port', 'x'], '--metrics-port "x"'],
    [['serve', '--prot', '1'], "unknown option '--prot' (Did you mean --port?)"],
    [['config', '--zone', 'Europe/Vienna'], 'not available yet'],
    [['config', '--integrity', 'strict'], '--integrity "strict": has to be none, written or enforced'],
    [['serve', '--workers', '2'], '--workers 2: on SQLite one process serves, with threads'],
    [['serve', '--workers', '0'], '--workers "0": has to be a number from 1 to 64'],
    [['serve', '--store', 'mongodb://h', '--workers', '2', '--metrics-port', '0'], '--metrics-port 0: with workers'],
    [['serve', '--store', 'mongodb://h', '--workers', '2', '--port', '81', '--metrics-port', '80'], 'from 80 to 81'],
    [['serve', '--store', 'mongodb://h', '--workers', '2', '--metrics-port', '65535'], 'from 65535 to 65536'],
    [['worker'], 'serve --workers'],
    [['copy', '--from', 'sqlite:x'], "'--to <STORE>' not specified"],
    [['load', 'x', '--bundles', 'burn'], '--bundles "burn": has to be store or apply'],
    [['load', 'x', '--url', 'localhost:8080'], '--url "localhost:8080"'],
    [['load', 'x', '--url', 'http://h/fhir', '--store', 'sqlite:x'], 'exclude each other'],
    [['load', 'x', '--token', 't'], '--token goes with --url'],
    [['backup'], 'file'],
    [['backup', 'x', '--store', 'sqlite::memory:'], 'memory'],
    [['serve', '--colour'], '--colour'],
    [['load'], 'path'],
    [['serve', '--store', 'sqlite:f.db '], '--store "sqlite:f.db ": the path may not begin or end with white space'],
    [['copy', '--from', 'sqlite:a.db', '--to', 'sqlite: a.db'], '--to "sqlite: a.db": the path may not begin or end'],
    [['load', 'x', '--store', 'sqlite:f.db-wal'], 'the path may not end in -wal'],
    [['load', 'x', '--store', 'mongo://x'], '--store "mongo://x"'],
    [['restore', 'x', '--store', 'sqlite::memory:'], 'memory'],
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
    const { code, err } = await kiln(['serve'], { KILN_AUTH: 'none' });
    expect([code, err]).toEqual([2, 'kiln: KILN_AUTH "none": has to be smart or open']);
  });

  it('helps', async () => {
    const { code, out } = await kiln(['serve', '--help']);
    expect(code).toBe(0);
    for (const option of ['--limits-body', '50 MB', '--port', '--host', '--store', '--auth', 'KILN_PORT', '8080'])
      expect(out).toContain(option);
    expect(out).not.toContain('--zone');
    const load = (await kiln(['load', '--help'])).out.replaceAll(/\s+/g, ' ');
    for (const option of ['host <ADDRESS>', 'port <N>', 'base-url <URL>'])
      expect(load).toContain(`--${option} of the server that --running looks for`);
    expect((await kiln(['--help'])).out).toMatch(/serve[^]*load[^]*backup[^]*config[^]*generate[^]*explain/);
  });

  it('prints the configuration with its origins', async () => {
    const { code, out } = await kiln(['config', '--limits-body', '1MB'], { KILN_PORT: '81' });
    expect(code).toBe(0);
    expect(out).toMatch(/^port +81 +KILN_PORT$/m);
    expect(out).toMatch(/^limits.body +1 MB +--limits-body$/m);
    expect(out).toMatch(/^host +127.0.0.1 +default$/m);
  });
});
