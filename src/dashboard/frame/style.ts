/** The styles of the pages of the web application, in addition to those of every page and of the navigation. */

const PAGE = `
main { padding: 24px 0 48px; outline: none; }
.app > .wrap { width: 100%; max-width: none; margin: 0; }
.page-head { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 12px 24px; margin-bottom: 20px; }
.page > * + * { margin-top: 24px; }
.actions { display: flex; flex-wrap: wrap; align-items: flex-start; gap: 8px; }
.page-head .actions { align-items: center; }
.breadcrumbs { margin-bottom: 4px; font-size: 14px; }
.breadcrumbs ol { display: flex; flex-wrap: wrap; gap: 4px; }
.breadcrumbs li:not(:last-child)::after { content: " /"; color: var(--muted); }
.breadcrumbs a { display: inline-block; padding: 2px 0; }
.tabs { display: flex; flex-wrap: wrap; gap: 4px 20px; border-bottom: 1px solid var(--line); }
.tabs a { padding: 8px 0; border-bottom: 2px solid transparent; color: var(--muted); text-decoration: none; }
.tabs a:hover { color: var(--ink); }
.tabs a[aria-current] { border-color: var(--accent); color: var(--ink); font-weight: 600; }
.foot { margin: 48px 0 32px; color: var(--muted); font-size: 14px; }
.foot .wrap { justify-content: center; }
.foot a { display: inline-block; padding: 4px 0; color: inherit; }
@media (max-width: 640px) {
  main { padding-top: 4px; }
  .page-head { gap: 4px 8px; min-height: 44px; margin-bottom: 4px; }
  .page-head > :first-child { flex: 1 1 88px; min-width: 0; }
  .page-head > .actions { margin-left: auto; }
  .page > * + * { margin-top: 16px; }
  .page > .filters + *, .page > .filter-button + * + *, .page > .tabs + * { margin-top: 8px; }
  .breadcrumbs { margin: 0; }
  .breadcrumbs a, .tabs a { display: inline-flex; align-items: center; gap: 6px; min-width: 44px; min-height: 44px; padding: 0; }
  .tabs a { flex: none; }
  .breadcrumbs li { display: flex; align-items: center; gap: 4px; }
  .tabs { flex-wrap: nowrap; gap: 12px; overflow-x: auto; white-space: nowrap; }
}
@media print { .breadcrumbs, .tabs { display: none; } }
`;

/** Pages of visitors: a card in the middle. */
const CARD = `
.cards { max-width: 480px; margin: 0 auto; }
.cards.wide { max-width: 640px; }
.cards > * + * { margin-top: 24px; }
.form { padding: 32px; }
.form > * + *, form > * + * { margin-top: 20px; }
.form > h1 + p { margin-top: 8px; }
.submit { width: 100%; min-height: 44px; padding: 8px 20px; border: 1px solid var(--accent); border-radius: 8px; background: var(--accent); color: var(--page); font: 600 16px/1.5 var(--sans); cursor: pointer; }
a.submit { display: block; text-align: center; text-decoration: none; }
.submit:hover { text-decoration: underline; text-underline-offset: 3px; }
.submit:focus-visible { border-radius: 8px; }
.submit.secondary { border-color: var(--strong-line); background: var(--surface); color: var(--ink); }
.redirect-host { font-size: 20px; overflow-wrap: anywhere; }
.links { display: flex; flex-wrap: wrap; gap: 4px 20px; }
.links a { display: inline-block; padding: 4px 0; }
.steps { counter-reset: step; }
.steps > li { position: relative; padding-left: 32px; counter-increment: step; }
.steps > li + li { margin-top: 20px; }
.steps > li::before { content: counter(step) "."; position: absolute; left: 0; font-weight: 600; }
.steps .box, .form > p + .box { margin-top: 8px; }
.command code { white-space: pre-wrap; }
@media (min-width: 641px) { .wide .submit { display: inline-block; width: auto; min-width: 160px; } }
@media (max-width: 640px) {
  .steps > li { padding-left: 0; }
  .steps > li::before { position: static; float: left; margin-right: 8px; }
  .notice .steps > li { padding-left: 28px; }
  .notice .steps > li::before { position: absolute; float: none; }
  .notice .steps form { display: block; margin-top: 8px; }
  .command .copyable { flex-direction: column; align-items: stretch; }
  .command .copy { align-self: flex-start; }
  .form { padding: 20px 16px; }
}
`;

