import { afterAll, describe } from 'vitest';

import { openStore } from '../../../contract/open-store.js';
import { createToyStore } from '../../../toy/store.js';
import { costlyGraphSearches, graphSearches, smallGraphSearches } from './search-graphs.js';

const sqlite = await openStore('sqlite::memory:');
const small = await openStore('sqlite::memory:');
const many = await openStore('sqlite::memory:');
afterAll(() => Promise.all([sqlite.close(), small.close(), many.close()]));

describe('graphs on the toy store', () => graphSearches(createToyStore()));
describe('graphs on SQLite', () => graphSearches(sqlite));
describe('graphs on SQLite, in small pages', () => smallGraphSearches(small));
describe('graphs that cost much', () => costlyGraphSearches(many));
