import { durability } from './durability.js';
import { durableSqlite } from './durable-sqlite.js';

// What is killed with guards, and in pieces, is in the long project.
durability(durableSqlite);