const FIELDS = `
.field > label:not(.check), .field > legend { display: block; padding: 0; font-weight: 600; }
.field { min-width: 0; border: 0; }
.field > .hint { color: var(--muted); font-size: 14px; }
.field > .wrong { color: var(--fail); font-size: 14px; font-weight: 600; }
.field > input, .field > select, .field > textarea, .filters input, .filters select { display: block; width: 100%; min-height: 44px; margin-top: 4px; padding: 8px 12px; border: 1px solid var(--strong-line); border-radius: 8px; background: var(--surface); color: var(--ink); font: 16px/1.5 var(--sans); }
.field > textarea.mono { font-family: var(--mono); font-size: 14px; }
.field > input:focus, .field > select:focus, .field > textarea:focus { outline: 2px solid var(--accent); outline-offset: 1px; border-radius: 8px; }
.field > [aria-invalid="true"] { border: 2px solid var(--fail); padding: 7px 11px; }
.field > input[readonly] { border-color: var(--line); background: var(--sunken); color: var(--muted); }
.check, .field > .check { display: flex; font-weight: 400; align-items: center; gap: 8px; min-height: 32px; }
.check input, .select input { flex: none; width: 18px; height: 18px; margin: 0; accent-color: var(--accent); }
.fields { max-width: 640px; }
.fields > * + * { margin-top: 20px; }
.field-row { display: grid; grid-template-columns: repeat(auto-fit, minmax(180px, 1fr)); gap: 16px; }
.fields .field-row > * { margin-top: 0; }
form.inline { display: inline-flex; }
form.inline > * { margin: 0; }
.bar form > *, .test-mode-banner form > *, .menu form > * { margin: 0; }
.notice { display: flex; gap: 8px; padding: 12px; border: 1px solid var(--tone); border-radius: 8px; background: var(--soft); }
.notice > .icon { margin-top: 4px; color: var(--tone); }
.notice > p { min-width: 0; }
main .button:not(.needs-script) { display: inline-flex; min-height: 36px; text-decoration: none; }
.button.danger { color: var(--fail); }
.button.danger-solid { border-color: var(--fail); background: var(--fail); color: var(--page); font-weight: 600; }
.button:is(:disabled, [aria-disabled="true"]) { opacity: 0.6; cursor: default; }
.popover:has(> .confirm-panel), .opened:has(> .confirm-panel) { border-color: var(--fail); }
.confirm-panel > * + * { margin-top: 12px; }
.popover > .fields { width: 448px; max-width: 100%; }
.opened { flex-basis: 100%; max-width: 640px; padding: 16px; border: 1px solid var(--line); border-radius: 8px; }
main .confirm-panel .button { max-width: 100%; padding-block: 8px; line-height: 1.25; white-space: normal; overflow-wrap: anywhere; }
@media (max-width: 640px) { main .button { min-height: 44px; } main .button:not(.needs-script) { min-height: 44px; } }
`;

