import { afterAll } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../mongod/for-tests.js';
import { provenanceHeader } from './provenance-header.js';

const store = mongodUrl() === undefined ? undefined : await openStore(newDatabase());

describeOnMongod('the header X-Provenance on MongoDB', () => {
  if (store === undefined) return;
  afterAll(() => store.close());
  provenanceHeader(store);
});
