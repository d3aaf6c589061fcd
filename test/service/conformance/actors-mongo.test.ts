import { describeOnMongod, newDatabase } from '../../mongod/for-tests.js';
import { actorsConform } from './actors.js';

describeOnMongod('actors on MongoDB', () => {
  const url = newDatabase();
  actorsConform(() => url);
});
