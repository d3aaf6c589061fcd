import { openStore } from '../../../contract/open-store.js';
import { describeOnMongod, newDatabase } from '../../../mongod/for-tests.js';
import { tokenRefusals } from './token-refusals.js';

describeOnMongod('the token endpoint on MongoDB', () => tokenRefusals(() => openStore(newDatabase())));
