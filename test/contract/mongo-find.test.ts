import { describeOnMongod } from '../mongod/for-tests.js';
import { searchesAmongMany } from './mongo-find-many.js';

// test/long/mongo-find.test.ts does so in every order.
describeOnMongod('searches among many on MongoDB', () => searchesAmongMany(false));
