import { afterAll, describe } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { createToyStore } from '../../toy/store.js';
import { patches } from './patch.js';

const sqlite = await openStore('sqlite::memory:');
afterAll(() => sqlite.close());

describe('patches on the toy store', () => patches(createToyStore()));
describe('patches on SQLite', () => patches(sqlite));
