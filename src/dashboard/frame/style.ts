/** The styles of the pages of the web application, in addition to those of every page and of the navigation. */

const PAGE = `
main { padding: 24px 0 48px; outline: none; }
.app > .wrap { width: 100%; max-width: none; margin: 0; }
.page-head { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 12px 24px; margin-bottom: 20px; }
.page > * + * { margin-top: 24px; }
.actions { display: flex; flex-wrap: wrap; align-items: flex-start; gap: 8px; }
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
.bar form > *, .test-mode-banner form > *, .menu-panel form > * { margin: 0; }
.notice { display: flex; gap: 8px; padding: 12px; border: 1px solid var(--tone); border-radius: 8px; background: var(--soft); }
.notice > .icon { margin-top: 4px; color: var(--tone); }
.notice > p { min-width: 0; }
main .button:not(.needs-script) { display: inline-flex; min-height: 36px; text-decoration: none; }
.button.danger { color: var(--fail); }
.button.danger-solid { border-color: var(--fail); background: var(--fail); color: var(--page); font-weight: 600; }
.button:is(:disabled, [aria-disabled="true"]) { opacity: 0.6; cursor: default; }
.confirm[open] { flex-basis: 100%; }
.confirm-panel { max-width: 480px; margin-top: 8px; padding: 16px; border: 1px solid var(--fail); border-radius: 8px; background: var(--surface); }
.confirm-panel > * + * { margin-top: 12px; }
main .confirm-panel .button { max-width: 100%; padding-block: 8px; line-height: 1.25; white-space: normal; overflow-wrap: anywhere; }
@media (max-width: 640px) { main .button:not(.needs-script) { min-height: 44px; } }
`;

const LISTS = `
.filters { display: flex; flex-wrap: wrap; align-items: flex-end; gap: 12px; }
:is(.page, .card) > .filters { display: grid; grid-template-columns: repeat(auto-fit, minmax(112px, 1fr)); }
.filters > * { margin: 0; }
.filters .field > label { font-size: 14px; font-weight: 400; color: var(--muted); }
.filters .field > input, .filters .field > select { min-height: 36px; padding: 4px 8px; font-size: 14px; }
.filters .field { flex: 0 1 176px; min-width: 0; }
.filters .field.grow { grid-column: span 2; }
.filter-actions { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 12px; }
.filter-actions > a { padding: 8px 0; font-size: 14px; white-space: nowrap; }
.filter-line { display: none; }
.table { border: 1px solid var(--line); border-radius: 8px; background: var(--surface); }
.rows td { vertical-align: middle; }
.rows td time { white-space: nowrap; }
.one-line { display: block; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.nowrap { white-space: nowrap; }
.rows .select { width: 40px; }
:is(.script .rows .select input, .rows .select input:not(.needs-script)) { display: block; }
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
@media (min-width: 641px) { .section-head .filters { flex-wrap: nowrap; } search > .filters .field { flex-basis: 480px; } }
@media (max-width: 1100px) { .desktop:is(td, th) { display: none; } }
@media (max-width: 640px) {
  .wide:is(td, th) { display: none; }
  .rows .number .small { min-width: 96px; white-space: normal; }
  .filter-line { display: block; width: 100%; border: 1px solid var(--strong-line); border-radius: 8px; background: var(--surface); font-size: 14px; }
  .filter-line > summary { display: flex; align-items: center; gap: 8px; min-height: 44px; padding: 4px 12px; }
  .filter-line > summary > span:first-of-type { flex: none; color: var(--muted); }
  .filter-line + .filters { margin-top: 8px; }
  .filter-line:not([open]) + .filters { display: none; }
  :is(.page, .card) > .filters { grid-template-columns: 1fr 1fr; }
  .filters { width: 100%; }
  .filters .field { flex: 1 1 130px; }
  .filters .field > input, .filters .field > select { min-height: 44px; }
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
.choice:has(> input:not(:checked)) .choice-fields { display: none; }
.choice-fields { margin-top: 8px; }
.choice-fields > * + * { margin-top: 8px; }
`;

const CURL = `
.page-links { display: flex; flex-wrap: wrap; gap: 4px 24px; margin-top: 32px; color: var(--muted); font-size: 14px; }
.page-links > div { display: flex; align-items: baseline; gap: 8px; min-width: 0; }
.page-links .copyable { align-items: baseline; }
.page-links + .curl { margin-top: 8px; }
.curl { margin-top: 32px; color: var(--muted); font-size: 14px; }
.curl > summary { display: inline-block; padding: 8px 0; text-decoration: underline; text-underline-offset: 2px; }
.curl > div { color: var(--ink); }
.command code { white-space: pre-wrap; }
@media print { .curl { display: none; } }
`;

export const APP_STYLE = PAGE + CARD + FIELDS + LISTS + PANELS + CHOICES + CURL;

/** For reports, whose own style comes first. */
export const REPORT_FRAME_STYLE = PAGE + FIELDS + CURL;
