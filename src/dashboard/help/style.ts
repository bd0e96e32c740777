/** The style of the chapters of the help. */

export const HELP_STYLE = `
.chapter { max-width: 880px; }
.chapter > * + *, .chapter li > * + * { margin-top: 12px; }
.chapter h2 { margin-top: 32px; }
.chapter h3 { margin-top: 24px; }
.chapter :is(h2, h3) { scroll-margin-top: 16px; }
.chapter :is(ul, ol) { padding-left: 24px; }
.chapter ul { list-style: disc; }
.chapter ol { list-style: decimal; }
.chapter li { max-width: 72ch; }
.chapter li + li { margin-top: 4px; }
.chapter details ul { padding-left: 24px; columns: 2 280px; }
.chapter details li { margin-top: 0; padding: 2px 0; }
.chapter summary { display: flex; align-items: center; gap: 8px; }
.chapter td, .chapter td code { overflow-wrap: break-word; }
@media (max-width: 640px) { .chapter :is(th, td) { min-width: 92px; padding: 8px; } }
`;
