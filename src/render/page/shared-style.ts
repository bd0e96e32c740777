/** The style of what a shared report has beyond one alone: its head, the overview, folded reports. */

export const SHARED_STYLE = `
.share-head { margin-bottom: 20px; }
.share-head > * + * { margin-top: 4px; }
.share-title { font-size: 20px; line-height: 1.4; font-weight: 650; overflow-wrap: anywhere; }

.mini .ring { display: block; width: 48px; height: 48px; }
.mini .ring circle { stroke-width: 13; }
.mini .ring .score { font-size: 42px; transform: translateY(12px); }
.mini .ring.unknown .score, .mini .ring .grade { display: none; }
.grade-badge { min-width: 28px; padding: 0 8px; justify-content: center; }

.scores { padding: 16px; margin-bottom: 16px; }
.scores figcaption { font-weight: 600; margin-bottom: 8px; }

.tests th[scope="row"] { font-weight: 400; }
.tests th[scope="row"] a { display: block; font-size: 16px; font-weight: 600; }
.tests td, .tests tbody th { padding: 12px; vertical-align: middle; }
.scored { white-space: nowrap; }
.scored > * { display: inline-flex; vertical-align: middle; }
.scored > .grade-badge { margin-left: 8px; }
.when { font-variant-numeric: tabular-nums; }

.one { margin-top: 16px; }
section + .one { margin-top: 40px; }
.one > summary { display: flex; align-items: center; gap: 12px; padding: 12px 16px; }
.one > summary:hover { border-color: var(--strong-line); }
.one > summary > h2 { flex: 0 1 auto; min-width: 0; }
.one > summary > .grade-badge { margin-left: auto; }
.one-report { padding: 16px 0 24px; scroll-margin-top: 96px; }
.back { margin-top: 24px; }
@media (min-width: 1080px) {
  .test-list { max-height: 100vh; overflow-y: auto; padding-bottom: 24px; }
}

@media (min-width: 641px) {
  .tests th[scope="row"] { width: 30%; }
  .scored { width: 1px; }
  .when { width: 120px; }
}
@media (max-width: 640px) {
  .tests, .tests tbody { display: block; }
  .tests thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .tests tr { display: grid; grid-template-columns: 60px minmax(0, 1fr); gap: 4px 12px; padding: 16px; border-bottom: 1px solid var(--line); }
  .tests tbody > tr:last-child { border-bottom: 0; }
  .tests tr > td, .tests tr > th { padding: 0; border: 0; grid-column: 2; }
  .tests tr > .scored { grid-column: 1; grid-row: 1 / span 3; align-self: start; display: flex; flex-direction: column; align-items: flex-start; gap: 8px; }
  .scored > .grade-badge { margin-left: 0; width: 48px; }
  .one > summary { flex-wrap: wrap; gap: 4px 12px; padding: 12px; }
  .one > summary > h2 { flex: 1 1 50%; font-size: 16px; }
  .one > summary > .from-domain { order: 1; flex-basis: 100%; padding-left: 28px; }
}

@media print {
  .one { break-before: page; }
  .one > summary { border: 0; padding: 0 0 12px; }
  .tests tr, .scores { break-inside: avoid; }
}
`;
