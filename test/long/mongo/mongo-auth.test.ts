import { describeOnMongod, newDatabase } from '../../mongod/for-tests.js';
import { twoProcesses } from '../../service/two-processes.js';

describeOnMongod('two processes with authorization on one database', () => twoProcesses(newDatabase, 'off'));
