import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';

import { guideFile, makePackage } from '../../guides/make-package.js';
import { command } from '../../service/auth.js';

it.each(['1.0.0', '1.1.0'])(
  'kiln package test: the examples of example.guide %s are judged as expected',
  async (version) => {
    const { code, out } = await command('package', 'test', guideFile(`example.guide-${version}`));
    expect(code, out).toBe(0);
    expect(out).toContain('ok   Patient/good-patient: passes (as expected)');
    expect(out).toMatch(/^ok {3}Patient\/bad-patient: refused: .*birthDate.* \(as expected\)$/m);
    expect(out).toContain('4 examples, 4 as expected, 0 not');
  },
);

it('kiln package test: one that fails is named', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-package-test-'));
  try {
    const content = JSON.stringify({ resourceType: 'Patient', id: 'a', gender: 'odd' });
    const file = makePackage(
      folder,
      { name: 'one.one', version: '1.0.0' },
      [],
      [{ path: 'package/example/a.json', content }],
    );
    const { code, out } = await command('package', 'test', file);
    expect(code).toBe(1);
    expect(out).toMatch(/^FAIL Patient\/a: refused: .*gender.* \(but should pass\)$/m);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
