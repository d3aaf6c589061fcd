import { describeOnMongod, mongodUrl, newDatabase } from '../../mongod/for-tests.js';
import { rightsAtMatching } from './rights.js';

describeOnMongod('on MongoDB', () => {
  if (mongodUrl() !== undefined) rightsAtMatching(newDatabase);
});
