/**
 * For `vi.waitFor` and `expect.poll`: what comes at some time, soon on a quiet machine. Nothing is said about when, because a busy machine
 * takes longer; what does not come in this time does not come at all.
 */
export const EVENTUALLY = { timeout: 30_000, interval: 20 };
