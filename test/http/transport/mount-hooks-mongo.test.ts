import { describeOnMongod, mongodUrl, newDatabase } from '../../mongod/for-tests.js';
import { mountHooks } from './mount-hooks.js';

const store = mongodUrl() === undefined ? undefined : newDatabase();

describeOnMongod('hooks of Kiln in an application, on MongoDB', () => {
  if (store !== undefined) mountHooks(store);
});
