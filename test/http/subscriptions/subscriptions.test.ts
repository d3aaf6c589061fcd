import { afterAll, describe } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { subscriptions } from './subscriptions.js';

const store = await openStore('sqlite::memory:');

describe('writes of subscriptions', () => {
  afterAll(() => store.close());
  subscriptions(store);
});
