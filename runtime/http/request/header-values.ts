import type { IncomingMessage } from 'node:http';

/**
 * All values of a header, in their order, where Node's `headers` keeps the first alone. `headersDistinct` has them too, and
 * makes an object of all headers for that, which a request that is read from memory feels.
 *
 * @param name lower case
 */
export function headerValues({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>, name: string): string[] {
  const values: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const sent = rawHeaders[i]!;
    if (sent.length === name.length && sent.toLowerCase() === name) values.push(rawHeaders[i + 1]!);
  }
  return values;
}
