/** The style of reports, in addition to the style of every page in `frame.tsx`. */

import { PREVIEW_CLIENTS } from '../preview/clients.ts';
import { CHART_STYLE } from './chart.tsx';

/** Layout, verdict, findings, evidence, tables. Comes first: the others override it. */
const BASE = `
.with-aside { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0 40px; }
.contents { display: none; }
main { padding: 24px 0; outline: none; }
.section { margin-top: 40px; }
.linked-heading { margin-bottom: 4px; }
.choice { display: flex; flex-wrap: wrap; align-items: center; gap: 8px 12px; margin: 12px 0; font-size: 14px; }
.choice > p { flex: 1 1 280px; }
.section > .note { margin-bottom: 12px; font-size: 14px; }
.linked-heading + :not(.note) { margin-top: 12px; }
.padded { padding: 16px; }
/* A single report needs the width for what is beside its verdict. */
@media (min-width: 1400px) { .with-aside:not(:has(> .test-list)) { max-width: 1360px; grid-template-columns: 184px minmax(0, 1fr); } .contents { display: block; } }
@media (min-width: 1080px) {
  .with-aside:has(> .test-list) { grid-template-columns: 184px minmax(0, 1fr); }
  .contents.test-list { display: block; }
  .contents { position: sticky; top: 0; align-self: start; padding-top: 32px; font-size: 14px; }
  .contents a { display: block; padding: 4px 12px; border-left: 2px solid var(--line); color: var(--muted); text-decoration: none; }
  .contents a:hover { color: var(--accent); border-color: var(--accent); }
}

.front { display: grid; gap: 16px 20px; align-items: start; }
.front-main > * + * { margin-top: 12px; }
.front .section { margin-top: 8px; }
.front .linked-heading + * { margin-top: 4px; }
.front-beside { display: grid; gap: 12px; }
@media (min-width: 1180px) { .front { grid-template-columns: minmax(0, 1fr) 344px; } }
.about { padding: 12px 16px; font-size: 14px; }
.about .facts > div { grid-template-columns: 80px minmax(0, 1fr); }
.about .category-scores + .facts { margin-top: 8px; padding-top: 8px; border-top: 1px solid var(--line); }
.glance { overflow: hidden; }
.glance > .inbox-line { border-width: 0 0 1px; border-radius: 0; }
.glance > p { padding: 8px 12px; border-top: 1px solid var(--line); }
/* A phone is 390 pixels wide; the box is 342. */
.glance-frame { height: 400px; overflow: hidden; background: #fff; }
.glance-frame > iframe { display: block; height: 456px; border: 0; transform: scale(0.877); transform-origin: 0 0; color-scheme: light; }
.glance-frame > p { padding: 24px 16px; }
.glance-text { max-height: 400px; overflow: auto; padding: 12px; }

.verdict { display: grid; grid-template: "ring text" auto "ring auth" auto / 96px minmax(0, 1fr); gap: 4px 20px; align-items: center; padding: 16px; }
.verdict h1 { font-size: 20px; line-height: 1.3; }
.verdict .ring { grid-area: ring; }
.verdict .verdict-text { grid-area: text; }
.verdict .auth { grid-area: auth; align-self: start; }
.verdict .verdict-text > * + * { margin-top: 4px; }
.verdict-text .number { font-weight: 700; }
.ring { width: 96px; height: 96px; }
.ring circle { fill: none; stroke-width: 10; }
.ring .track { stroke: var(--line); }
.ring .track.empty { stroke-dasharray: 6 6; }
.ring .arc { stroke: var(--tone); }
.ring .uncapped { stroke: var(--tone); opacity: 0.28; }
.ring text { text-anchor: middle; fill: var(--ink); font-family: var(--sans); }
.ring .score { font-size: 36px; font-weight: 700; font-variant-numeric: tabular-nums; }
.ring.unknown .score { font-size: 16px; }
.ring .grade { font-size: 18px; font-weight: 650; fill: var(--tone); }
.auth { display: flex; flex-wrap: wrap; gap: 4px 20px; font-size: 14px; }
.auth li { display: flex; align-items: baseline; gap: 6px; }
.category-scores { display: grid; gap: 4px; }
.category-scores li { display: grid; grid-template-columns: 108px minmax(32px, 1fr) minmax(32px, max-content); align-items: center; gap: 8px; }
.category-scores a { color: inherit; text-decoration: none; }
.category-scores a:hover { text-decoration: underline; }
.category-scores .share-bar { width: 100%; max-width: none; }
.category-scores .number { color: var(--tone); font-weight: 650; text-align: right; }
.category-scores .number.unknown { grid-column: 2 / -1; }

.facts > div { display: grid; grid-template-columns: minmax(96px, 160px) minmax(0, 1fr); gap: 0 16px; align-items: baseline; padding: 1px 0; }
.facts dt { color: var(--muted); font-size: 14px; line-height: 24px; }
.facts dd { min-width: 0; font-size: 14px; }
.facts .facts { border-left: 2px solid var(--line); padding-left: 12px; }
.values > li + li { margin-top: 4px; }
.values > .nested { padding: 4px 0; border-top: 1px solid var(--line); }
.values > .nested:first-child { border-top: 0; }
.compact th, .compact td { padding: 6px 12px 6px 0; min-width: 72px; }

.cap { display: flex; gap: 8px; max-width: none; margin: 12px 0; padding: 12px 16px; border: 1px solid var(--tone); border-radius: 8px; background: var(--soft); }
.cap .icon { margin-top: 4px; color: var(--tone); }
.findings > * + * { border-top: 1px solid var(--line); }
.finding > summary { display: flex; align-items: center; gap: 12px; padding: 8px 16px; }
.finding > summary:hover, .fold > summary:hover { background: var(--sunken); }
.first-finding { position: relative; padding: 8px 16px; }
.first-head { display: flex; align-items: baseline; gap: 12px; padding-right: 64px; }
.first-head > .where > :first-child { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.first-head .gain { width: auto; min-width: 36px; text-align: left; }
.first-finding > details > summary { position: absolute; top: 8px; right: 12px; line-height: 24px; }
.first-finding .finding-body { padding: 12px 0 4px; }
.first-fix > .fix { padding: 0; border: 0; background: none; }
.first-fix h4 { display: none; }
.first-fix p { max-width: none; margin-top: 2px; font-size: 14px; }
.first-fix .record { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 0 16px; margin-top: 4px; padding: 0 10px; background: var(--sunken); }
.first-fix .record > div { display: flex; gap: 8px; align-items: center; padding: 1px 0; border-top: 0; }
.first-fix .record > :last-child { grid-column: 1 / -1; border-top: 1px solid var(--line); }
.first-fix .record dd { flex: 1; min-width: 0; }
.first-fix .copyable { align-items: center; }
@media screen {
  /* Two lines and the start of a record; the fold below shows all of both. */
  .first-finding:not(:has(> details[open])) :is(.first-fix p, h3) { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden; }
  .first-finding:not(:has(> details[open])) .record code { overflow: hidden; white-space: nowrap; text-overflow: ellipsis; }
}
.section.folded { position: relative; margin-top: 24px; }
.section.folded + .section.folded { margin-top: 8px; }
.folded > details > summary { padding-right: 48px; }
.folded h2 { font-size: 16px; }
.folded > .anchor { position: absolute; top: 12px; right: 16px; }
.folded .note { margin-bottom: 12px; font-size: 14px; }
.fold-body .card { background: none; }
.finding h3 { flex: 1 1 auto; min-width: 0; font-weight: 600; text-wrap: wrap; }
.gain { flex: none; width: 64px; font-size: 20px; line-height: 24px; font-weight: 700; color: var(--accent); }
.gain.none { font-size: 14px; line-height: 20px; font-weight: 400; color: var(--muted); text-align: left; white-space: normal; }
.finding-group + .finding-group { margin-top: 24px; }
.group-title { margin-bottom: 8px; font-size: 16px; font-weight: 650; }
.where { flex: none; display: flex; align-items: center; gap: 12px; color: var(--muted); font-size: 14px; }
.finding-body { display: grid; grid-template-columns: minmax(0, 1fr); gap: 16px; padding: 4px 16px 20px 44px; }
.block > h4 { margin-bottom: 4px; font-size: 14px; color: var(--muted); }
.block p + p { margin-top: 4px; font-size: 14px; }
.fix { padding: 12px 16px; border-radius: 8px; border: 1px solid var(--line); border-left: 4px solid var(--accent); background: var(--accent-soft); }
.fix > h4 { color: var(--accent); }
.record { margin-top: 12px; padding: 4px 12px; border: 1px solid var(--line); border-radius: 8px; background: var(--surface); }
.record > div { display: grid; grid-template-columns: 56px minmax(0, 1fr); gap: 8px; padding: 8px 0; }
.record > div + div { border-top: 1px solid var(--line); }
.record dt { color: var(--muted); font-size: 14px; line-height: 24px; }

.meter { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 12px; }
.meter > :first-child { flex: none; width: 136px; }
.meter .number { min-width: 48px; font-weight: 400; }
.meter > :last-child:not(.number) { font-weight: 400; }
.share-bar { flex: 1 1 0; width: 48px; min-width: 48px; max-width: 200px; height: 8px; border-radius: 4px; overflow: hidden; }
.share-bar .track { fill: var(--line); }
.share-bar .fill { fill: var(--tone); }
.ledger tbody tr:last-child > * { border-bottom: 1px solid var(--line); }
tfoot th, tfoot td { border-bottom: 0; }
tfoot .total > * { border-top: 2px solid var(--ink); font-weight: 700; font-size: 16px; }
.group th { padding-top: 16px; color: var(--muted); }
.compact tbody th { font-weight: 400; }

@media (max-width: 640px) {
  .verdict { grid-template: "ring auth" auto "text text" auto / 72px minmax(0, 1fr); gap: 8px 16px; padding: 12px; }
  .verdict h1 { font-size: 16px; }
  .verdict .auth { flex-direction: column; gap: 0; align-self: center; }
  .auth li > :first-child { width: 56px; }
  .ring { width: 72px; height: 72px; }
  .ring .score { font-size: 40px; }
  .ring.unknown .score { font-size: 22px; }
  .ring .grade { font-size: 20px; }
  .first-finding { padding: 8px 12px; }
  .first-head { flex-wrap: wrap; gap: 0 12px; padding-right: 0; }
  .first-head > h3 { order: 1; flex-basis: 100%; }
  .first-head > .where { order: 0; margin-left: 0; }
  .first-fix .record { grid-template-columns: minmax(0, 1fr); }
  .first-fix .copyable { flex-direction: row; }
  .fold > summary { flex-wrap: wrap; gap: 4px 12px; }
  .facts > div { grid-template-columns: 96px minmax(0, 1fr); gap: 0 12px; }
  .finding > summary { flex-wrap: wrap; gap: 4px 8px; padding: 12px; }
  .finding > summary > .chevron { order: 1; }
  .finding > summary > h3 { order: 3; flex-basis: 100%; }
  .where { order: 2; margin-left: auto; gap: 8px; }
  .gain { width: auto; }
  .ledger :is(th, td) { padding-inline: 4px; overflow-wrap: normal; }
  .meter > svg, .meter > .number { display: none; }
  .meter > :first-child { width: auto; }
  .record > div { grid-template-columns: 44px minmax(0, 1fr); }
  .copyable { flex-direction: column; gap: 4px; }
  .finding-body { padding: 4px 12px 16px; }
  .fold-body th { white-space: normal; }
}
.linked-heading { display: flex; align-items: baseline; gap: 8px; }
.anchor { color: var(--muted); text-decoration: none; }
.linked-heading .anchor { min-width: 24px; text-align: center; }
.anchor:hover { color: var(--accent); text-decoration: underline; }
@media print {
  .linked-heading { break-after: avoid; }
  .contents, .choice, .glance { display: none; }
  .with-aside, .front { display: block; }
  .front-beside { margin-top: 12px; }
  .first-finding > details > summary { display: none; }
  main { padding: 0; }
  .section { margin-top: 24px; }
  .fix, .cap, .record, .box { background: #fff; }
  .finding-body { padding-left: 16px; }
}
`;

