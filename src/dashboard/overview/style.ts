/** The styles of the overview, and of the figures that the page of reports shares with it. */

export const OVERVIEW_STYLE = `
.first-test { display: grid; justify-items: start; gap: 16px; padding: 16px 0; }
.button.large { min-height: 56px !important; padding: 0 28px; font-size: 20px; }
.all-fine { display: flex; flex-wrap: wrap; align-items: baseline; gap: 4px 16px; padding: 12px 24px; }
.page .all-fine > * { margin: 0; }
.all-fine .state { font-size: 16px; }
.problems > li { display: grid; grid-template-columns: 132px minmax(0, 1fr) auto; align-items: baseline; gap: 4px 16px; padding: 8px 0; border-top: 1px solid var(--line); }
.problems > li:first-child { border-top: 0; }
.problems a { color: var(--ink); }
.problems .first-step { color: var(--accent); }
.changes .state { white-space: normal; }
.changes > li { grid-template-columns: 232px minmax(0, 1fr) auto; }
.page .problems p { margin: 2px 0 0; max-width: 88ch; }
.next-steps > li { display: flex; align-items: center; justify-content: space-between; gap: 8px 24px; padding: 12px 0; border-top: 1px solid var(--line); }
.next-steps > li:first-child { border-top: 0; padding-top: 0; }
.next-steps > li:last-child { padding-bottom: 0; }
.next-steps .button { flex: none; }
.going > * + * { margin-top: 16px; }
.page .going { margin-top: 32px; }
.scope { display: flex; flex-wrap: wrap; align-items: flex-end; gap: 8px 16px; }
.segments { display: inline-flex; border: 1px solid var(--strong-line); border-radius: 8px; background: var(--surface); font-size: 14px; }
.segments a { display: inline-flex; align-items: center; min-height: 34px; padding: 0 12px; color: var(--ink); text-decoration: none; }
.segments a + a { border-left: 1px solid var(--line); }
.segments a:hover { background: var(--sunken); }
.segments a:first-child { border-radius: 7px 0 0 7px; }
.segments a:last-child { border-radius: 0 7px 7px 0; }
.segments a[aria-current] { background: var(--accent-soft); color: var(--accent); font-weight: 600; }
.key-figures .tile .note { margin-top: 4px; color: var(--muted); font-size: 14px; font-weight: 400; line-height: 1.5; }
.score-figure { color: var(--tone); }
.score-figure .grade { padding: 0 8px; border-radius: 8px; background: var(--soft); font-size: 20px; }
.main-and-side { display: grid; grid-template-columns: minmax(0, 2fr) minmax(280px, 1fr); gap: 16px; align-items: stretch; }
.main-and-side > *, .side-cards > * { margin: 0; }
.main-and-side > :only-child { grid-column: 1 / -1; }
.halves { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 320px), 1fr)); gap: 16px; }
.halves > * { margin: 0; }
.side-cards { display: grid; gap: 16px; align-content: start; }
.no-data { padding: 24px 0; }
.figures-table td, .figures-table th { padding: 4px 12px 4px 0; }
.figures-table tbody th { font-weight: 400; white-space: nowrap; }
.rates > div { display: grid; grid-template-columns: 64px minmax(0, 1fr); gap: 8px; padding: 6px 0; }
.rates dt, .rates dd > * { line-height: 24px; }
.rates dt { font-size: 14px; font-weight: 600; }
.rates dd { display: grid; grid-template-columns: minmax(40px, 1fr) 44px; align-items: center; gap: 0 12px; }
.rates .rate { color: var(--tone); font-size: 14px; font-weight: 650; text-align: right; font-variant-numeric: tabular-nums; }
.rates .basis { grid-column: 1 / -1; }
.grades > div { grid-template-columns: 48px minmax(0, 1fr); padding: 0; }
.share-bar { display: block; overflow: hidden; border-radius: 4px; }
.share-bar .track { fill: var(--line); }
.share-bar .fill { fill: var(--tone); }
.issues > li { display: grid; grid-template-columns: minmax(0, 1fr) auto 108px; align-items: baseline; gap: 0 16px; padding: 8px 0; border-top: 1px solid var(--line); }
.issues > li:first-child { border-top: 0; }
.issues > li > :nth-child(2) { text-align: right; font-variant-numeric: tabular-nums; }
.counts > li { display: flex; align-items: baseline; justify-content: space-between; gap: 16px; padding: 8px 0; border-top: 1px solid var(--line); }
.counts > li:first-child { border-top: 0; }
.counts .number { font-weight: 650; }
#latest-tests table { table-layout: fixed; }
#latest-tests th:nth-child(2) { width: 168px; }
#latest-tests th:nth-child(3) { width: 264px; }
#latest-tests th:nth-child(4) { width: 128px; }
@media (max-width: 800px) { #latest-tests th:nth-child(2) { width: 128px; } #latest-tests th:nth-child(3) { width: 144px; } }
.clip { display: block; overflow: hidden; max-width: 420px; text-overflow: ellipsis; white-space: nowrap; }
.placement-providers > li { display: grid; grid-template-columns: minmax(180px, 1fr) minmax(0, 3fr); gap: 8px 24px; align-items: center; padding: 12px 0; border-top: 1px solid var(--line); }
.placement-providers > li:first-child { border-top: 0; }
.placement-providers h3, .placement-providers p { margin: 0; }
@media (max-width: 960px) { .main-and-side { grid-template-columns: minmax(0, 1fr); } }
@media (max-width: 640px) {
  .problems > li, .changes > li { grid-template-columns: minmax(0, 1fr) auto; }
  .problems > li > div { grid-column: 1 / -1; grid-row: 2; }
  .next-steps > li { flex-wrap: wrap; }
  .next-steps .button { width: 100%; justify-content: center; }
  .button.large { width: 100%; justify-content: center; }
  .first-test > form { width: 100%; }
  .scope, .segments { width: 100%; }
  .segments a { flex: 1; justify-content: center; min-height: 44px; }
  .issues > li { grid-template-columns: minmax(0, 1fr) auto; }
  .issues > li > .issue-title { grid-column: 1 / -1; }
  .issues > li > :nth-child(2) { text-align: left; }
  .placement-providers > li { grid-template-columns: minmax(0, 1fr); }
  #latest-tests th:nth-child(2) { width: 116px; }
  #latest-tests .state { white-space: normal; }
  .clip { max-width: 52vw; }
}
@media print {
  .main-and-side { display: block; }
  .main-and-side > * + * { margin-top: 16px; }
  .side-cards, .halves { grid-template-columns: 1fr 1fr; align-items: stretch; }
  .side-cards > :only-child { grid-column: 1 / -1; }
  #trend { break-inside: auto !important; }
  #trend > :is(.chart, p) { break-inside: avoid; }
  #latest-tests table { table-layout: auto; }
  #latest-tests th { width: auto !important; }
  .main-and-side .panel, .halves .panel, .tile { break-inside: avoid; }
  .fold:has(> div > .figures-table) > summary { display: none; }
}
`;
