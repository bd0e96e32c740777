/** The styles of what receivers publish. */

export const RECEIVERS_STYLE = `
.gmail-part { padding-top: 20px; border-top: 1px solid var(--line); }
.gmail-part > * + * { margin-top: 8px; }
.page .panel > .gmail-part { margin-top: 20px; }
.rate-figure { font-size: 28px; font-weight: 650; line-height: 1.25; font-variant-numeric: tabular-nums; color: var(--tone, var(--ink)); }
.spark-cell { width: 40%; }
.stacked-title { display: none; }
@media (max-width: 640px) {
  .stacking thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .stacking :is(table, tbody, tr, td:not(.wide)) { display: block; }
  .stacking tbody tr { padding: 8px 0; border-bottom: 1px solid var(--line); }
  .stacking td { padding: 4px 0; border: 0; text-align: left; }
  .stacked-title { display: inline; color: var(--muted); font-size: 14px; }
  .stacking tbody tr:last-child { border-bottom: 0; }
  .stacking td.number > .small { display: inline; margin-left: 4px; }
  .pass-rates :is(th, td) { padding-inline: 4px; white-space: normal; }
}
.account-domains td:first-child { min-width: 120px; }
.day-table td, .day-table th { font-variant-numeric: tabular-nums; white-space: nowrap; }
`;
