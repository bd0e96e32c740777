/** The style of the report's lower half: authentication, providers, path, message, everything else. */

export const SECTIONS_STYLE = `
.identifiers tbody th { white-space: nowrap; }
.identifiers .outcome > * { border-top: 2px solid var(--line); background: var(--sunken); }
.lane { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 0; }
.lane code { padding: 2px 8px; border: 1px solid var(--line); border-radius: 8px; background: var(--sunken); }
.joint { display: inline-flex; align-items: center; gap: 8px; color: var(--tone); }
.joint::before, .joint::after { content: ""; width: 24px; border-top: 2px solid var(--tone); }
.lane.fail .joint::before, .lane.fail .joint::after, .lane.unknown .joint::before, .lane.unknown .joint::after { border-top-style: dashed; }

.cards { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 16px; }
.provider { padding: 16px; display: flex; flex-direction: column; gap: 8px; }
.provider header { display: flex; align-items: center; justify-content: space-between; gap: 8px; }
.provider > p:last-child { margin-top: auto; }
.provider .plain > summary { min-height: 32px; }
.rules > li { display: grid; grid-template-columns: 92px minmax(0, 1fr); gap: 8px; padding: 8px 0; border-top: 1px solid var(--line); }
.rules > li > .state { align-self: start; }

.hops { padding: 8px 16px 16px; }
.hops > li { position: relative; padding: 12px 0 0 28px; }
.hops > li::before { content: ""; position: absolute; left: 4px; top: 19px; width: 9px; height: 9px; border: 2px solid var(--accent); border-radius: 50%; background: var(--surface); }
.hops > li:not(:last-child)::after { content: ""; position: absolute; left: 8px; top: 30px; bottom: -17px; border-left: 2px solid var(--line); }
.hops .facts { margin-top: 8px; }

.fold > summary { display: flex; align-items: center; gap: 12px; padding: 12px 16px; border-radius: 8px; }
.fold h3 { flex: 0 1 auto; }
.fold > summary > .muted { white-space: nowrap; }
.folded { padding: 4px 16px 16px; }
.as-seen figcaption { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 4px 16px; padding: 12px 16px; }
.as-seen figcaption p { flex-basis: 100%; }
.widths { border: 0; display: flex; gap: 16px; font-size: 14px; }
.widths label { display: inline-flex; align-items: center; gap: 4px; }
.widths input { accent-color: var(--accent); width: 16px; height: 16px; margin: 0; }
.as-seen iframe { display: block; width: 100%; height: 560px; margin: 0 auto; border: 0; border-top: 1px solid var(--line); border-radius: 0 0 8px 8px; background: #fff; color-scheme: light; }
.as-seen:has(#narrow:checked) iframe { width: 390px; max-width: 100%; border: 1px solid var(--line); border-radius: 8px; margin-bottom: 16px; }
.long { max-height: 400px; overflow: auto; }
.headers dt { font-family: var(--mono); }
.headers > div + div { border-top: 1px solid var(--line); }
.entries > li { padding: 12px 0; border-top: 1px solid var(--line); }
.entries > li:first-child { border-top: 0; padding-top: 0; }
.entries > li > * + * { margin-top: 4px; }
.entry-head { display: flex; flex-wrap: wrap; gap: 0 16px; align-items: center; }
.plain > summary { display: inline-flex; align-items: center; gap: 4px; color: var(--accent); }
.plain > summary > .state { white-space: normal; }
.plain-inner { padding: 4px 0 4px 20px; }

@media (max-width: 640px) {
  .cards { grid-template-columns: minmax(0, 1fr); }
  .identifiers, .identifiers tbody, .identifiers tr, .identifiers td, .identifiers tbody th { display: block; }
  .identifiers thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .identifiers tr { padding: 8px; border-bottom: 1px solid var(--line); }
  .identifiers tbody tr > * { border: 0; padding: 4px; }
  .identifiers .outcome > * { border: 0; background: none; }
  .lane { flex-direction: column; align-items: flex-start; }
  .joint { padding-left: 8px; }
  .joint::before { width: 0; height: 20px; border-top: 0; border-left: 2px solid var(--tone); }
  .lane.fail .joint::before, .lane.unknown .joint::before { border-left-style: dashed; }
  .joint::after { display: none; }
  .widths { display: none; }
}
@media print {
  .long { max-height: none; overflow: visible; }
  .as-seen iframe { height: 480px; }
  .provider, .hops > li, .entries > li { break-inside: avoid; }
}
`;
