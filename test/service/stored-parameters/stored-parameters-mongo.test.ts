import { describeOnMongod, newDatabase } from '../../mongod/for-tests.js';
import { storedParameters } from './stored-parameters.js';

describeOnMongod('search parameters of a MongoDB store', () => storedParameters(newDatabase()));
