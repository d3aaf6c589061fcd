/**
 * Tells line and column of positions in a text, both from 1, the column in UTF-16 code units, as the JSON reader does.
 * It counts on from the position asked for last, so that many questions cost no more than one.
 */
export class Places {
  private line = 1;
  private counted = 0;

  constructor(private readonly text: string) {}

  /** How a message about this position begins: `Line 3, column 7`. */
  of(at: number): string {
    const isAhead = at >= this.counted;
    const step = isAhead ? 1 : -1;
    const end = Math.max(at, this.counted);
    for (
      let i = this.text.indexOf('\n', Math.min(at, this.counted));
      i >= 0 && i < end;
      i = this.text.indexOf('\n', i + 1)
    ) {
      this.line += step;
    }
    this.counted = at;
    const start = at === 0 ? 0 : this.text.lastIndexOf('\n', at - 1) + 1;
    return `Line ${this.line}, column ${at - start + 1}`;
  }
}
