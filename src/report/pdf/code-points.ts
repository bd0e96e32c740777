/** Sets of code points in a compact text form: `first.more`, each relative to the range before it, in base 36. */

/** Pairs of the first and the last code point of each range, in order. */
export type CodePoints = Uint32Array;

/** `codePoints` must be in order, without repetition. */
export function encodeCodePoints(codePoints: number[]): string {
  const ranges: string[] = [];
  let previous = 0;
  for (let index = 0; index < codePoints.length; index++) {
    const first = codePoints[index]!;
    while (codePoints[index + 1] === codePoints[index]! + 1) index++;
    const more = codePoints[index]! - first;
    const distance = (first - previous).toString(36);
    ranges.push(more === 0 ? distance : `${distance}.${more.toString(36)}`);
    previous = codePoints[index]!;
  }
  return ranges.join(' ');
}

export function decodeCodePoints(text: string): CodePoints {
  let previous = 0;
  return Uint32Array.from(
    text.split(' ').flatMap((range) => {
      const [distance, more = '0'] = range.split('.');
      const first = previous + Number.parseInt(distance!, 36);
      previous = first + Number.parseInt(more, 36);
      return [first, previous];
    }),
  );
}

export function includesCodePoint(ranges: CodePoints, codePoint: number): boolean {
  let [low, high] = [0, ranges.length / 2 - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (codePoint < ranges[2 * middle]!) high = middle - 1;
    else if (codePoint > ranges[2 * middle + 1]!) low = middle + 1;
    else return true;
  }
  return false;
}
