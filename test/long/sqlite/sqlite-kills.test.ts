import { durability } from '../../contract/durability.js';
import { durableSqlite } from '../../contract/durable-sqlite.js';

// What is killed with guards, and in pieces, is in sqlite-durability.test.ts.
durability(durableSqlite);
