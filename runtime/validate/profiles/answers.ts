import type { Soon } from './profile-deps.js';

/**
 * The answers that a validation has had from outside. A pass over a resource is made in one go and waits for nothing: what it cannot know yet is
 * asked for, and when the answers are there another pass is made.
 */
export class Answers {
  private readonly known = new Map<string, unknown>();
  private readonly asked = new Map<string, Promise<unknown>>();

  /** @returns the answer, or `PENDING` */
  get<T>(key: string, ask: () => Soon<T>): T | typeof PENDING {
    if (this.known.has(key)) return this.known.get(key) as T;
    if (this.asked.has(key)) return PENDING;
    const answer = ask();
    if (answer instanceof Promise) {
      this.asked.set(key, answer);
      return PENDING;
    }
    this.known.set(key, answer);
    return answer;
  }

  get arePending(): boolean {
    return this.asked.size > 0;
  }

  /** Waits for all that was asked. @throws what one of them throws */
  async settle(): Promise<void> {
    const asked = [...this.asked];
    this.asked.clear();
    const answers = await Promise.all(asked.map(([, answer]) => answer));
    asked.forEach(([key], i) => this.known.set(key, answers[i]));
  }
}

/** The answer is not there yet. */
export const PENDING = Symbol('pending');
