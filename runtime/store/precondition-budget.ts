/** How long the searches of a write's preconditions may take, in milliseconds: others wait for them. */
export const PRECONDITION_BUDGET = 2000;
