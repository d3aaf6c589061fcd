import { afterAll, describe } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../mongod/for-tests.js';
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

// A database each: histories of a type show all that others write.
const suites = [
  reads,
  writes,
  hiddenWrites,
  hiddenLooks,
  hiddenTargets,
  hiddenReferences,
  patchQuestions,
  disclosedInstants,
  bundles,
  binaries,
  audited,
];
const stores = mongodUrl() === undefined ? undefined : await Promise.all(suites.map(() => openStore(newDatabase())));

describeOnMongod('with a token on MongoDB', () => {
  if (stores === undefined) return;
  afterAll(async () => {
    for (const store of stores) await store.close();
  });
  for (const [i, suite] of suites.entries()) describe(suite.name, () => suite(stores[i]!));
});
