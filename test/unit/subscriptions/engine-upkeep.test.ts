import { describe } from 'vitest';

import { engineUpkeep } from './engine-upkeep.js';

describe('upkeep of subscriptions', () => {
  engineUpkeep(() => 'sqlite::memory:');
});
