import { describe } from 'vitest';

import { openStore } from '../../../contract/open-store.js';
import { tokenRefusals } from './token-refusals.js';

describe('the token endpoint on SQLite', () => tokenRefusals(() => openStore('sqlite::memory:')));
