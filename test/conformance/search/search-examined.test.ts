import { describe } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { examinedChains } from './search-examined-chains.js';
import { examinedLinks } from './search-examined-links.js';
import { examinedSearches, LINKED } from './search-examined.js';

const open = () => openStore('sqlite::memory:');

describe('what a search looks at is in proportion to what it finds', () => examinedSearches(open));

describe('what links look at is in proportion to the side where there is less', () => examinedLinks(open, LINKED));

describe('what chains look at is in proportion to all that they lead to on the way', () => {
  examinedChains(open, LINKED, true);
});
