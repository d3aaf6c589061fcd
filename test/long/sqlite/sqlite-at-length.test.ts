import { join } from 'node:path';

import { behaviourAtLength } from '../../contract/behaviour/behaviour.js';

behaviourAtLength({ name: 'a SQLite file', url: (place) => `sqlite:${join(place, 'kiln.db')}`, isShared: true });
