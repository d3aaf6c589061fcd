import { describeOnMongod, newDatabase } from '../../mongod/for-tests.js';
import { exchangeFlows } from './exchange-flows.js';

describeOnMongod('flows of the exchange on MongoDB', () => {
  const url = newDatabase();
  exchangeFlows(() => url);
});
