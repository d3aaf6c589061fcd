import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { PRODUCT } from '../../../runtime/fhir/product.js';

it('the version that the server tells is that of package.json', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  expect(PRODUCT.version).toBe(version);
});
