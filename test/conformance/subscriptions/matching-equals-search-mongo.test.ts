import { describeOnMongod, mongodUrl, newDatabase } from '../../mongod/for-tests.js';
import { matchingEqualsSearch } from './matching-equals-search.js';

describeOnMongod('on MongoDB', () => {
  if (mongodUrl() !== undefined) matchingEqualsSearch(newDatabase, 60);
});
