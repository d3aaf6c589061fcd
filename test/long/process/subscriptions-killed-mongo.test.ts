import { describeOnMongod, newDatabase } from '../../mongod/for-tests.js';
import { killedDeliveries } from './subscriptions-killed.js';

describeOnMongod('deliveries of two servers that are killed in turn, on MongoDB', () => {
  killedDeliveries(newDatabase, 2);
});
