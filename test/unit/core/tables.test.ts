import { expect, test } from 'vitest';

import { tables } from '../../../generated/tables.js';

test('generated tables are plain data: a build packs them as JSON, which says the same', () => {
  expect(JSON.parse(JSON.stringify(tables))).toStrictEqual(tables);
});
