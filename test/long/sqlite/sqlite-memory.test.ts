import { behaviour } from '../../contract/behaviour/behaviour.js';
import { inMemory } from '../../contract/in-memory.js';

behaviour(inMemory);
