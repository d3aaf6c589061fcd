/** Nine tables and a manifest, each long enough to be seen half written. */
export function manyFiles(): ReadonlyMap<string, string> {
  const paths = [...'abcdefghi'].map((letter) => `tables/${letter}.ts`);
  return new Map([...paths, 'manifest.json'].sort().map((path) => [path, path.repeat(10_000)]));
}
