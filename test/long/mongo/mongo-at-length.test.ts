import { behaviourAtLength } from '../../contract/behaviour/behaviour.js';
import { onEmptiedMongo } from '../../contract/on-mongo.js';
import { describeOnMongod } from '../../mongod/for-tests.js';

describeOnMongod('with a MongoDB', () => behaviourAtLength(onEmptiedMongo));
