import { describeOnMongod, newDatabase } from '../../mongod/for-tests.js';
import { webSockets } from './web-sockets.js';

describeOnMongod('web sockets on MongoDB', () => {
  webSockets(() => ({ store: newDatabase() }));
});
