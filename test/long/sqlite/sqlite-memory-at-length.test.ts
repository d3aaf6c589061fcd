import { behaviourAtLength } from '../../contract/behaviour/behaviour.js';
import { inMemory } from '../../contract/in-memory.js';

behaviourAtLength(inMemory);
