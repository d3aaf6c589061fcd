import { describeOnMongod, newDatabase } from '../../mongod/for-tests.js';
import { deliveries } from './deliveries.js';

describeOnMongod('deliveries on MongoDB', () => {
  deliveries(() => ({ store: newDatabase() }));
});
