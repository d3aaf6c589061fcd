/** Where web sockets are, below the FHIR base. */
export const SOCKET_PATH = '/websocket';

/** URL that clients of web sockets connect to. @param base absolute URL of the FHIR base */
export function socketUrl(base: string): string {
  return base.replace(/^http/, 'ws') + SOCKET_PATH;
}
