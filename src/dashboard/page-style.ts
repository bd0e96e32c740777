/** The style of the pages with forms, beyond that of every page. */

export const FORM_STYLE = `
main { padding: 32px 0 0; outline: none; }
.cards { max-width: 480px; margin: 0 auto; }
.cards.wide { max-width: 640px; }
.cards > * + * { margin-top: 24px; }
.foot .wrap { justify-content: center; }
.foot a { display: inline-block; padding: 4px 0; color: inherit; }
.form { padding: 32px; }
.form > * + *, form > * + * { margin-top: 20px; }
.form > h1 + p { margin-top: 8px; }
.field > label { display: block; font-weight: 600; }
.field > .hint { margin-bottom: 4px; color: var(--muted); font-size: 14px; }
.field > .wrong { margin-bottom: 4px; color: var(--fail); font-size: 14px; font-weight: 600; }
.field > input { display: block; width: 100%; min-height: 44px; padding: 8px 12px; border: 1px solid var(--strong-line); border-radius: 8px; background: var(--surface); color: var(--ink); font: 16px/1.5 var(--sans); }
.field > input:focus { outline: 2px solid var(--accent); outline-offset: 1px; border-radius: 8px; }
.field > input[aria-invalid="true"] { border: 2px solid var(--fail); padding: 7px 11px; }
.field > input[readonly] { border-color: var(--line); background: var(--sunken); color: var(--muted); }
.field > .hint + input, .field > .wrong + input, .field > label + input { margin-top: 4px; }
.submit { width: 100%; min-height: 44px; padding: 8px 20px; border: 1px solid var(--accent); border-radius: 8px; background: var(--accent); color: var(--page); font: 600 16px/1.5 var(--sans); cursor: pointer; }
a.submit { display: block; text-align: center; text-decoration: none; }
.submit:hover { text-decoration: underline; text-underline-offset: 3px; }
.submit:focus-visible { border-radius: 8px; }
.submit.secondary { border-color: var(--strong-line); background: var(--surface); color: var(--ink); }
.said { display: flex; gap: 8px; padding: 12px; border: 1px solid var(--tone); border-radius: 8px; background: var(--soft); }
.said > .icon { margin-top: 4px; color: var(--tone); }
.said > p { min-width: 0; }
.links { display: flex; flex-wrap: wrap; gap: 4px 20px; }
.links a { display: inline-block; padding: 4px 0; }
.steps { counter-reset: step; }
.steps > li { position: relative; padding-left: 32px; counter-increment: step; }
.steps > li + li { margin-top: 20px; }
.steps > li::before { content: counter(step) "."; position: absolute; left: 0; font-weight: 600; }
.steps .box { margin-top: 8px; }
.form > p + .box { margin-top: 8px; }
.command code { white-space: pre-wrap; }
@media (min-width: 641px) {
  .wide .submit { display: inline-block; width: auto; min-width: 160px; }
}
@media (max-width: 640px) {
  main { padding: 16px 0 0; }
  .steps > li { padding-left: 0; }
  .steps > li::before { position: static; float: left; margin-right: 8px; }
  .command .copyable { flex-direction: column; align-items: stretch; }
  .command .copy { align-self: flex-start; }
  .form { padding: 20px 16px; }
}
`;
