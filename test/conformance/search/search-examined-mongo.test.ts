import { describe } from 'vitest';

import { parametersOf } from '../../../runtime/indexing/parameters-of.js';
import { openStore } from '../../contract/open-store.js';
import { describeOnMongod, newDatabase } from '../../mongod/for-tests.js';
import { examinedChains } from './search-examined-chains.js';
import { examinedLinks } from './search-examined-links.js';
import { examinedSearches, LINKED, search } from './search-examined.js';

const open = () => openStore(newDatabase());
const slotOf = (type: string, code: string): number | undefined => parametersOf(type, search).get(code)?.slot;

describeOnMongod('what MongoDB looks at is in proportion', () => {
  describe('to what a search finds', () => examinedSearches(() => openStore(newDatabase(), { slotOf })));
  describe('to the side of links where there is less', () => examinedLinks(open, LINKED));
  describe('to all that chains lead to on the way', () => examinedChains(open, LINKED, false));
});
