/** Returns the cause of a failed fetch, which the error of fetch hides: the error code of the connection, or a message. */
export function causeOf(error: unknown): string {
  const { message, cause } = error as Error;
  const { code, message: inner } = (cause ?? {}) as NodeJS.ErrnoException;
  return code ?? inner ?? message;
}

/** Whether a server answers whose certificate comes from no authority that Node knows. https://nodejs.org/api/tls.html#x509-certificate-error-codes */
export function isDistrusted(error: unknown): boolean {
  return /^(?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_(?:GET_ISSUER_CERT|VERIFY)\w*)$/.test(
    causeOf(error),
  );
}

/** Why fetch got no answer, in words for people who can do something about it. */
export function noAnswer(url: string, error: unknown): string {
  return isDistrusted(error)
    ? `the certificate of ${url} is not trusted (${causeOf(error)}); name its authority: NODE_EXTRA_CA_CERTS=ca.pem kiln …`
    : `nothing answers at ${url} (${causeOf(error)})`;
}
