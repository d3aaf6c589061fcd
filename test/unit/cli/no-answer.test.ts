import { expect, it } from 'vitest';

import { noAnswer } from '../../../runtime/cli/load/no-answer.js';

const failed = (code: string): Error =>
  Object.assign(new TypeError('fetch failed'), { cause: Object.assign(new Error('x'), { code }) });

it.each(['DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'])(
  '%s: somebody answers, and is not trusted',
  (code) => {
    const text = noAnswer('https://localhost/fhir', failed(code));
    expect(text).toContain('the certificate of https://localhost/fhir is not trusted');
    expect(text).toContain('NODE_EXTRA_CA_CERTS');
  },
);

it('without a connection nobody answers', () => {
  expect(noAnswer('http://localhost/fhir', failed('ECONNREFUSED'))).toBe(
    'nothing answers at http://localhost/fhir (ECONNREFUSED)',
  );
});
