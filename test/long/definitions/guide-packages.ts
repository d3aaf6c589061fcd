import { join } from 'node:path';
import { create } from 'tar';
import { beforeAll, expect, it } from 'vitest';

import { guideFile } from '../../guides/make-package.js';
import { command } from '../../service/auth.js';
import { ENVIRONMENT } from '../../service/environment.js';
import { startKiln } from '../../service/kiln-process.js';

const PACKAGES = new URL('../../packages/node_modules/', import.meta.url).pathname;
const MHD = guideFile('ihe.iti.mhd-5.1.0');

/** The versions that there are, whatever the packages ask of each other. */
const USED = ['--use', 'hl7.terminology.r5@7.0.1', '--use', 'hl7.fhir.uv.extensions.r5@5.3.0-ballot-tc1'];

/** Packs what `npm` unpacked. */
function pack(name: string, folder: string): void {
  const options = {
    gzip: { level: 1 },
    cwd: join(PACKAGES, name),
    prefix: 'package',
    portable: true,
    sync: true,
  } as const;
  create({ ...options, file: join(folder, `${name}.tgz`) }, ['.']);
}

/**
 * A guide with the two packages of HL7 that it needs.
 *
 * @param store a store that nobody has used
 * @param folder for files
 */
export function guidePackages(store: string, folder: string): void {
  const kiln = (...args: string[]) => command('package', ...args, '--store', store);
  beforeAll(() => {
    pack('hl7.terminology.r5', folder);
    pack('hl7.fhir.uv.extensions.r5', folder);
  });

  it('without a word what is missing is named, and how to go on', async () => {
    const { code, err } = await kiln('add', MHD, '--from', folder);
    expect(code).toBe(1);
    const lines = err.split('\n').filter((line) => !line.includes('new store at'));
    expect(lines).toEqual([
      expect.stringMatching(
        /hl7\.terminology\.r5@7\.0\.1 needs hl7\.fhir\.uv\.extensions\.r5@5\.2\.0, but 5\.3\.0-ballot-tc1 is taken \(needed by ihe\.iti\.mhd@5\.1\.0\); to take it for both: --use hl7\.fhir\.uv\.extensions\.r5@5\.3\.0-ballot-tc1$/,
      ),
      'kiln: hl7.terminology.r5@6.5.0 (needed by hl7.fhir.uv.extensions.r5@5.3.0-ballot-tc1) is missing; 7.0.1 is here: --use hl7.terminology.r5@7.0.1',
    ]);
  });

  it('it is added with all that it needs, works, and goes again', async () => {
    const added = await kiln('add', MHD, '--from', folder, ...USED);
    expect(added.code, added.err).toBe(0);
    expect(added.out).toContain('ihe.iti.mhd@5.1.0: ');
    expect(added.out).toMatch(
      /hl7\.fhir\.uv\.extensions\.r5@5\.3\.0-ballot-tc1 \(as a dependency, hl7\.terminology\.r5@7\.0\.1 instead of 6\.5\.0\): 823 definitions/,
    );
    expect(added.out).toContain('left out: 14 List, 16 Bundle');
    expect(added.out.match(/^without effect: SearchParameter/gm)?.length).toBe(3);
    const server = startKiln(
      ['serve', '--auth', 'open', '--port', '0', '--store', store],
      'sources',
      ENVIRONMENT as never,
    );
    try {
      const base = await server.started;
      const get = async (path: string) => (await (await fetch(`${base}/${path}`)).json()) as Record<string, unknown>;
      const claims = await get('metadata');
      expect(claims['implementationGuide']).toEqual([
        'https://profiles.ihe.net/ITI/MHD/ImplementationGuide/ihe.iti.mhd|5.1.0',
      ]);
      expect(JSON.stringify(claims)).toContain(
        '"definition":"https://profiles.ihe.net/ITI/MHD/SearchParameter/List-DesignationType"',
      );
      expect(await get('CodeSystem?_summary=count')).toHaveProperty('total');
      const expanded = await get('ValueSet/$expand?url=http://terminology.hl7.org/ValueSet/v3-ActPriority');
      expect(JSON.stringify(expanded)).toContain('"contains"');
    } finally {
      server.child.kill();
      await server.ended;
    }
    expect((await kiln('check')).out).toMatch(/^3 packages, \d+ definitions: all as they came$/m);
    expect((await kiln('add', MHD, '--from', folder, ...USED)).out).toContain('ihe.iti.mhd@5.1.0 is already there');
    expect((await kiln('remove', 'hl7.terminology.r5')).code).toBe(1);
    const removed = await kiln('remove', 'ihe.iti.mhd');
    expect(removed.code, removed.err).toBe(0);
    expect(removed.out).toMatch(/^hl7\.terminology\.r5@7\.0\.1 \(nothing needs it any more\): \d+ resources removed/m);
    expect((await kiln('list')).out).toBe('no packages');
  });
}
