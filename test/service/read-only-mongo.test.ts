import { describeOnMongod, newDatabase } from '../mongod/for-tests.js';
import { itIsReadOnly } from './read-only.js';

describeOnMongod('on MongoDB', () => itIsReadOnly(newDatabase));
