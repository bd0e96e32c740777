/** The styles of feedback. */

export const FEEDBACK_STYLE = `
.day-chart { display: block; width: 100%; height: 160px; margin: 12px 0; border-bottom: 1px solid var(--line); }
.day-chart .solid, .swatch.solid { fill: var(--accent); background: var(--accent); }
.day-chart .striped { fill: url(#striped-pattern); }
.day-chart .dotted { fill: url(#dotted-pattern); }
.day-chart .hollow, .pattern-ground { fill: var(--surface); }
.day-chart g > rect { stroke: var(--muted); stroke-width: 1; vector-effect: non-scaling-stroke; }
.pattern-stripe { stroke: var(--muted); stroke-width: 2; }
.pattern-dot { fill: var(--muted); }
.swatch.dotted { background: radial-gradient(var(--muted) 1px, var(--surface) 1.5px) 0 0 / 4px 4px; }
.swatch.hollow { background: var(--surface); }
.swatch.striped { background: repeating-linear-gradient(135deg, var(--surface) 0 3px, var(--muted) 3px 5px); }
.rejections { margin: 0; padding: 0; list-style: none; }
.rejections > li { padding: 16px 0; border-top: 1px solid var(--line); }
.rejections > li:first-child { border-top: 0; padding-top: 4px; }
.rejections h3, .rejections p { margin: 0 0 8px; }
.rejections .reply { overflow-wrap: anywhere; }
.rejections .finding { margin: 12px 0 0; padding-left: 12px; border-left: 3px solid var(--line); }
.chart-key { display: flex; flex-wrap: wrap; gap: 4px 16px; margin: 0 0 8px; padding: 0; list-style: none; }
.swatch { display: inline-block; width: 12px; height: 12px; border: 1px solid var(--muted); }
.pass-share { display: grid; grid-template-columns: minmax(48px, 96px) 44px; align-items: center; gap: 8px; }
@media (min-width: 641px) { .pass-share .basis { display: none; } }
@media (max-width: 640px) { .pass-share { grid-template-columns: 44px; gap: 2px; } }
.unbroken { white-space: nowrap; }
.source-name { display: inline-block; min-width: 88px; }
.steps { margin: 0; padding: 0; list-style: none; }
.steps > li { padding: 12px 0; border-top: 1px solid var(--line); }
.steps > li:first-child { border-top: 0; }
.steps p { margin: 4px 0 8px; }
.steps .stack { margin-top: 16px; }
.steps .dns-record + p { margin-top: 8px; }
.step-head { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 12px; }
.step-head h3 { margin: 0; }
.steps .record-done { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 8px; overflow-wrap: anywhere; }
.period { display: flex; flex-wrap: wrap; align-items: flex-end; gap: 8px 24px; }
@media (min-width: 641px) { .period .filters { flex-wrap: nowrap; } }
.period details > summary { min-height: 44px; align-content: center; color: var(--accent); font-size: 14px; cursor: pointer; }
form.dragging .drop-zone { outline: 2px dashed var(--accent); outline-offset: 8px; }
.upload-lines { margin: 0; padding: 0; list-style: none; }
.upload-lines > li { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 12px; min-height: 40px; padding: 6px 0; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
.upload-lines > li:first-child { border-top: 0; }
.upload-lines progress { flex: 0 1 160px; }
#import progress { width: 100%; margin: 0 0 12px; }
.about { display: block; min-width: 96px; }
.upload-name { flex: 0 1 240px; font-weight: 600; }
`;
