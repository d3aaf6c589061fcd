import { describeOnMongod, newDatabase } from '../../mongod/for-tests.js';
import { exchangeExamples } from './exchange-examples.js';

describeOnMongod('examples of the exchange on MongoDB', () => {
  const url = newDatabase();
  exchangeExamples(() => url);
});
