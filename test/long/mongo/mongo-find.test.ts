import { searchesAmongMany } from '../../contract/mongo-find-many.js';
import { describeOnMongod } from '../../mongod/for-tests.js';

describeOnMongod('searches among many on MongoDB', searchesAmongMany);
