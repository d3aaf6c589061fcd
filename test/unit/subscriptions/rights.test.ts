import { rightsAtMatching } from './rights.js';

rightsAtMatching(() => 'sqlite::memory:');
