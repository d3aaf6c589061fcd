import { afterAll, describe } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { documentedAnswers } from './answers.js';

const store = await openStore('sqlite::memory:');

describe('answers are those of the OpenAPI document, on SQLite', () => {
  documentedAnswers(store);
  afterAll(() => store.close());
});
