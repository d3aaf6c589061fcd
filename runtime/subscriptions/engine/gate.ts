/** Lets so many in at a time; those whose last attempt failed get at most half of the places. */
export class DeliveryGate {
  private active = 0;
  private failing = 0;
  private readonly waiting: { readonly isFailing: boolean; readonly enter: () => void }[] = [];

  constructor(private readonly places: number) {}

  /** Does some work once there is a place for it. */
  async run<T>(isFailing: boolean, work: () => Promise<T>): Promise<T> {
    if (!this.hasPlace(isFailing)) await new Promise<void>((enter) => this.waiting.push({ isFailing, enter }));
    else this.enter(isFailing);
    try {
      return await work();
    } finally {
      this.active--;
      if (isFailing) this.failing--;
      this.next();
    }
  }

  private hasPlace(isFailing: boolean): boolean {
    return this.active < this.places && (!isFailing || this.failing < Math.max(1, Math.floor(this.places / 2)));
  }

  private enter(isFailing: boolean): void {
    this.active++;
    if (isFailing) this.failing++;
  }

  private next(): void {
    const at = this.waiting.findIndex(({ isFailing }) => this.hasPlace(isFailing));
    const [next] = at < 0 ? [] : this.waiting.splice(at, 1);
    if (next === undefined) return;
    this.enter(next.isFailing);
    next.enter();
  }
}
