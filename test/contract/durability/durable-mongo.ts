import { onMongo } from '../on-mongo.js';

/** MongoDB, and the steps of a write at which a process may end. */
export const durableMongo = {
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
