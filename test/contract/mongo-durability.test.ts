import { describeOnMongod } from '../mongod/for-tests.js';
import { guardDurability } from './durability-guards.js';
import { pieceDurability } from './durability-pieces.js';
import { durability } from './durability.js';
import { onMongo } from './on-mongo.js';

const subject = {
  ...onMongo,
  steps: {
    before: ['begin', 'history', 'resource', 'commit', 'piece'],
    inPieces: [
      ['resource', 0],
      ['history', 5],
      ['resource', 9],
    ] as const,
    after: ['committed', 'answered'],
  },
};

describeOnMongod('with a MongoDB', () => {
  durability(subject);
  guardDurability(subject);
  pieceDurability(subject);
});
