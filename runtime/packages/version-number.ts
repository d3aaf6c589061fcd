/**
 * Compares two versions as semver has it: numbers as numbers, and a version with a label before the one without.
 * https://semver.org/#spec-item-11
 *
 * @returns below 0: the first is the older one
 */
export function compareVersions(a: string, b: string): number {
  const [one, other] = [partsOf(a), partsOf(b)];
  for (let i = 0; i < Math.max(one.numbers.length, other.numbers.length); i++) {
    const difference = (one.numbers[i] ?? 0) - (other.numbers[i] ?? 0);
    if (difference !== 0) return difference;
  }
  if (one.labels.length === 0 || other.labels.length === 0) return other.labels.length - one.labels.length;
  for (let i = 0; i < Math.max(one.labels.length, other.labels.length); i++) {
    const difference = compareLabels(one.labels[i], other.labels[i]);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Whether a version is one that a dependency asks for: exactly that one, or with `x` for the patch any of the minor version. */
export function satisfies(version: string, range: string): boolean {
  if (!/\.[xX*]$/.test(range)) return version === range;
  const { numbers } = partsOf(version);
  const wanted = range.split('.').slice(0, -1);
  return wanted.every((part, i) => String(numbers[i]) === part);
}

/** Whether a dependency names a version that moves. */
export function isMoving(range: string): boolean {
  return /^(?:current|dev|latest)(?:$|\$)/.test(range);
}

/** Whether a text is a version: `5.0.0`, `2.0.0-ballot`. */
export function isVersionNumber(text: string): boolean {
  return /^\d{1,9}(?:\.\d{1,9}){0,3}(?:-[0-9A-Za-z.-]{1,100})?(?:\+[0-9A-Za-z.-]{1,100})?$/.test(text);
}

function partsOf(version: string): { readonly numbers: readonly number[]; readonly labels: readonly string[] } {
  const [release = '', ...rest] = version.replace(/\+.*$/, '').split('-');
  const labels = rest.length === 0 ? [] : rest.join('-').split('.');
  return { numbers: release.split('.').map(Number), labels };
}

function compareLabels(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? -1 : 1;
  const [isOne, isOther] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (isOne && isOther) return Number(a) - Number(b);
  if (isOne !== isOther) return isOne ? -1 : 1;
  return a < b ? -1 : a === b ? 0 : 1;
}
