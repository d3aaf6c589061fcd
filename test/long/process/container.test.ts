import { execFileSync, spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';

const root = new URL('../../..', import.meta.url).pathname;
const IMAGE = 'kiln-test';
const BUILD_TIME = 15 * 60_000;

const docker = (...args: string[]): string => execFileSync('docker', args, { cwd: root, encoding: 'utf8' });
const hasDocker = spawnSync('docker', ['info'], { stdio: 'ignore' }).status === 0;
if (!hasDocker) process.stderr.write('NOT TESTED: the container image. There is no Docker that runs here.\n');

describe.skipIf(!hasDocker)('the container image', () => {
  it('is built, runs as a user without rights, and is healthy', { timeout: BUILD_TIME }, () => {
    docker('build', '--tag', IMAGE, '.');
    expect(docker('run', '--rm', '--entrypoint', 'id', IMAGE, '-un').trim()).toBe('node');
    const refused = spawnSync('docker', ['run', '--rm', IMAGE], { encoding: 'utf8' });
    expect([refused.status, refused.stderr]).toEqual([2, expect.stringContaining('--base-url')]);
    const loopback = ['--env', 'KILN_HOST=127.0.0.1'];
    const id = docker('run', '--rm', '--detach', ...loopback, '--health-interval', '1s', IMAGE).trim();
    try {
      const state = () => docker('inspect', '--format', '{{.State.Health.Status}}', id).trim();
      for (let tries = 0; tries < 60 && state() !== 'healthy'; tries++) spawnSync('sleep', ['1']);
      expect(state()).toBe('healthy');
    } finally {
      docker('stop', id);
      docker('rmi', '--force', IMAGE);
    }
  });
});
