import { guardDurability } from '../../contract/durability/durability-guards.js';
import { pieceDurability } from '../../contract/durability/durability-pieces.js';
import { durableSqlite } from '../../contract/durability/durable-sqlite.js';

guardDurability(durableSqlite);
pieceDurability(durableSqlite);
