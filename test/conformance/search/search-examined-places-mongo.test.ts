import { openStore } from '../../contract/open-store.js';
import { describeOnMongod, newDatabase } from '../../mongod/for-tests.js';
import { examinedPlaces } from './search-examined-places.js';

describeOnMongod('what is looked at for places, on MongoDB', () => examinedPlaces(() => openStore(newDatabase())));
