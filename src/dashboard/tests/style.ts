/** The styles of the list of tests, of new tests, and of comparisons. */

const LIST = `
.selection-head { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 8px 16px; margin-bottom: 8px; }
.selection-head fieldset { align-items: center; border: 0; padding: 0; min-width: 0; }
.selected-count { min-width: 96px; }
.image-url { overflow-wrap: anywhere; }
.selection table { table-layout: fixed; }
.selection .select { width: 44px; }
.selection-head > p { display: flex; align-items: center; gap: 12px; }
.selection-head > p > a { display: flex; align-items: center; min-height: 36px; font-size: 14px; }
.selection th:nth-child(3) { width: 152px; }
.selection th:nth-child(4) { width: 264px; }
.selection th:nth-child(5) { width: 148px; }
.selection th:nth-child(6) { width: 128px; }
.selection th:nth-child(7) { width: 120px; }
.test-title { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden; overflow-wrap: anywhere; }
.auth-marks { display: inline-flex; flex-wrap: wrap; gap: 0 8px; }
.auth-marks .state { white-space: nowrap; }
.tags { display: flex; flex-wrap: wrap; align-items: center; gap: 4px; }
.tags .tag { max-width: 104px; overflow: hidden; text-overflow: ellipsis; }
/* The domain is that of the From address, below the name. */
@media (max-width: 1399px) { .selection :is(td, th):nth-child(5) { display: none; } }
/* The name needs the room, above all beside the navigation. */
@media (max-width: 1190px) {
  .selection :is(td, th):is(:nth-child(5), :nth-child(6)) { display: none; }
  .selection th:nth-child(3) { width: 128px; }
  .selection th:nth-child(4) { width: 144px; }
}
@media (max-width: 640px) {
  .selection-head { margin: 0; }
  .selection > .table { margin-top: 0; }
  .selection-head > p > a { min-height: 44px; }
  /* What can be done with selected tests is at the bottom, so that a selection moves nothing. */
  .selection:not(:has([name="id"]:checked)) .actions { display: none; }
  .selection-head .actions { position: fixed; inset: auto 0 0; z-index: 2; gap: 4px; padding: 8px 16px max(8px, env(safe-area-inset-bottom)); border-top: 1px solid var(--strong-line); background: var(--surface); }
  .selection-head .button { padding: 4px 8px; }
  .selected-count { flex-basis: 100%; }
  .compact .main .test-title { display: block; }
}
`;

const COMPARISON = `
.compared { display: grid; grid-template-columns: 1fr 1fr; gap: 16px; }
.compared > * { margin: 0; }
.compared h2 { overflow-wrap: anywhere; }
.compared-score { font-size: 28px; line-height: 1.25; }
.compared-verdict { font-size: 20px; font-weight: 600; }
.causes > li { display: flex; gap: 12px; padding: 6px 0; }
.causes > li > .state { flex: none; align-self: start; width: 92px; line-height: 24px; }
.difference { table-layout: fixed; font: 14px/1.5 var(--mono); }
.difference th { font-family: var(--sans); }
.difference .line { width: 44px; color: var(--muted); text-align: right; }
.difference :is(td, th) { padding: 2px 8px; border: 0; white-space: pre-wrap; overflow-wrap: anywhere; }
.difference .removed { background: var(--fail-soft); }
.difference .added { background: var(--pass-soft); }
.difference mark { color: inherit; background: none; font-weight: 700; text-decoration: underline; text-decoration-thickness: 2px; text-underline-offset: 3px; }
.compared-checks { table-layout: fixed; }
.compared-checks thead th:first-child { width: 20%; }
.compared-checks th.number { width: 80px; }
.compared-checks tbody th { text-align: left; font-weight: 600; vertical-align: top; }
.compared-checks td { vertical-align: top; }
.verdicts th, .verdicts td { overflow-wrap: normal; white-space: nowrap; padding-inline: 8px; }
.delta { color: var(--tone); font-weight: 600; }
.delta.muted { color: var(--muted); }
@media (max-width: 1279px) {
  .verdicts .wide { display: none; }
  .verdicts td, .verdicts .state { white-space: normal; }
}
@media (max-width: 640px) {
  .difference, .difference tbody { display: block; }
  .difference thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .difference tr { display: grid; grid-template-columns: 44px minmax(0, 1fr); padding: 2px 0; }
  .difference .both > :nth-child(n+3), .difference .none { display: none; }
  .causes > li { gap: 8px; }
  .causes > li > .state { width: auto; }
  .compared { gap: 8px; }
  .compared .panel { padding: 12px; }
  .compared-checks thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .compared-checks tr { display: grid; grid-template-columns: 1fr 1fr; padding: 8px 0; }
  .compared-checks.with-points tr { grid-template-columns: 1fr 1fr 52px; }
  .compared-checks tbody th { grid-column: 1 / -1; width: auto; }
  .compared-checks :is(td, tbody th) { padding: 2px 8px; border: 0; }
  .compared-checks tbody tr { border-bottom: 1px solid var(--line); }
}
`;

export const TESTS_STYLE = LIST + COMPARISON;
