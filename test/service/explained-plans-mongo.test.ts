import { describeOnMongod, newDatabase } from '../mongod/for-tests.js';
import { explainedPlans } from './explained-plans.js';

describeOnMongod('kiln explain-search of plans, MongoDB', () => explainedPlans(newDatabase()));
