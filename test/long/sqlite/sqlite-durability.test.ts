import { guardDurability } from '../../contract/durability-guards.js';
import { pieceDurability } from '../../contract/durability-pieces.js';
import { durableSqlite } from '../../contract/durable-sqlite.js';

guardDurability(durableSqlite);
pieceDurability(durableSqlite);
