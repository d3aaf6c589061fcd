import { join } from 'node:path';

import { durability } from './durability.js';

durability({
  name: 'a SQLite file',
  url: (place) => `sqlite:${join(place, 'kiln.db')}`,
  isShared: true,
  steps: { before: ['begin', 'version', 'entries', 'commit', 'piece'], after: ['committed', 'answered'] },
});
