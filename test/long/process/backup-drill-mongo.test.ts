import { describeOnMongod, newDatabase } from '../../mongod/for-tests.js';
import { itIsRestored } from './backup-drill.js';

describeOnMongod('on MongoDB', () => {
  itIsRestored(() => Promise.resolve({ store: newDatabase(), empty: newDatabase(), servers: 2 }));
});
