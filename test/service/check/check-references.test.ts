import { join } from 'node:path';
import { describe } from 'vitest';

import { checkReferences } from './check-references.js';

describe('kiln check references on SQLite', () => checkReferences((folder) => `sqlite:${join(folder, 'kiln.db')}`));
