import type { Interaction } from '../contract/index.js';
import { capabilities } from './capabilities.js';
import { create } from './create.js';
import { deleteInstance } from './delete-instance.js';
import { read } from './read.js';
import type { InteractionHandler } from './services.js';
import { update } from './update.js';
import { vread } from './vread.js';

/** The interactions that are wired. What is missing here has no route, is in no `Allow`, and is claimed nowhere. */
export const INTERACTIONS: ReadonlyMap<Interaction, InteractionHandler> = new Map<Interaction, InteractionHandler>([
  ['read', read],
  ['vread', vread],
  ['create', create],
  ['update', update],
  ['delete', deleteInstance],
  ['capabilities', capabilities],
]);
