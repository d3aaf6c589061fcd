import { describeOnMongod, newDatabase } from '../../mongod/for-tests.js';
import { terminologyPackages } from './terminology-packages.js';

describeOnMongod('the terminology and extension packages of HL7, on MongoDB', () => {
  terminologyPackages(newDatabase());
});
