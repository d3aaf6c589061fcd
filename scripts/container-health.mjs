// Whether the server in this container is ready, for Docker: exit code 0 or 1. It asks this machine, whose name no certificate
// has, so that none is checked. Port and TLS are those of the environment; where a file says them, repeat them there.
import { get as getPlain } from 'node:http';
import { get as getSecure } from 'node:https';

const { KILN_PORT = '8080', KILN_TLS_CERT = '' } = process.env;
const get = KILN_TLS_CERT === '' ? getPlain : getSecure;
const options = { host: '127.0.0.1', port: KILN_PORT, path: '/health/ready', rejectUnauthorized: false };

get(options, (res) => process.exit(res.statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1));
