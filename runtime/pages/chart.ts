import { isObject, type JsonObject } from '../fhir/resource.js';
import { displayOf } from './display.js';
import { template } from './engine.js';

interface Point {
  readonly time: number;
  readonly date: string;
  readonly value: number;
}

interface ChartPage {
  readonly label: string;
  readonly unit: string;
  readonly line: string;
  readonly points: readonly { readonly x: string; readonly y: string; readonly text: string }[];
  readonly marks: readonly { readonly x: number; readonly y: number; readonly text: string; readonly side: string }[];
}

const render = template<ChartPage>('chart');

/** The area of the line, in units of the picture, and the room around it. */
const AREA = { width: 640, height: 220, left: 70, right: 20, top: 16, bottom: 34 };

/** Two points make no course. */
const FEWEST = 3;

/** More than a page of results has. */
const MOST = 1000;

/**
 * Measured values of the resources of one page over time: of those that have a quantity and when it was measured. Add each resource, then
 * draw: nothing is drawn unless all are about one code in one unit.
 */
export class Chart {
  private readonly points: Point[] = [];
  private readonly labels = new Set<string>();
  private readonly units = new Set<string>();

  add({ valueQuantity: quantity, effectiveDateTime, effectiveInstant, code }: JsonObject): void {
    const date = effectiveDateTime ?? effectiveInstant;
    if (!isObject(quantity) || typeof date !== 'string' || this.points.length === MOST) return;
    const [value, time] = [Number(displayOf(quantity['value']) || NaN), Date.parse(date)];
    if (!Number.isFinite(value) || !Number.isFinite(time)) return;
    this.points.push({ time, date, value });
    this.labels.add(displayOf(code));
    this.units.add(displayOf(quantity['unit'] ?? quantity['code']));
  }

  /** The picture; empty: there is no course to show. */
  draw(): string {
    if (this.points.length < FEWEST || this.labels.size > 1 || this.units.size > 1) return '';
    const points = [...this.points].sort((a, b) => a.time - b.time);
    const [first, last] = [points[0]!, points.at(-1)!];
    const values = points.map(({ value }) => value);
    const [low, high] = values.reduce(
      ([a, b], value) => [Math.min(a, value), Math.max(b, value)],
      [Infinity, -Infinity],
    );
    const { width, height, left, right, top, bottom } = AREA;
    const place = (at: number, from: number, to: number, start: number, size: number): number =>
      start + (to === from ? size / 2 : ((at - from) / (to - from)) * size);
    const xOf = ({ time }: Point): number => place(time, first.time, last.time, left, width - left - right);
    const yOf = (value: number): number => height - place(value, low, high, bottom, height - top - bottom);
    const [label = ''] = this.labels;
    const [unit = ''] = this.units;
    const placed = points.map((point) => ({
      x: xOf(point).toFixed(1),
      y: yOf(point.value).toFixed(1),
      text: `${point.date}: ${point.value} ${unit}`,
    }));
    const dayOf = ({ date }: Point): string => date.slice(0, 10);
    return render({
      ...{ label, unit, points: placed },
      line: placed.map(({ x, y }) => `${x},${y}`).join(' '),
      marks: [
        { x: left - 8, y: yOf(high) + 4, text: String(high), side: 'end' },
        ...(low === high ? [] : [{ x: left - 8, y: yOf(low) + 4, text: String(low), side: 'end' }]),
        { x: left, y: height - 10, text: dayOf(first), side: 'start' },
        { x: width - right, y: height - 10, text: dayOf(last), side: 'end' },
      ],
    });
  }
}
