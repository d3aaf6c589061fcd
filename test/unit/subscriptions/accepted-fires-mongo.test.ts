import { describeOnMongod, mongodUrl, newDatabase } from '../../mongod/for-tests.js';
import { acceptedFires } from './accepted-fires.js';

describeOnMongod('on MongoDB', () => {
  if (mongodUrl() !== undefined) acceptedFires(newDatabase);
});
