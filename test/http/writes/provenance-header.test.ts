import { afterAll } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { provenanceHeader } from './provenance-header.js';

const store = await openStore('sqlite::memory:');
afterAll(() => store.close());
provenanceHeader(store);
