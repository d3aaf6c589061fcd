import { describeOnMongod } from '../mongod/for-tests.js';
import { durability } from './durability.js';
import { durableMongo } from './durable-mongo.js';

// What is killed with guards, and in pieces, is in the long project: MongoDB keeps what a dead process holds for some seconds.
describeOnMongod('with a MongoDB', () => {
  durability(durableMongo);
});
