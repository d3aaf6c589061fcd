import { describeOnMongod, newDatabase } from '../mongod/for-tests.js';
import { baseChange } from './base-change.js';

describeOnMongod('the base URL of a server on MongoDB', () => baseChange(newDatabase));
