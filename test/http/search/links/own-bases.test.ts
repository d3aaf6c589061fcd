import { afterAll, describe } from 'vitest';

import { openStore } from '../../../contract/open-store.js';
import { createToyStore } from '../../../toy/store.js';
import { ownBases } from './own-bases.js';

const sqlite = await openStore('sqlite::memory:');
afterAll(() => sqlite.close());

describe('references to this server on the toy store', () => ownBases(createToyStore()));
describe('references to this server on SQLite', () => ownBases(sqlite));
