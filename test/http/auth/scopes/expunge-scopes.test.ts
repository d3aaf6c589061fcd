import { afterAll, describe } from 'vitest';

import { openStore } from '../../../contract/open-store.js';
import { createToyStore } from '../../../toy/store.js';
import { expungeScopes } from './expunge-scopes.js';

const sqlite = await openStore('sqlite::memory:');
afterAll(() => sqlite.close());

describe('what a token removes for good on the toy store', () => expungeScopes(createToyStore()));
describe('what a token removes for good on SQLite', () => expungeScopes(sqlite));
