import { describeOnMongod, newDatabase } from '../../mongod/for-tests.js';
import { amendments } from './amendments.js';

describeOnMongod('labels changed in place beside writes, on MongoDB', () => amendments(newDatabase));
