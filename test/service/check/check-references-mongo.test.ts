import { describeOnMongod, newDatabase } from '../../mongod/for-tests.js';
import { checkReferences } from './check-references.js';

describeOnMongod('kiln check references on MongoDB', () => {
  const url = newDatabase();
  checkReferences(() => url);
});
