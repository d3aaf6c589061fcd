import { durability } from '../../contract/durability/durability.js';
import { guardDurability } from '../../contract/durability/durability-guards.js';
import { pieceDurability } from '../../contract/durability/durability-pieces.js';
import { durableMongo } from '../../contract/durability/durable-mongo.js';
import { describeOnMongod } from '../../mongod/for-tests.js';

// MongoDB keeps what a dead process holds for some seconds.
describeOnMongod('with a MongoDB', () => {
  durability(durableMongo);
  guardDurability(durableMongo);
  pieceDurability(durableMongo);
});
