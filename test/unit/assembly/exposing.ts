/** Options of serve each of which makes the server reachable for others. */
export const EXPOSING: readonly Record<string, string>[] = [
  { host: '192.168.0.1' },
  { host: '0.0.0.0' },
  { host: 'example.org' },
  { host: '::1%lo' },
  { 'base-url': 'https://fhir.example.org' },
  { 'base-url': 'http://localhost:8080' },
  { 'tls-cert': 'a.pem', 'tls-key': 'b.pem' },
  { 'proxy-trust': '127.0.0.1' },
];
