import { describeOnMongod } from '../mongod/for-tests.js';
import { guardDurability } from './durability-guards.js';
import { durability } from './durability.js';
import { onMongo } from './on-mongo.js';

const subject = {
  ...onMongo,
  steps: { before: ['begin', 'history', 'resource', 'commit', 'piece'], after: ['committed', 'answered'] },
};

describeOnMongod('with a MongoDB', () => {
  durability(subject);
  guardDurability(subject);
});
