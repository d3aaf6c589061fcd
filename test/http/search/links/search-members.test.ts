import { afterAll, describe } from 'vitest';

import { openStore } from '../../../contract/open-store.js';
import { createToyStore } from '../../../toy/store.js';
import { memberSearches } from './search-members.js';
import { randomMemberSearches } from './search-members-random.js';

const sqlite = await openStore('sqlite::memory:');
const another = await openStore('sqlite::memory:');
afterAll(() => Promise.all([sqlite.close(), another.close()]));

describe('membership on the toy store', () => memberSearches(createToyStore()));
describe('membership on SQLite', () => memberSearches(sqlite));
describe('random membership on SQLite', () => randomMemberSearches(another, 200));
