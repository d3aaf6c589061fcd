import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

import { runProgram } from '../../../runtime/cli/program.js';

const place = mkdtempSync(join(tmpdir(), 'kiln-cli-'));
afterAll(() => rmSync(place, { recursive: true }));

async function run(...args: readonly string[]): Promise<{ code: number; out: string[]; err: string[] }> {
  const [out, err]: [string[], string[]] = [[], []];
  const code = await runProgram(args, {
    out: (line: string) => void out.push(line),
    err: (line: string) => void err.push(line),
    env: {},
  });
  return { code, out, err };
}

describe('the command line, as a new user meets it', () => {
  it.each([[[]], [['client']], [['keys']]])('help of %j keeps its lines', async (args) => {
    const { err } = await run(...args);
    expect(err.join('\n').split('\n').length).toBeGreaterThan(5);
  });

  it('kiln token --help names its own options and where the server is, and no others', async () => {
    const { out } = await run('token', '--help');
    const text = out.join('\n');
    expect(text).toContain('--client <ID>');
    expect(text).toContain('--port <N>');
    expect(text).not.toContain('--limits-');
    // The others of serve are taken all the same.
    const { err } = await run('token', '--limits-body', '1 MB', '--port', '0');
    expect(err.join()).toContain('--port 0');
  });

  it('kiln config prints times and sizes as people write them', async () => {
    const { out } = await run('config');
    const text = out.join('\n');
    expect(text).toMatch(/^auth\.lifetime +5 min /m);
    expect(text).toMatch(/^limits\.body +50 MB /m);
    expect((await run('config', '--limits-body', '1000001')).out.join('\n')).toMatch(/^limits\.body +1000001 B /m);
  });

  it('kiln config --changed prints what is not as by default', async () => {
    expect((await run('config', '--changed', '--limits-body', '1 MB')).out).toEqual([
      'limits.body  1 MB  --limits-body',
    ]);
    expect((await run('config', '--changed')).out).toEqual([]);
  });

  it('kiln config said that the audit is off, which it is not, and left lists without words blank', async () => {
    const text = (await run('config')).out.join('\n');
    expect(text).toMatch(/^audit\.sink +file with authorization, else off +default$/m);
    expect(text).toMatch(/^base-url +http:\/\/HOST:PORT +default$/m);
    expect(text).toMatch(/^cors\.origins +none +default$/m);
    expect(text).toMatch(/^metrics-port +off +default$/m);
    expect((await run('config', '--audit-sink', 'off')).out.join('\n')).toMatch(/^audit\.sink +off +--audit-sink$/m);
  });

  it('metrics can be nested in a file as its siblings can', async () => {
    const file = join(place, 'kiln.json');
    writeFileSync(file, '{"metrics":{"port":9100,"host":"::1"}}');
    expect((await run('config', '--config', file)).out.join('\n')).toMatch(/^metrics-port +9100 /m);
    writeFileSync(file, '{"metrics":{"port":9100},"metrics-port":1}');
    const both = run('config', '--config', file);
    expect((await both).err.join()).toContain('twice');
  });

  it('load says that it makes a store, and where', async () => {
    const data = join(place, 'a.ndjson');
    writeFileSync(data, '{"resourceType":"Basic","id":"a","code":{"text":"x"}}\n');
    const store = `sqlite:${join(place, 'mistyped.db')}`;
    const first = await run('load', data, '--store', store);
    expect([first.code, first.err.join('\n')]).toEqual([0, expect.stringContaining(`new store at ${join(place, 'mistyped.db')}`)]); // prettier-ignore
    expect((await run('load', data, '--store', store)).err.join('\n')).not.toContain('new store');
  });
});

it.each(['start', 'demo'])('npm run %s without dist/ printed a Node stack: it says what is missing', (name) => {
  const root = new URL('../../../', import.meta.url);
  const { scripts } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const script = /^node (scripts\/[a-z]+\.mjs) /.exec(scripts[name]!)![1]!;
  mkdirSync(join(place, 'scripts'), { recursive: true });
  copyFileSync(new URL(script, root), join(place, script));
  const { status, stderr } = spawnSync(process.execPath, [join(place, script)], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([1, 'kiln: dist/ is missing; run: npm run build\n']);
});

/** What a process says of its signals that runs below a shell, as npm runs it, until it has ended. */
async function signalsBelowShell(code: string, act: (shell: ChildProcess) => void): Promise<string> {
  const module = new URL('../../../dist/runtime/cli/serve/serve-process.js', import.meta.url).href;
  const file = join(place, 'child.mjs');
  writeFileSync(
    file,
    `import { onEndSignals } from ${JSON.stringify(module)};
     ${code}
     process.stdout.write('up ');
     setInterval(() => {}, 1000);`,
  );
  const shell = spawn('sh', ['-c', `"${process.execPath}" "${file}" & wait`], {
    env: { ...process.env, npm_command: 'exec' },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  let output = '';
  const ended = new Promise<void>((resolve) => shell.stdout.on('end', resolve));
  shell.stdout.on('data', (piece: Buffer) => {
    output += piece.toString();
    if (output === 'up ') act(shell);
  });
  await ended;
  return output;
}

it('a server that npm started ends with npm, which passes no SIGTERM on', async () => {
  const code = 'onEndSignals((signal) => { process.stdout.write(signal); process.exit(0); });';
  expect(await signalsBelowShell(code, (shell) => shell.kill('SIGKILL'))).toBe('up SIGTERM');
});

it('a signal to npm and its server together is one signal: a second one would cut running requests', async () => {
  // It ends two looks at its parent after the signal.
  const code = 'onEndSignals((signal) => { process.stdout.write(signal); setTimeout(() => process.exit(0), 1200); });';
  expect(await signalsBelowShell(code, (shell) => process.kill(-shell.pid!, 'SIGTERM'))).toBe('up SIGTERM');
});
