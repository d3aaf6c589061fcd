import { describeOnMongod, newDatabase } from '../../mongod/for-tests.js';
import { referenceRaces } from './reference-races.js';

describeOnMongod('deletions and references of two processes on MongoDB', () => {
  const url = newDatabase();
  referenceRaces(() => url);
});
