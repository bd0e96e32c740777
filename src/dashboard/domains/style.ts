/** Styles of the pages of domains and monitors. */

const TABLE = `
@media (min-width: 641px) { .popover.add-domains { width: 640px; max-width: calc(100vw - 32px); } }
.domain-list > * + *, .domain-list > form > * + * { margin-top: 12px; }
.table-head { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 8px 16px; }
.table-total { display: flex; align-items: center; gap: 16px; }
.tag-selected { align-items: center; border: 0; padding: 0; min-width: 0; }
.tag-selected input { width: 200px; min-height: 36px; padding: 4px 8px; border: 1px solid var(--strong-line); border-radius: 8px; background: var(--surface); color: var(--ink); font: 14px/1.5 var(--sans); }
.domain-table { width: 100%; table-layout: fixed; font-size: 14px; }
.domain-table :is(th, td) { padding: 8px 6px; }
.domain-table th { vertical-align: middle; }
.domain-table .select { width: 32px; padding: 0 0 0 12px; line-height: 0; }
.domain-table .c-state { width: 104px; }
.domain-table .c-policy { width: 92px; }
.domain-table .number { width: 60px; padding-inline: 4px; text-align: right; }
.domain-table .c-spf { width: 52px; }
.domain-table .c-dmarc { width: 68px; }
.domain-table .c-last_change { width: 92px; padding-left: 12px; }
.domain-table .c-next_step { width: 19%; }
.domain-table .tags { flex-wrap: nowrap; }
.domain-table .tag { max-width: 120px; overflow: hidden; text-overflow: ellipsis; font-size: 12px; font-weight: 400; color: var(--muted); }
.domain-table .state { white-space: normal; font-size: 14px; }
.domain-table th { font-size: 13px; }
.domain-table .sort { color: inherit; text-decoration: none; white-space: nowrap; }
.domain-table .sort:hover { text-decoration: underline; }
.domain-table [aria-sort] .sort { color: var(--ink); font-weight: 650; }
.domain-table .group > th { padding: 6px 12px; background: var(--sunken); text-align: left; font-size: 14px; color: var(--ink); }
.domain-table .figure { color: var(--tone); font-weight: 650; }
.step-link { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden; overflow-wrap: anywhere; }
.domain-table a.step-link { position: relative; z-index: 1; }
@media (max-width: 1100px) {
  .domain-table :is(.c-spf, .c-dkim, .c-last_change) { display: none; }
}
@media (max-width: 640px) {
  .table-total a { display: inline-flex; align-items: center; min-height: 44px; margin-block: -8px; }
  .tag-selected, .domain-table .select, .domain-table thead { display: none; }
  .domain-table, .domain-table tbody { display: block; }
  .domain-table tr { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 0 12px; padding: 6px 12px; border-top: 1px solid var(--line); }
  .domain-table tbody:first-of-type > tr:first-child { border-top: 0; }
  .domain-table :is(td, .group > th) { display: none; padding: 0; border: 0; }
  .domain-table :is(.c-name, .c-state, .c-next_step, .c-dmarc, .group > th) { display: block; width: auto; }
  .domain-table .group { grid-template-columns: 1fr; }
  .domain-table .group > th { padding: 4px 0; background: none; }
  .domain-table .tags { display: none; }
  .domain-table :is(.c-state, .c-dmarc) { justify-self: end; }
  .domain-table .c-next_step { order: 1; }
  .domain-table .c-dmarc { order: 2; color: var(--muted); }
  .domain-table .c-dmarc::before { content: 'DMARC '; }
  .domain-table .step-link { display: block; color: var(--muted); white-space: nowrap; text-overflow: ellipsis; text-decoration: none; }
  .domain-table a.step-link { position: static; }
}
`;

export const DOMAINS_STYLE = `${TABLE}
.add-domain-row { display: grid; grid-template-columns: minmax(0, 480px) auto; justify-content: start; align-items: end; gap: 12px; }
.page .add-domain-row .button { min-height: 44px; }
.lookup-progress { width: 100%; accent-color: var(--accent); }
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