/** Authentication, providers, the delivery path, the message, entries. */
const SECTIONS = `
.identifiers tbody th { white-space: nowrap; }
.identifiers .outcome > * { border-top: 2px solid var(--line); background: var(--sunken); }
.comparison { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 0; }
.comparison code { padding: 2px 8px; border: 1px solid var(--line); border-radius: 8px; background: var(--sunken); }
.alignment { display: inline-flex; align-items: center; gap: 8px; color: var(--tone); }
.alignment::before, .alignment::after { content: ""; width: 24px; border-top: 2px solid var(--tone); }
.comparison.fail .alignment::before, .comparison.fail .alignment::after, .comparison.unknown .alignment::before, .comparison.unknown .alignment::after { border-top-style: dashed; }

.rules th[scope="row"] { font-weight: 400; }
.rules :is(th, td):not(:first-child) { width: 14%; min-width: 104px; }
.rules :is(th, td) { padding: 6px 8px; }
.rules .state { white-space: normal; }

.hops { padding: 8px 16px 16px; }
.hops > li { position: relative; padding: 12px 0 0 28px; }
.hops > li::before { content: ""; position: absolute; left: 4px; top: 19px; width: 9px; height: 9px; border: 2px solid var(--accent); border-radius: 50%; background: var(--surface); }
.hops > li:not(:last-child)::after { content: ""; position: absolute; left: 8px; top: 30px; bottom: -17px; border-left: 2px solid var(--line); }
.hops .facts { margin-top: 8px; }

.fold > summary { display: flex; align-items: center; gap: 12px; padding: 12px 16px; border-radius: 8px; }
.fold h3 { flex: 0 1 auto; }
.fold > summary > .muted { white-space: nowrap; }
.fold-body { padding: 4px 16px 16px; }
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
  .rules, .rules tbody { display: block; }
  .rules thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .rules tr { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); padding: 6px 0; border-bottom: 1px solid var(--line); }
  .rules tr > * { padding: 2px 8px; border: 0; }
  .rules tr > :not(:first-child) { width: auto; min-width: 0; }
  .rules tr > :first-child { grid-column: 1 / -1; }
  .rules td::before { content: attr(data-column) " "; color: var(--muted); }
  /* What has no rule for it takes no room. */
  .rules td:not(:has(.state)) { display: none; }
  .identifiers, .identifiers tbody, .identifiers tr, .identifiers td, .identifiers tbody th { display: block; }
  .identifiers thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .identifiers tr { padding: 8px; border-bottom: 1px solid var(--line); }
  .identifiers tbody tr > * { border: 0; padding: 4px; }
  .identifiers .outcome > * { border: 0; background: none; }
  .comparison { flex-direction: column; align-items: flex-start; }
  .alignment { padding-left: 8px; }
  .alignment::before { width: 0; height: 20px; border-top: 0; border-left: 2px solid var(--tone); }
  .comparison.fail .alignment::before, .comparison.unknown .alignment::before { border-left-style: dashed; }
  .alignment::after { display: none; }
}
@media print {
  .long { max-height: none; overflow: visible; }
  .hops > li, .entries > li { break-inside: avoid; }
}
`;

