import { describeOnMongod, newDatabase } from '../../mongod/for-tests.js';
import { spans } from './spans.js';

describeOnMongod('on MongoDB', () => spans(newDatabase, true));
