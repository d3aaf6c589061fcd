import { beforeAll, expect, it } from 'vitest';

import type { Store } from '../../../../runtime/store/store.js';
import { scopedServer } from '../../auth/scoped.js';

const SMALL = Buffer.from('hello').toString('base64');
const LARGE = Buffer.alloc(5 * 1024 * 1024 + 1, 7).toString('base64');

/** The content of a Binary lies elsewhere in the store: GraphQL and HFQL left it out, and showed where. */
export function binaries(store: Store): void {
  const server = scopedServer(store);
  const hfql = async (query: string): Promise<string> => {
    const parameter = Object.entries({ action: 'search', query }).map(([name, valueString]) => ({ name, valueString }));
    const { text } = await server.all.send('POST', '/$hfql-execute', { resourceType: 'Parameters', parameter });
    // Without the number of the row among all that were looked at.
    return text
      .split('\n')
      .slice(2)
      .map((row) => row.replace(/^\d+,/, ''))
      .join('\n');
  };
  const graphql = async (query: string): Promise<unknown> =>
    JSON.parse((await server.all.send('GET', `/$graphql?query=${encodeURIComponent(query)}`)).text);

  beforeAll(async () => {
    for (const [id, data] of Object.entries({ small: SMALL, large: LARGE })) {
      const { status } = await server.all.send('PUT', `/Binary/${id}`, { resourceType: 'Binary', id, contentType: 'text/plain', data }); // prettier-ignore
      expect(status).toBe(201);
    }
  });

  it('GraphQL has the data of a Binary, read or searched for', async () => {
    expect(await graphql('{ Binary(id: "small") { id data } }')).toEqual({ data: { Binary: { id: 'small', data: SMALL } } }); // prettier-ignore
    expect(await graphql('{ BinaryList(_id: "small") { data } }')).toEqual({ data: { BinaryList: [{ data: SMALL }] } });
  });

  it('HFQL has the data of a Binary, in columns, conditions and groups', async () => {
    expect(await hfql(`select id, data from Binary where id = 'small'`)).toBe(`small,${SMALL}\n`);
    expect(await hfql(`select id from Binary where data = '${SMALL}'`)).toBe('small\n');
    expect(await hfql(`select data, count(*) from Binary where id = 'small' group by data`)).toBe(`${SMALL},1\n`);
  });

  it('beyond 5 MB there is a reason instead, and never the place in the store', async () => {
    const extension = [{ url: 'http://hl7.org/fhir/StructureDefinition/data-absent-reason', valueCode: 'unsupported' }];
    const found = await graphql('{ Binary(id: "large") { data _data { extension { url valueCode } } } }');
    expect(found).toEqual({ data: { Binary: { _data: { extension } } } });
    expect(await hfql(`select id, data from Binary where id = 'large'`)).toBe('large,\n');
  });
}
