import { describeOnMongod } from '../mongod/for-tests.js';
import { behaviour } from './behaviour/behaviour.js';
import { onEmptiedMongo } from './on-mongo.js';

describeOnMongod('with a MongoDB', () => behaviour(onEmptiedMongo));