const LISTS = `
.filters { display: flex; flex-wrap: wrap; align-items: flex-end; gap: 12px; }
:is(.page, .card) > .filters { display: grid; grid-template-columns: repeat(auto-fit, minmax(112px, 1fr)); }
.script .filter-actions > [type="submit"] { display: none; }
.filters > * { margin: 0; }
.filters .field > label { font-size: 14px; font-weight: 400; color: var(--muted); }
.filters .field > input, .filters .field > select { min-height: 36px; padding: 4px 8px; font-size: 14px; }
.filters .field { flex: 0 1 176px; min-width: 0; }
@media (min-width: 641px) { .filters .field:not(.grow) { max-width: 320px; } }
.filters .field.grow { grid-column: span 2; }
.filter-actions { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 12px; }
.filter-actions > a { padding: 8px 0; font-size: 14px; white-space: nowrap; }
main .button.filter-button, .script .button.filter-done { display: none; }
.table { border: 1px solid var(--line); border-radius: 8px; background: var(--surface); }
.rows td { vertical-align: middle; }
.rows td time { white-space: nowrap; }
.one-line { display: block; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.nowrap { white-space: nowrap; }
.rows .select { width: 40px; padding: 0; }
.select label { align-items: center; justify-content: center; width: 44px; height: 44px; cursor: pointer; }
.select label:not(.needs-script) { display: flex; }
.selectable th { vertical-align: middle; }
.rows.linked tbody tr { position: relative; }
.rows.linked tbody tr:hover { background: var(--sunken); }
.row-link { color: var(--ink); font-weight: 600; text-decoration: none; }
.row-link::after { content: ""; position: absolute; inset: 0; }
.row-link:hover { text-decoration: underline; }
.rows.linked .select, .rows.linked td form, .rows.linked td .button { position: relative; z-index: 1; }
.section-head { display: flex; flex-wrap: wrap; align-items: flex-end; justify-content: space-between; gap: 12px 24px; }
.page > section > * + * { margin-top: 12px; }
.quiet { max-width: none; padding: 12px 16px; }
.quiet .state { margin-right: 8px; }
.row-note { display: block; color: var(--muted); font-weight: 400; }
.results > li + li { margin-top: 12px; }
.pager { display: flex; justify-content: space-between; gap: 8px; }
.pager > [rel="next"] { margin-left: auto; }
.empty { padding: 40px 24px; border: 1px dashed var(--strong-line); border-radius: 8px; text-align: center; }
.empty > * + * { margin-top: 8px; }
.empty p { margin-inline: auto; color: var(--muted); }
.empty .actions { justify-content: center; margin-top: 16px; }
.state.unset, .state.waiting { color: var(--unknown); }
.score { font-weight: 650; font-variant-numeric: tabular-nums; color: var(--tone); }
.score .grade { margin-left: 6px; padding: 0 6px; border-radius: 8px; background: var(--soft); }
.tag { display: inline-block; padding: 0 8px; border: 1px solid var(--line); border-radius: 8px; background: var(--sunken); font-size: 14px; white-space: nowrap; }
.fold > summary { display: flex; align-items: center; gap: 8px; min-height: 36px; }
.fold > div { padding-top: 8px; }
@media (min-width: 641px) {
  .section-head .filters { flex-wrap: nowrap; }
  search > .filters .field { flex-basis: 480px; }
  .filters.popover { position: static; width: auto; max-width: none; max-height: none; margin: 0; padding: 0; border: 0; background: none; overflow: visible; }
  .filters.popover:not(:is(.page, .card) > *) { display: flex; }
}
@media (max-width: 1100px) { .desktop:is(td, th) { display: none; } }
@media (max-width: 640px) {
  .wide:is(td, th) { display: none; }
  .rows .number .small { min-width: 96px; white-space: normal; }
  main .button.filter-button { display: flex; gap: 8px; width: fit-content; max-width: 100%; border-color: var(--strong-line); line-height: 1.5; }
  .filters.popover:not(:popover-open) { display: none; }
  .script .button.filter-done { display: inline-flex; margin-left: auto; }
  .results > li + li { margin: 0; }
  .results > li > a { display: flex; align-items: center; min-height: 44px; }
  main .page summary { min-height: 44px; align-content: center; }
  main :is(.panel-head .actions > a, a.small, .stack > p:not(.muted) > a:only-child, .problems a, .counts a, .issues a, .links a, .facts dd > a) { display: inline-flex; align-items: center; min-height: 44px; }
  .check { min-height: 44px; }
  .filter-actions > a { padding: 12px 0; }
  .filter-actions { grid-column: 1 / -1; width: 100%; }
  :is(.page, .card) > .filters { grid-template-columns: 1fr 1fr; }
  .filters { width: 100%; }
  .filters .field { flex: 1 1 130px; }
  .filters .field > input, .filters .field > select { min-height: 44px; font-size: 16px; }
  .compact thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .compact.selectable thead { position: static; width: auto; height: auto; clip-path: none; }
  .compact.selectable thead th:not(.select) { display: none; }
  .compact :is(tbody, .select) { display: block; }
  .compact tbody tr { display: grid; grid-template-columns: auto minmax(0, 1fr) auto auto; align-content: center; min-height: 45px; padding: 8px 12px; border-bottom: 1px solid var(--line); line-height: 20px; }
  .compact.selectable tbody tr { padding: 4px 12px 4px 0; }
  .compact tbody tr:last-child { border: 0; }
  .compact tbody td { padding: 0; border: 0; }
  .compact .select { grid-area: 1 / 1 / 3; align-self: center; width: 44px; border: 0; }
  .compact .main { grid-area: 1 / 2 / 3; align-self: center; }
  .compact .main > * { display: block; }
  .compact .fact { grid-column: 3; justify-self: end; max-width: 44vw; margin-left: 12px; text-align: right; }
  .compact .below { grid-area: 2 / 2 / auto / -1; color: var(--muted); }
  .compact .below > * { display: none; }
  .compact tr:has(.below) .main { grid-row: 1; }
  .compact .lone { grid-row: 1 / 3; align-self: center; }
  .compact .act { grid-area: 1 / 4 / 3; align-self: center; margin-left: 8px; }
  .compact .fact .state { display: block; }
  .compact .fact .icon { margin-right: 4px; }
  .compact :is(.main > strong, .narrow, .below), .compact.linked :is(.main, .main > *, .row-note), .compact :is(.fact, .fact > *) { min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
  .compact :is(.fact :is(.row-note, .small.muted, .basis, .share-bar), .row-note ~ .row-note) { display: none; }
  .compact .number[data-title]::before { content: attr(data-title) " "; color: var(--muted); }
}
`;