/** The message as email clients show it: `preview.tsx`. */
const PREVIEW = `
.preview-switches { display: flex; flex-wrap: wrap; gap: 12px 24px; padding: 12px 16px; }
.switch { min-width: 0; border: 0; }
.switch legend { font-size: 14px; color: var(--muted); margin-bottom: 4px; }
.switch-options { display: flex; flex-wrap: wrap; gap: 4px; }
.switch label { position: relative; cursor: pointer; }
.switch input { position: absolute; inset: 0; margin: 0; opacity: 0; cursor: pointer; }
.switch span { display: block; padding: 4px 12px; border: 1px solid var(--line); border-radius: 8px; font-size: 14px; line-height: 22px; }
.switch input:checked + span { border-color: var(--accent); background: var(--accent-soft); color: var(--accent); }
.switch input:focus-visible + span { outline: 2px solid var(--accent); outline-offset: 2px; }
.frames > .frame { display: block; box-sizing: content-box; height: 600px; margin: 0 auto; border: 0; outline: 1px solid var(--line); background: #fff; color-scheme: light; }
.frames > p.frame { height: auto; padding: 24px 16px; outline: 0; background: none; text-align: center; }
.pane-notes { padding: 12px 16px 16px; }
.pane-notes:empty { display: none; }
.pane-notes > * + * { margin-top: 8px; }
${PREVIEW_CLIENTS.map(({ id }) => `.preview:has(input[value="${id}"]:checked) > .pane:not(.${id})`).join(', ')},
${['light', 'dark'].map((theme) => `.preview:has(input[value="${theme}"]:checked) .frame:not(.${theme})`).join(', ')},
${['on', 'off'].map((images) => `.preview:has(input[value="${images}"]:checked) .frame:not(.images-${images})`).join(', ')} { display: none; }
.inbox-lists { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 24px; padding: 16px; }
.inbox-list > * + * { margin: 8px 0 0; }
.inbox-list:has(.as-row) { grid-column: 1 / -1; }
.inbox-line { display: grid; align-items: center; gap: 0 12px; padding: 8px 12px; border: 1px solid var(--line); border-radius: 8px; overflow: hidden; font: 14px/20px Arial, Helvetica, sans-serif; }
.inbox-line.light { background: #fff; color: #1f1f1f; }
.inbox-line.dark { background: #1f1f1f; color: #e3e3e3; }
.inbox-line.as-row { grid-template-columns: 36px minmax(0, 168px) minmax(0, 1fr); }
.inbox-line.as-stack { grid-template-columns: 36px minmax(0, 1fr); max-width: 390px; }
.inbox-line.as-stack .avatar { grid-row: 1 / 3; align-self: start; }
.inbox-line.as-stack .subject { display: block; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
.inbox-line.as-stack .preview-text { display: -webkit-box; -webkit-box-orient: vertical; overflow: hidden; }
.inbox-line.as-row .line-text { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
.inbox-line bdi { overflow-wrap: anywhere; }
.sender, .subject { font-weight: 700; }
.light .preview-text { color: #5e5e5e; }
.dark .preview-text { color: #b5b5b5; }
.avatar { display: grid; place-items: center; width: 36px; height: 36px; border-radius: 50%; background: #4f46a5; color: #fff; font-size: 14px; }
@media (max-width: 640px) {
  .inbox-lists { grid-template-columns: minmax(0, 1fr); }
  .inbox-line.as-row { grid-template-columns: 36px minmax(0, 1fr); }
  .inbox-line.as-row .avatar { grid-row: 1 / 3; align-self: start; }
  .inbox-line.as-row .line-text { white-space: normal; }
  .frames > .frame { height: 480px; }
}
@media print {
  .frames > .frame { height: 480px; }
  .pane, .inbox-list { break-inside: avoid; }
}
`;

