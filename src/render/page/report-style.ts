/** The style of the report's upper half: layout, verdict, findings, evidence, ledger. */

export const REPORT_STYLE = `
.with-aside { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0 40px; }
.contents { display: none; }
main { padding: 24px 0; outline: none; }
.section { margin-top: 40px; }
.section > h2 { margin-bottom: 4px; }
.section > .note { margin-bottom: 12px; font-size: 14px; }
.section > h2 + :not(.note) { margin-top: 12px; }
.padded { padding: 16px; }
@media (min-width: 1080px) {
  .with-aside { grid-template-columns: 184px minmax(0, 1fr); }
  .contents { display: block; position: sticky; top: 0; align-self: start; padding-top: 32px; font-size: 14px; }
  .contents a { display: block; padding: 4px 12px; border-left: 2px solid var(--line); color: var(--muted); text-decoration: none; }
  .contents a:hover { color: var(--accent); border-color: var(--accent); }
}

.verdict { display: grid; grid-template: "ring said" auto "ring auth" auto / 128px minmax(0, 1fr); gap: 8px 24px; align-items: center; padding: 24px; }
.verdict .ring { grid-area: ring; }
.verdict .said { grid-area: said; }
.verdict .auth { grid-area: auth; align-self: start; }
.verdict .said > * + * { margin-top: 8px; }
.ring { width: 128px; height: 128px; }
.ring circle { fill: none; stroke-width: 10; }
.ring .track { stroke: var(--line); }
.ring .track.empty { stroke-dasharray: 6 6; }
.ring .arc { stroke: var(--tone); }
.ring .held { stroke: var(--tone); opacity: 0.28; }
.ring text { text-anchor: middle; fill: var(--ink); font-family: var(--sans); }
.ring .score { font-size: 28px; font-weight: 700; font-variant-numeric: tabular-nums; }
.ring.unknown .score { font-size: 16px; }
.ring .grade { font-size: 14px; font-weight: 650; fill: var(--tone); }
.auth { display: flex; flex-wrap: wrap; gap: 4px 20px; font-size: 14px; }
.auth li { display: flex; align-items: baseline; gap: 6px; }
.tested { grid-column: 1 / -1; margin-top: 16px; padding-top: 16px; border-top: 1px solid var(--line); display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: 8px 24px; font-size: 14px; }
.verdict .tested > div { display: block; }
.tested dd { overflow-wrap: anywhere; }

.facts > div { display: grid; grid-template-columns: minmax(96px, 160px) minmax(0, 1fr); gap: 0 16px; align-items: baseline; padding: 1px 0; }
.facts dt { color: var(--muted); font-size: 14px; line-height: 24px; }
.facts dd { min-width: 0; font-size: 14px; }
.facts .facts { border-left: 2px solid var(--line); padding-left: 12px; }
.values > li + li { margin-top: 4px; }
.values > .nested { padding: 4px 0; border-top: 1px solid var(--line); }
.values > .nested:first-child { border-top: 0; }
.compact th, .compact td { padding: 6px 12px 6px 0; min-width: 72px; }

.cap { display: flex; gap: 8px; max-width: none; margin: 12px 0; padding: 12px 16px; border: 1px solid var(--tone); border-radius: 8px; background: var(--fail-soft); }
.cap .icon { margin-top: 4px; color: var(--tone); }
.findings > * + *, .more > * { border-top: 1px solid var(--line); }
.more > summary { border-top: 0; }
.finding > summary, .more > summary { display: flex; align-items: center; gap: 12px; padding: 12px 16px; }
.finding > summary:hover, .more > summary:hover, .fold > summary:hover { background: var(--sunken); }
.finding h3 { flex: 1 1 auto; min-width: 0; font-weight: 600; text-wrap: wrap; }
.gain { flex: none; width: 64px; font-size: 20px; line-height: 24px; font-weight: 700; color: var(--accent); }
.gain.none { font-weight: 400; color: var(--muted); }
.where { flex: none; display: flex; align-items: center; gap: 12px; color: var(--muted); font-size: 14px; }
.more > summary { color: var(--accent); }
.opened { display: grid; gap: 16px; padding: 4px 16px 20px 44px; }
.block > h4 { margin-bottom: 4px; font-size: 14px; color: var(--muted); }
.block p + p { margin-top: 4px; font-size: 14px; }
.remedy { padding: 12px 16px; border-radius: 8px; border: 1px solid var(--line); border-left: 4px solid var(--accent); background: var(--accent-soft); }
.remedy > h4 { color: var(--accent); }
.record { margin-top: 12px; padding: 4px 12px; border: 1px solid var(--line); border-radius: 8px; background: var(--surface); }
.record > div { display: grid; grid-template-columns: 56px minmax(0, 1fr); gap: 8px; padding: 8px 0; }
.record > div + div { border-top: 1px solid var(--line); }
.record dt { color: var(--muted); font-size: 14px; line-height: 24px; }

.meter { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 12px; }
.meter > :first-child { flex: none; width: 136px; }
.meter .number { min-width: 48px; font-weight: 400; }
.meter > :last-child:not(.number) { font-weight: 400; }
.bar-of { flex: 1 1 0; width: 48px; min-width: 48px; max-width: 200px; height: 8px; border-radius: 4px; overflow: hidden; }
.bar-of .track { fill: var(--line); }
.bar-of .fill { fill: var(--tone); }
.ledger tbody tr:last-child > * { border-bottom: 1px solid var(--line); }
tfoot th, tfoot td { border-bottom: 0; }
tfoot .total > * { border-top: 2px solid var(--ink); font-weight: 700; font-size: 16px; }
.group th { padding-top: 16px; color: var(--muted); }
.compact tbody th { font-weight: 400; }

@media (max-width: 640px) {
  .verdict { grid-template: "ring auth" auto "said said" auto / 88px minmax(0, 1fr); gap: 16px; padding: 16px; }
  .verdict .auth { flex-direction: column; align-self: center; }
  .auth li > :first-child { width: 56px; }
  .ring { width: 88px; height: 88px; }
  .ring .score { font-size: 40px; }
  .ring.unknown .score { font-size: 22px; }
  .ring .grade { font-size: 17px; }
  .tested { grid-template-columns: minmax(0, 1fr); gap: 4px; margin-top: 0; }
  .verdict .tested > div { display: grid; grid-template-columns: 80px minmax(0, 1fr); }
  .facts > div { grid-template-columns: 96px minmax(0, 1fr); gap: 0 12px; }
  .finding > summary { flex-wrap: wrap; gap: 4px 8px; padding: 12px; }
  .finding > summary > .chevron { order: 1; }
  .finding > summary > h3 { order: 3; flex-basis: 100%; }
  .where { order: 2; margin-left: auto; gap: 8px; }
  .gain { width: auto; }
  .meter > svg, .meter > .number { display: none; }
  .meter > :first-child { width: auto; }
  .record > div { grid-template-columns: 44px minmax(0, 1fr); }
  .copyable { flex-direction: column; gap: 4px; }
  .opened { padding: 4px 12px 16px; }
}
@media print {
  .contents { display: none; }
  .with-aside { display: block; }
  main { padding: 0; }
  .section { margin-top: 24px; }
  .remedy, .cap, .record, .box { background: #fff; }
  .opened { padding-left: 16px; }
}
`;
