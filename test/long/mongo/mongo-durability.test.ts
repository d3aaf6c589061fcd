import { durability } from '../../contract/durability.js';
import { guardDurability } from '../../contract/durability-guards.js';
import { pieceDurability } from '../../contract/durability-pieces.js';
import { durableMongo } from '../../contract/durable-mongo.js';
import { describeOnMongod } from '../../mongod/for-tests.js';

// MongoDB keeps what a dead process holds for some seconds.
describeOnMongod('with a MongoDB', () => {
  durability(durableMongo);
  guardDurability(durableMongo);
  pieceDurability(durableMongo);
});
