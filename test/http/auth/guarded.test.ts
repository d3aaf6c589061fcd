import { afterAll, describe } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { audited } from './audited.js';
import { binaries } from './binaries.js';
import { bundles } from './bundles.js';
import { hiddenLooks } from './hidden-looks.js';
import { hiddenTargets } from './hidden-targets.js';
import { hiddenWrites } from './hidden-writes.js';
import { hiddenReferences } from './integrity-hidden.js';
import { patchQuestions } from './patch-questions.js';
import { reads } from './reads.js';
import { disclosedInstants } from './tokens/disclosed-instants.js';
import { writes } from './writes.js';

describe.each([
  ['reads', reads],
  ['writes', writes],
  ['writes of what is hidden', hiddenWrites],
  ['looks at what is hidden', hiddenLooks],
  ['targets of references', hiddenTargets],
  ['references that have to lead somewhere', hiddenReferences],
  ['patches that ask', patchQuestions],
  ['instants', disclosedInstants],
  ['Bundles', bundles],
  ['Binaries', binaries],
  ['the audit', audited],
])('%s with a token on SQLite', async (_, suite) => {
  const store = await openStore('sqlite::memory:');
  afterAll(() => store.close());
  suite(store);
});