const PANELS = `
.panel { padding: 20px 24px; }
.panel > * + * { margin-top: 12px; }
.panel-head { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 8px 16px; }
.panel .table { border: 0; }
.panel .table table { margin: 0; }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 320px), 1fr)); gap: 24px; }
.columns > * { margin: 0; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 16px; }
.tile { padding: 16px; border: 1px solid var(--line); border-radius: 8px; background: var(--surface); }
.tile dt { color: var(--muted); font-size: 14px; }
.tile dd { font-size: 28px; font-weight: 650; line-height: 1.25; font-variant-numeric: tabular-nums; }
.facts { display: grid; gap: 12px 24px; grid-template-columns: repeat(auto-fit, minmax(min(100%, 200px), 1fr)); }
.facts dt { color: var(--muted); font-size: 14px; }
.timeline { border-left: 2px solid var(--line); margin-left: 6px; padding-left: 16px; }
.timeline > li + li { margin-top: 12px; }
.record { display: grid; gap: 8px; }
.address { font-family: var(--mono); font-size: 20px; overflow-wrap: anywhere; }
@media (max-width: 640px) {
  .panel { padding: 16px; }
}
@media print {
  .panel, .table { border-color: #ccc; }
  .filters, .pager, .submit { display: none; }
  /* Paper has one width: lines break rather than be cut. */
  .page :is(th, td, time, .one-line, .nowrap, .tag, .state) { overflow: visible; white-space: normal; overflow-wrap: anywhere; }
}
`;

/** Options of radio buttons and check boxes, with an explanation below each. */
const CHOICES = `
.choice { display: flex; align-items: flex-start; gap: 10px; padding: 8px 0; }
.choice > input { flex: none; width: 18px; height: 18px; margin: 3px 0 0; accent-color: var(--accent); }
.choice > div { min-width: 0; }
.choice label { display: inline-block; }
@media (max-width: 640px) {
  .choice { padding: 0; }
  .choice > input { margin-top: 13px; }
  .choice label { min-width: 44px; padding: 10px 0; }
  .choice p { margin-top: -8px; padding-bottom: 8px; }
}
.choice:has(> input:not(:checked)) .choice-fields { display: none; }
.choice-fields { margin-top: 8px; }
.choice-fields > * + * { margin-top: 8px; }
`;

const TOOLS = `
.quiet-icon { justify-content: center; min-width: 36px; padding: 0; border-color: transparent; background: none; color: var(--muted); }
.page-tools { color: var(--muted); font-size: 14px; }
.page-links > div { display: grid; grid-template-columns: 40px minmax(0, 1fr); align-items: center; min-height: 44px; }
.page-links .copyable { align-items: center; }
.curl h2 { font-size: 16px; }
.command code { white-space: pre-wrap; }
@media (max-width: 640px) { .quiet-icon { min-width: 44px; } }
@media print {
  .popover.printed { display: block; position: static; width: auto; max-width: none; max-height: none; margin: 0; padding: 0; border: 0; }
  .curl { display: none; }
}
`;

export const APP_STYLE = PAGE + CARD + FIELDS + LISTS + PANELS + CHOICES + TOOLS;

/** For reports, whose own style comes first. */
export const REPORT_FRAME_STYLE = PAGE + FIELDS + TOOLS;
