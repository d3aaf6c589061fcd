import { behaviourAtLength } from '../../contract/behaviour.js';
import { inMemory } from '../../contract/in-memory.js';

behaviourAtLength(inMemory);
