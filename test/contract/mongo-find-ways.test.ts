import { describeOnMongod } from '../mongod/for-tests.js';
import { waysOfFinding } from './mongo-find-ways.js';

describeOnMongod('ways of finding on MongoDB', () => waysOfFinding(30));
