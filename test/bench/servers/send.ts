import { request, type Agent } from 'node:http';
import { setTimeout } from 'node:timers/promises';

/**
 * Sends a request, and returns the body of its answer.
 *
 * @param target a path behind the FHIR base, or a whole URL
 * @throws Error where the answer is none of 200 to 299
 */
export type Send = (method: string, target: string, body?: string) => Promise<string>;

/** @param token of the client, where the server wants one */
export function sender(base: string, agent: Agent, token?: string): Send {
  const fixed = { accept: 'application/fhir+json', 'content-type': 'application/fhir+json' };
  const headers = token === undefined ? fixed : { ...fixed, authorization: `Bearer ${token}` };
  return (method, target, body) =>
    new Promise((resolve, reject) => {
      const url = target.startsWith('http') ? target : base + target;
      const sent = request(url, { method, agent, headers }, (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.once('error', reject);
        answer.once('end', () => {
          const text = Buffer.concat(chunks).toString();
          const { statusCode = 0 } = answer;
          if (statusCode < 300) resolve(text);
          else reject(new Error(`${method} ${target}: ${statusCode} ${text.slice(0, 300)}`));
        });
      });
      sent.once('error', reject);
      sent.end(body);
    });
}

/** Clients that send one thing after the other for some time. @returns how long each took, the shortest first, in milliseconds */
export async function timesOf(clients: number, work: () => Promise<unknown>, milliseconds: number): Promise<number[]> {
  const times: number[] = [];
  const end = performance.now() + milliseconds;
  const client = async (): Promise<void> => {
    for (let now = performance.now(); now < end;) {
      await work();
      const then = performance.now();
      times.push(then - now);
      now = then;
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return times.sort((a, b) => a - b);
}

/** Writes a second, of a type that nothing else of the bench reads. */
const WRITES = 10;

/** Does something while another client creates resources of another type. @returns what that returns, once both have ended */
export async function besideWrites<T>(send: Send, work: () => Promise<T>): Promise<T> {
  const basic = JSON.stringify({ resourceType: 'Basic', code: { text: 'written meanwhile' } });
  let isOver = false;
  const writer = async (): Promise<void> => {
    while (!isOver) {
      const pause = setTimeout(1000 / WRITES);
      await send('POST', '/Basic', basic);
      await pause;
    }
  };
  const [result] = await Promise.all([work().finally(() => (isOver = true)), writer()]);
  return result;
}
