import { guardDurability } from '../contract/durability-guards.js';
import { pieceDurability } from '../contract/durability-pieces.js';
import { durableMongo } from '../contract/durable-mongo.js';
import { describeOnMongod } from '../mongod/for-tests.js';

describeOnMongod('with a MongoDB', () => {
  guardDurability(durableMongo);
  pieceDurability(durableMongo);
});
