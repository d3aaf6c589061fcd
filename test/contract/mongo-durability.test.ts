import { describeOnMongod } from '../mongod/for-tests.js';
import { durability } from './durability.js';
import { onMongo } from './on-mongo.js';

describeOnMongod('with a MongoDB', () =>
  durability({
    ...onMongo,
    steps: { before: ['begin', 'history', 'resource', 'commit', 'piece'], after: ['committed', 'answered'] },
  }),
);
