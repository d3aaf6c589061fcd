/** How long the searches of a write's guards may take, in milliseconds: others wait for them. */
export const GUARD_BUDGET = 2000;
