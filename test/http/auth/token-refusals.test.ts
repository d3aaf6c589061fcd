import { describe } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { describeOnMongod, newDatabase } from '../../mongod/for-tests.js';
import { tokenRefusals } from './token-refusals.js';

describe('the token endpoint on SQLite', () => tokenRefusals(() => openStore('sqlite::memory:')));

describeOnMongod('the token endpoint on MongoDB', () => tokenRefusals(() => openStore(newDatabase())));
