/** Text with A to Z in lower case and all else as it is: codes are compared so where case does not count. */
export function asciiLower(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
