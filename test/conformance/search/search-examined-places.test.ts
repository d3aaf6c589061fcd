import { describe } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { examinedPlaces } from './search-examined-places.js';

describe('what is looked at for places, on SQLite', () => examinedPlaces(() => openStore('sqlite::memory:')));
