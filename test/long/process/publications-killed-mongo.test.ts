import { describeOnMongod, newDatabase } from '../../mongod/for-tests.js';
import { killedPublications } from './publications-killed.js';

describeOnMongod('publications to a server that is killed, on MongoDB', () => {
  killedPublications(newDatabase);
});
