/** How high a score or share is: a color and a number of filled steps, so that no two levels differ only by color. */

/** The levels of the grades F to A. */
export type Level = 1 | 2 | 3 | 4 | 5;

/** The percentages at which the levels begin, as the grades of `analysis/grade.ts` do. */
export const GRADE_STARTS = [
  ['A', 90],
  ['B', 80],
  ['C', 70],
  ['D', 55],
  ['F', 0],
] as const;

/** The level of a percentage, or of a score. */
export const levelOf = (percent: number): Level =>
  Math.max(1, GRADE_STARTS.filter(([, start]) => percent >= start).length) as Level;

/** The class that gives an element the colors of a level; gray for what is unknown. */
export const levelClass = (percent: number | null): string =>
  percent === null ? 'unknown' : `level-${levelOf(percent)}`;

const STEP = { width: 3, gap: 1, height: 12 };
const ALL: Level[] = [1, 2, 3, 4, 5];

/** Bars that rise, as many of them filled as the level is high. The text beside them says the same. */
export function Steps({ percent }: { percent: number }) {
  const level = levelOf(percent);
  const width = ALL.length * (STEP.width + STEP.gap);
  return (
    <svg class="level-bars" viewBox={`0 0 ${width} ${STEP.height}`} aria-hidden="true">
      {ALL.map((step) => {
        const height = 2 + 2 * step;
        return (
          <rect
            key={step}
            class={step <= level ? 'fill' : 'track'}
            x={(step - 1) * (STEP.width + STEP.gap)}
            y={STEP.height - height}
            width={STEP.width}
            height={height}
          />
        );
      })}
    </svg>
  );
}

export const LEVEL_STYLE = `
.level-5 { --tone: var(--pass); --soft: var(--pass-soft); }
.level-4 { --tone: light-dark(#3f6212, #bedc6c); --soft: light-dark(#eef5dc, #22290f); }
.level-3 { --tone: var(--warn); --soft: var(--warn-soft); }
.level-2 { --tone: light-dark(#9a3412, #ffb08a); --soft: light-dark(#fdeadf, #352014); }
.level-1 { --tone: var(--fail); --soft: var(--fail-soft); }
.level-bars { flex: none; width: 20px; height: 12px; vertical-align: -1px; }
.level-bars .fill { fill: var(--tone); }
.level-bars .track { fill: var(--line); }
`;
