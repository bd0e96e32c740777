/** Styles of the pages of domains and monitors. */

export const DOMAINS_STYLE = `
.add-domain-row { display: grid; grid-template-columns: minmax(0, 480px) auto; justify-content: start; align-items: end; gap: 12px; }
.page .add-domain-row .button { min-height: 44px; }
.state-title { display: flex; align-items: center; gap: 8px; }
.state-title .icon { width: 20px; height: 20px; color: var(--tone, var(--unknown)); }
.panel:has(> .fold) { padding-block: 12px; }
.tight-facts .facts { grid-template-columns: repeat(auto-fit, minmax(min(100%, 150px), 1fr)); }
.fold-title { font-size: 16px; }
@media (max-width: 640px) { .group-note { display: none; } .state-title { font-size: 16px; } }
.count { color: var(--muted); font-weight: 400; font-variant-numeric: tabular-nums; }
.page > .under-title { margin-top: -16px; }
.dns-record { border: 1px solid var(--line); border-radius: 8px; background: var(--sunken); }
.dns-record > div { display: grid; grid-template-columns: 64px minmax(0, 1fr); gap: 12px; align-items: center; padding: 6px 12px; }
.dns-record > div + div { border-top: 1px solid var(--line); }
.dns-record dt { color: var(--muted); font-size: 14px; }
.dns-record .copyable { align-items: center; }
.lookup { padding-left: 12px; border-left: 4px solid var(--warn); }
.health-verdict { display: flex; gap: 24px; align-items: center; }
.health-score { flex: none; min-width: 96px; text-align: center; }
.health-score .score { display: block; font-size: 44px; line-height: 1.1; }
.check-list { border: 1px solid var(--line); border-radius: 8px; }
.check-item + .check-item { border-top: 1px solid var(--line); }
.check-item > summary { display: flex; align-items: center; gap: 12px; padding: 10px 16px; }
.check-item > summary:hover { background: var(--sunken); }
.check-title { flex: 1 1 auto; min-width: 0; }
.check-title > * { display: block; }
.check-title strong { font-weight: 600; }
.check-body { display: grid; grid-template-columns: minmax(0, 1fr); gap: 16px; padding: 4px 16px 20px 44px; }
.check-body h4, .fix-box h4 { color: var(--muted); font-size: 14px; }
.check-body p + p { margin-top: 4px; }
.fix-box { display: grid; grid-template-columns: minmax(0, 1fr); gap: 8px; padding: 12px 16px; border: 1px solid var(--line); border-left: 4px solid var(--accent); border-radius: 8px; background: var(--accent-soft); }
.fix-box .dns-record { background: var(--surface); }
.evidence .facts { display: block; }
.evidence .facts > div { display: grid; grid-template-columns: minmax(96px, 160px) minmax(0, 1fr); gap: 0 16px; padding: 1px 0; }
.evidence .facts .facts { padding-left: 12px; border-left: 2px solid var(--line); }
.evidence dd { font-size: 14px; }
.check-reasons > li, .findings > li { display: flex; gap: 8px; padding: 4px 0; }
.check-reasons .icon { margin-top: 4px; color: var(--unknown); }
.check-reasons { color: var(--muted); font-size: 14px; }
.check-reasons strong { color: var(--ink); }
.selectors, .targets { display: flex; flex-wrap: wrap; gap: 4px 8px; }
.logo-row { display: flex; flex-wrap: wrap; gap: 16px 24px; align-items: center; }
.logo-row > img { padding: 8px; border: 1px solid var(--line); border-radius: 12px; background: #fff; }
.logo-row > .facts { flex: 1 1 280px; min-width: 0; }
.monitor-lines > li { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 16px; padding: 6px 0; }
.monitor-lines > li + li { border-top: 1px solid var(--line); }
.monitor-state { display: flex; flex-wrap: wrap; gap: 4px 12px; align-items: baseline; }
.findings > li { padding: 8px 0; }
.findings > li + li { border-top: 1px solid var(--line); }
.findings .icon { margin-top: 4px; }
.findings .icon:has(use[href="#icon-fail"]) { color: var(--fail); }
.findings .icon:has(use[href="#icon-warn"]) { color: var(--warn); }
.findings .icon:has(use[href="#icon-info"]) { color: var(--info); }
.run-head { display: flex; flex-wrap: wrap; gap: 0 12px; align-items: baseline; }
.latest-test-name { max-width: 280px; }
.picture { border-left: 6px solid var(--tone); }
.picture-head { display: grid; grid-template-columns: 32px minmax(0, 1fr); gap: 16px; }
.picture-head > .icon { width: 32px; height: 32px; margin-top: 2px; color: var(--tone); }
.picture-head h2 { font-size: 28px; line-height: 1.25; max-width: 40ch; text-wrap: balance; }
.page .picture > * + * { margin-top: 20px; }
.picture .fix-box { margin-left: 48px; max-width: 800px; }
.picture .fix-box h3 { color: var(--muted); font-size: 14px; }
.source-lines { border-top: 1px solid var(--line); }
.source-lines > li { display: grid; grid-template-columns: 160px minmax(0, 1fr) auto; gap: 4px 24px; padding: 12px 0; border-bottom: 1px solid var(--line); }
.source-lines > li:last-child { border-bottom: 0; padding-bottom: 0; }
.source-line-name > strong { display: block; }
.source-line-name > .state { font-size: 14px; }
.source-more { display: flex; gap: 12px; justify-content: flex-end; min-width: 132px; }
.statements > li { display: grid; grid-template-columns: 200px minmax(0, 1fr); gap: 4px 24px; padding: 8px 0; }
.statements > li + li { border-top: 1px solid var(--line); }
.statements .state { align-self: start; min-width: 0; white-space: normal; overflow-wrap: anywhere; }
@media (min-width: 641px) {
  .same-columns table { table-layout: fixed; }
  .same-columns th.number { width: 96px; }
  .same-columns th.wide { width: 184px; }
}
@media (min-width: 641px) and (max-width: 1100px) { .same-columns th.wide { width: 160px; } }
@media (max-width: 640px) {
  .picture-head { grid-template-columns: 24px minmax(0, 1fr); gap: 12px; }
  .picture-head > .icon { width: 24px; height: 24px; }
  .picture-head h2 { font-size: 20px; }
  .picture .fix-box { margin-left: 0; }
  .source-lines > li { grid-template-columns: minmax(0, 1fr); }
  .source-line-name { display: flex; flex-wrap: wrap; gap: 0 12px; justify-content: space-between; align-items: baseline; }
  .source-more { justify-content: space-between; }
  .statements > li { grid-template-columns: minmax(0, 1fr); }
  .add-domain-row { grid-template-columns: minmax(0, 1fr); }
  .add-domain-row .button { justify-self: start; }
  .health-verdict { gap: 16px; align-items: flex-start; }
  .health-score { min-width: 56px; }
  .health-score .score { font-size: 28px; }
  .check-item > summary { flex-wrap: wrap; gap: 4px 8px; padding: 12px; }
  .check-item > summary > .state { order: 1; margin-left: 24px; }
  .check-title { flex: 1 1 calc(100% - 24px); }
  .check-body { padding: 4px 12px 16px; }
  .fix-box { padding: 12px; }
  .dns-record > div { grid-template-columns: 48px minmax(0, 1fr); }
  .evidence .facts > div { grid-template-columns: minmax(0, 1fr); padding: 4px 0; }
  .latest-test-name { max-width: 150px; }
}
`;
