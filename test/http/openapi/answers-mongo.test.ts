import { afterAll } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../mongod/for-tests.js';
import { documentedAnswers } from './answers.js';

const store = mongodUrl() === undefined ? undefined : await openStore(newDatabase());

describeOnMongod('answers are those of the OpenAPI document, on MongoDB', () => {
  if (store === undefined) return;
  documentedAnswers(store);
  afterAll(() => store.close());
});
