import { describeOnMongod, newDatabase } from '../../mongod/for-tests.js';
import { loadsSynthea } from './synthea.js';

describeOnMongod('on MongoDB', () => loadsSynthea(newDatabase));
