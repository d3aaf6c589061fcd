import { describeOnMongod, newDatabase } from '../mongod/for-tests.js';
import { containedChainWarnings } from './contained-chain-warnings.js';

describeOnMongod('chains by stored search parameters, MongoDB', () => containedChainWarnings(newDatabase()));
