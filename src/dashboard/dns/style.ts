/** The styles of the pages about DNS changes. */

export const DNS_STYLE = `
.record-diff ul { margin-top: 8px; border: 1px solid var(--line); border-radius: 8px; background: var(--sunken); overflow: hidden; }
.record-diff li { display: grid; grid-template-columns: 16px minmax(0, 1fr); gap: 8px; padding: 6px 12px; }
.record-diff li.none { display: block; }
.planned .proposed { overflow-wrap: anywhere; }
.record-diff li + li { border-top: 1px solid var(--line); }
.record-diff code { background: none; overflow-wrap: anywhere; }
.record-diff .removed > :first-child { color: var(--fail); }
.record-diff .added > :first-child { color: var(--pass); }
.record-diff .removed { border-left: 4px solid var(--fail); }
.record-diff .added { border-left: 4px solid var(--pass); }
.record-diff .kept { border-left: 4px solid transparent; color: var(--muted); }
.record-copies { display: flex; flex-wrap: wrap; gap: 4px 20px; }
.record-copies > [open] { flex-basis: 100%; min-width: 0; }
.record-copies code { white-space: pre-wrap; overflow-wrap: anywhere; }
.planned { display: grid; grid-template-columns: minmax(0, 1fr); gap: 12px; }
.planned + .planned { padding-top: 20px; border-top: 1px solid var(--line); }
`;
