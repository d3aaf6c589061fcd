import { describeOnMongod, newDatabase } from '../../mongod/for-tests.js';
import { unindexedResources } from './stored-parameters-unindexed.js';

describeOnMongod('expressions that fail on resources of a MongoDB store', () => unindexedResources(newDatabase()));
