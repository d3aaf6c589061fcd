import { tables } from '../../../generated/tables.js';
import { benchExtraction } from '../extraction.js';

// A process of its own prints the rates.
process.stdout.write(JSON.stringify(benchExtraction(tables)));
