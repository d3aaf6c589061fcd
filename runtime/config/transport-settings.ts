import { readRanges } from '../auth/jwks/addresses.js';
import { yesOrNo } from './setting.js';
import { text, words } from './setting-kinds.js';

const PEM = 'FILE';

/** Settings of what lies between clients and the server. */
export const TRANSPORT_SETTINGS = {
  'tls-cert': text({ placeholder: PEM, help: 'certificate in PEM, with those between it and its root: serves https' }),
  'tls-key': text({ placeholder: PEM, help: 'its private key in PEM' }),
  'tls.clientCa': text({ placeholder: PEM, help: 'who signs certificates of clients, which then need one' }),
  'tls.hsts': yesOrNo({
    help: 'whether https answers tell browsers to come by https only (Strict-Transport-Security); never on loopback',
    initial: true,
  }),
  'proxy.trust': words(
    {
      help: 'addresses and ranges of proxies with TLS in front: 10.0.0.7, fd00::/8. Over http others are refused',
      initial: [],
    },
    checkRange,
  ),
  'cors.origins': words({ help: 'web pages that may call: https://app.example', initial: [] }, checkOrigin),
};

function checkRange(range: string): void {
  readRanges([range]);
  if (/\/0+$/.test(range)) throw new Error(`"${range}" is everybody; name the addresses of your proxies`);
}

/** @throws Error for what no browser sends as `Origin`; `*` and `null` would let in pages that are not named */
function checkOrigin(origin: string): void {
  const isWeb = /^https?:/.test(origin) && URL.canParse(origin);
  if (!isWeb || new URL(origin).origin !== origin) {
    throw new Error(`"${origin}" is no origin such as https://app.example or http://localhost:5173`);
  }
}
