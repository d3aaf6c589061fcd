import { durability } from '../../contract/durability/durability.js';
import { durableSqlite } from '../../contract/durability/durable-sqlite.js';

// What is killed with guards, and in pieces, is in sqlite-durability.test.ts.
durability(durableSqlite);