/** Shared reports: header, overview, folded reports. */
const SHARED = `
.share-head { margin-bottom: 20px; }
.share-head > * + * { margin-top: 4px; }
.share-title { font-size: 20px; line-height: 1.4; font-weight: 650; overflow-wrap: anywhere; }

.small-ring .ring { display: block; width: 48px; height: 48px; }
.small-ring .ring circle { stroke-width: 13; }
.small-ring .ring .score { font-size: 42px; transform: translateY(12px); }
.small-ring .ring.unknown .score, .small-ring .ring .grade { display: none; }
.grade-badge { min-width: 28px; padding: 0 8px; justify-content: center; }

.scores { padding: 16px; margin-bottom: 16px; }
.scores figcaption { font-weight: 600; margin-bottom: 8px; }

.tests th[scope="row"] { font-weight: 400; }
.tests th[scope="row"] a { display: block; font-size: 16px; font-weight: 600; }
.domains tbody .muted { font-weight: 400; }
.tests td, .tests tbody th { padding: 12px; vertical-align: middle; }
.scored { white-space: nowrap; }
.scored > * { display: inline-flex; vertical-align: middle; }
.scored > .grade-badge { margin-left: 8px; }
.time-cell { font-variant-numeric: tabular-nums; }

.shared-test { margin-top: 16px; }
section + .shared-test { margin-top: 40px; }
.shared-test > summary { display: flex; align-items: center; gap: 12px; padding: 12px 16px; }
.shared-test > summary:hover { border-color: var(--strong-line); }
.shared-test > summary > h2 { flex: 0 1 auto; min-width: 0; }
.shared-test > summary > .grade-badge { margin-left: auto; }
.shared-test > summary > .from-domain { flex: 1 1 0; min-width: 160px; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.shared-test-report { padding: 16px 0 24px; scroll-margin-top: 96px; }
.back { margin-top: 24px; }
@media (min-width: 1080px) {
  .test-list { max-height: 100vh; overflow-y: auto; padding-bottom: 24px; }
}

@media (min-width: 641px) {
  .tests th[scope="row"] { width: 30%; }
  .scored { width: 1px; }
  .time-cell { width: 120px; }
}
@media (max-width: 640px) {
  .domains :is(tr, th, td) { display: block; padding: 0; border: 0; }
  .domains tr { padding: 12px 16px; border-top: 1px solid var(--line); }
  .tests, .tests tbody { display: block; }
  :is(.tests, .domains) thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .tests tr { display: grid; grid-template-columns: 60px minmax(0, 1fr); gap: 4px 12px; padding: 16px; border-bottom: 1px solid var(--line); }
  .tests tbody > tr:last-child { border-bottom: 0; }
  .tests tr > td, .tests tr > th { padding: 0; border: 0; grid-column: 2; }
  .tests tr > .scored { grid-column: 1; grid-row: 1 / span 3; align-self: start; display: flex; flex-direction: column; align-items: flex-start; gap: 8px; }
  .scored > .grade-badge { margin-left: 0; width: 48px; }
  .shared-test > summary { flex-wrap: wrap; gap: 4px 12px; padding: 12px; }
  .shared-test > summary > h2 { flex: 1 1 50%; font-size: 16px; }
  .shared-test > summary > .from-domain { order: 1; flex-basis: 100%; padding-left: 28px; white-space: normal; overflow-wrap: anywhere; }
}

@media print {
  .shared-test { break-before: page; }
  .shared-test > summary { border: 0; padding: 0 0 12px; }
  .tests tr, .scores { break-inside: avoid; }
}
`;

export const REPORT_STYLE = BASE + SECTIONS + PREVIEW + SHARED + CHART_STYLE;
