const PARTS = /^(mongodb(?:\+srv)?:\/\/)([^/?]+)(?:\/([^?]*))?(?:\?(.*))?$/s;

/**
 * A connection string with another database. Who logs in is still looked up where the given one says.
 *
 * @throws Error where it is none
 */
export function withDatabase(url: string, database: string): string {
  const [, scheme, hosts = '', given, options] = PARTS.exec(url) ?? [];
  if (scheme === undefined)
    throw new Error('KILN_TEST_MONGODB_URL is no mongodb://HOST[:PORT]/ or mongodb+srv://HOST/');
  const query = new URLSearchParams(options);
  // The database of the URL is where users are looked up if nothing else is said, and `admin` where it names none.
  if (hosts.includes('@') && !query.has('authSource')) query.set('authSource', given || 'admin');
  const text = query.toString();
  return `${scheme}${hosts}/${database}${text && `?${text}`}`;
}
