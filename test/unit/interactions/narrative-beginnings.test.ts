import { expect, it } from 'vitest';

import { narrativeTargets } from '../../../runtime/interactions/bundle/links/narrative-links.js';

it('a narrative that begins many elements and ends none took time by the square of its length', () => {
  const div = `<div xmlns="http://www.w3.org/1999/xhtml"><p>href</p><!-- ${'<a '.repeat(300_000)}' --></div>`;
  expect(narrativeTargets(div, () => 0).size).toBe(0);
});

it('a narrative has links after such a beginning', () => {
  const div = `<div xmlns="http://www.w3.org/1999/xhtml"><!-- <a ' --><a title='x > "y"' href="Patient/1#a">1</a></div>`;
  expect([...narrativeTargets(div, () => 0)]).toEqual([['Patient/1', 0]]);
});
