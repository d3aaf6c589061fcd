import { onMongo } from '../../contract/on-mongo.js';
import { describeOnMongod } from '../../mongod/for-tests.js';
import { matrix } from './search-matrix.js';

describeOnMongod('every search parameter of every type, on MongoDB', () => matrix(onMongo));
