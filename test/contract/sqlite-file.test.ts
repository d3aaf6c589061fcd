import { join } from 'node:path';

import { behaviour } from './behaviour.js';

behaviour({ name: 'a SQLite file', url: (place) => `sqlite:${join(place, 'kiln.db')}`, isShared: true });
