/** Styles of the page of a test: while it waits, and around its report. */

export const TEST_STYLE = `
.test-progress > * + * { margin-top: 24px; }
@media (min-width: 1080px) {
  .test-progress { display: grid; grid-template-columns: minmax(0, 1fr) 320px; gap: 24px; align-items: start; }
  .test-progress > * { grid-column: 1; margin: 0; }
  .test-progress > #progress-card { grid-column: 2; grid-row: 1 / span 2; }
  .test-progress > #help:first-child { grid-row: 1; }
}
.test-address { padding: 16px; border: 1px solid var(--line); border-radius: 8px; background: var(--sunken); }
.test-address .copyable { flex-wrap: wrap; align-items: center; }
.test-address code { font-size: 20px; font-weight: 600; user-select: all; }
.test-address .copy { min-height: 36px; padding: 0 16px; border-color: var(--accent); background: var(--accent); color: var(--page); font-weight: 600; }
.seed-addresses code { overflow-wrap: anywhere; user-select: all; }
.checklist > li { position: relative; display: flex; gap: 12px; padding: 6px 0; }
.checklist > li:not(:last-child)::after { content: ""; position: absolute; left: 9px; top: 33px; bottom: -5px; border-left: 2px solid var(--line); }
.checklist > li > div { min-width: 0; }
.checklist > li > .icon { width: 20px; height: 20px; margin-top: 2px; }
.checklist .icon:is(.waiting, .unset, .unknown) { color: var(--unknown); }
.checklist > .step-waiting > .icon { color: var(--accent); animation: pulse 1.6s ease-in-out infinite; }
.checklist > .step-waiting p:first-child { font-weight: 600; }
.checklist > .step-unset p:first-child { color: var(--muted); }
@keyframes pulse { 50% { opacity: 0.35; } }
@media (prefers-reduced-motion: reduce) { .checklist .icon { animation: none !important; } }
.usual-reasons > li + li { margin-top: 16px; }
.usual-reasons h3 { margin-bottom: 4px; }
.usual-reasons p { font-size: 14px; }
#help:empty { display: none; }
.script .no-script { display: none; }
@media (max-width: 640px) { .test-address code { font-size: 16px; flex-basis: 100%; } .test-address .copy { min-height: 44px; } }
`;

export const TEST_REPORT_STYLE = `
.app main:has(.report-head) { padding-top: 8px; }
.report-head { margin-bottom: 8px; }
.report-head > * + * { margin-top: 8px; }
.report-head .breadcrumbs { margin: 0 12px 0 0; }
@media screen { .report-head .breadcrumbs { display: inline-block; } }
.report-head > .page-head { margin-bottom: 0; }
.report-head > .breadcrumbs ~ .small { display: inline; margin-left: 12px; }
.test-name { display: inline; font-size: 20px; line-height: 1.4; font-weight: 650; max-width: none; overflow-wrap: anywhere; }
.delta { color: var(--tone); font-weight: 600; font-variant-numeric: tabular-nums; }
.delta.muted { color: var(--muted); }
.test-history .table { border: 1px solid var(--line); border-radius: 8px; background: var(--surface); }
.test-history tbody tr:last-child td { border-bottom: 0; }
.test-history form > * + * { margin-top: 12px; }
.test-history input { display: block; width: 18px; height: 18px; margin: 3px 0 0; accent-color: var(--accent); }
.history-rows th:nth-child(-n+2) { width: 64px; }
.history-rows .row-note { display: block; color: var(--muted); }
.history-rows :is(.score, time) { white-space: nowrap; }
.history-rows .score { font-weight: 650; font-variant-numeric: tabular-nums; color: var(--tone); }
.history-rows .score .grade { margin-left: 6px; padding: 0 6px; border-radius: 8px; background: var(--soft); }
.history-chart { max-width: 640px; margin: 12px 0 16px; }
.app .contents { top: 0; }
@media (max-width: 1439px) { .app .with-aside { grid-template-columns: minmax(0, 1fr); } .app .contents { display: none; } }
@media (max-width: 640px) { .app main:has(.report-head) { padding-top: 8px; } .report-head .test-name { font-size: 16px; } .toolbar { flex-wrap: nowrap; overflow-x: auto; padding: 4px 16px; margin: 8px -16px 0; scrollbar-width: thin; } .toolbar > * { flex: none; }
  .history-rows tr { display: grid; grid-template: "a b t t" "a b s c" / 60px 60px auto 1fr; border-bottom: 1px solid var(--line); }
  .history-rows tr:last-child { border-bottom: 0; }
  .history-rows :is(th, td) { padding: 6px 8px; border-bottom: 0; }
  .history-rows :is(th, td):nth-child(1) { grid-area: a; width: auto; }
  .history-rows :is(th, td):nth-child(2) { grid-area: b; width: auto; }
  .history-rows td:nth-child(3) { grid-area: t; }
  .history-rows td:nth-child(4) { grid-area: s; }
  .history-rows td:nth-child(5) { grid-area: c; }
  .history-rows :is(.with-this, th:nth-child(n+3)) { display: none; }
  .history-chart svg { font-size: 11px; }
}
`;
