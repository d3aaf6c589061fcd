import { acceptedFires } from './accepted-fires.js';

acceptedFires(() => 'sqlite::memory:');
