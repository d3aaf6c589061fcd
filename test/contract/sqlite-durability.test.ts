import { join } from 'node:path';

import { guardDurability } from './durability-guards.js';
import { pieceDurability } from './durability-pieces.js';
import { durability, type DurableSubject } from './durability.js';

const subject: DurableSubject = {
  name: 'a SQLite file',
  url: (place) => `sqlite:${join(place, 'kiln.db')}`,
  isShared: true,
  steps: {
    before: ['begin', 'version', 'entries', 'commit', 'piece'],
    within: [
      ['version', 25],
      ['entries', 49],
    ],
    inPieces: [
      ['stage', 0],
      ['stage', 4],
      ['entries', 800],
    ],
    after: ['committed', 'answered'],
  },
};

durability(subject);
guardDurability(subject);
pieceDurability(subject);
