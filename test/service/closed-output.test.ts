import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';

import { EVENTUALLY } from '../eventually.js';
import { startKiln } from './kiln-process.js';

describe('output that nobody reads any more', { timeout: 60_000 }, () => {
  it('ends a command without a word', async () => {
    const { child, ended, output } = startKiln(['config']);
    child.stdout?.destroy();
    expect([await ended, output.err]).toEqual([141, '']);
  });

  it('does not end a server, whose log says that the audit has nowhere to go', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'kiln-closed-'));
    const audited = ['--auth', 'smart', '--audit-sink', 'stdout'];
    const store = `sqlite:${join(folder, 'kiln.db')}`;
    const { child, started, ended, output } = startKiln(['serve', '--port', '0', '--store', store, ...audited]);
    try {
      const base = await started;
      child.stdout?.destroy();
      expect((await fetch(`${base}/Patient`)).status).toBe(401);
      await vi.waitFor(() => expect(output.err).toContain('audit: events cannot be written'), EVENTUALLY);
      expect(output.err).toMatch(/"level":"warn".*"the output can no longer be written: write EPIPE"/);
      expect((await fetch(`${base}/metadata`)).status).toBe(200);
    } finally {
      child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true });
    }
  });
});
