import { join } from 'node:path';

import type { DurableSubject } from './durability.js';

/** A SQLite file whose process is killed. */
export const durableSqlite: DurableSubject = {
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
