import { describe, expect, it } from 'vitest';

import { withOrphans } from '../../../runtime/packages/orphans.js';

const row = (name: string, isDirect: boolean, ...needs: string[]) => ({
  ...{ name, version: '1.0.0', isDirect },
  dependencies: Object.fromEntries(needs.map((each) => [each, '1.0.0'])),
});

/** The names that go with `a.guide`, and what is said of those that stay. */
function removing(...rows: ReturnType<typeof row>[]) {
  const { names, staying } = withOrphans(['a.guide'], rows);
  return { names, staying: staying.map((each) => `${each.row.name} ${each.why}`) };
}

describe('the dependencies that go with a package', () => {
  const terms = row('a.terms', false, 'a.extensions');
  const extensions = row('a.extensions', false, 'a.terms');

  it('those that nothing needs any more, also where they need each other', () => {
    const all = [row('a.guide', true, 'hl7.fhir.r5.core', 'a.extensions'), terms, extensions];
    expect(removing(...all)).toEqual({ names: ['a.guide', 'a.extensions', 'a.terms'], staying: [] });
  });

  it('not those that another package needs, or that were added by themselves', () => {
    const guide = row('a.guide', true, 'a.extensions', 'a.other');
    expect(removing(guide, terms, extensions, row('a.other', true), row('b.guide', true, 'a.terms'))).toEqual({
      names: ['a.guide'],
      staying: [
        'a.extensions it is needed by a.terms@1.0.0',
        'a.other it was added by itself',
        'a.terms it is needed by a.extensions@1.0.0, b.guide@1.0.0',
      ],
    });
  });

  it('not those that were left behind by something else', () => {
    const all = [row('a.guide', true), row('a.left', false, 'a.terms'), terms, extensions];
    expect(removing(...all)).toEqual({ names: ['a.guide'], staying: [] });
  });
});
