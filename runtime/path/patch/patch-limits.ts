/** Operations that a patch may have, where nothing else is configured. */
export const MAX_PATCH_OPERATIONS = 1000;
/** Work that one XML Patch may make: nodes and characters looked at. Some seconds of it. */
export const MAX_PATCH_WORK = 20_000_000;
