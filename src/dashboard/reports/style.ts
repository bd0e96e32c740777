/** The styles of the summary, shared links, and schedules. */

export const REPORTS_STYLE = `
.fields.panel > * + * { margin-top: 20px; }
.choices { margin-top: 4px; border: 1px solid var(--line); border-radius: 8px; }
.choices > .check { padding: 8px 12px; border-top: 1px solid var(--line); }
.choices > .check:first-child { border-top: 0; }
.brand-logo { max-width: 240px; max-height: 40px; background: #fff; }
.choice-text { flex: 1 1 auto; min-width: 0; }
.runs > li { padding: 12px 0; border-top: 1px solid var(--line); }
.runs > li:first-child { border-top: 0; padding-top: 0; }
.report-run-head { display: flex; flex-wrap: wrap; align-items: baseline; gap: 4px 16px; }
.copies > li { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 16px; padding: 4px 0; }
.copies > li > p { flex-basis: 100%; }
.schedule-form:has(#frequency option:not([value="weekly"]):checked) .for-weekly,
.schedule-form:has(#frequency option:not([value="monthly"]):checked) .for-monthly,
.schedule-form:has(#audience option[value="client"]:checked) .for-one,
.schedule-form:has(#audience option[value="one"]:checked) .for-clients { display: none; }
`;
