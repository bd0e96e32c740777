/** The style of the API reference. */

export const DOCS_STYLE = `
main { padding: 24px 0 48px; outline: none; }
.lead, .topics > * + *, .topics details > * + *, .command + .command, .operation > * + * { margin-top: 12px; }
.links, .operation details, .statuses, .fields { font-size: 14px; }
.topics { margin-top: 40px; }
.links a, .address { display: flex; flex-wrap: wrap; gap: 0 8px; align-items: baseline; padding: 4px 0; color: var(--ink); text-decoration: none; }
.links a:hover code { text-decoration: underline; }
.links li:target { border-radius: 4px; outline: 2px solid var(--accent); outline-offset: 2px; }
.operation > section { margin-top: 24px; }
.method { flex: none; min-width: 52px; font: 650 14px/20px var(--mono); color: var(--tone); }
.get { --tone: var(--info); }
.post { --tone: var(--pass); }
.patch { --tone: var(--warn); }
.delete { --tone: var(--fail); }
.fields > li { padding: 8px 0; border-top: 1px solid var(--line); }
.fields > li:first-child { border-top: 0; }
.fields .fields, .alternative { margin: 4px 0 0 4px; padding-left: 16px; border-left: 2px solid var(--line); }
.fields .name { font-weight: 650; }
.required { color: var(--accent); font-weight: 600; }
.operation h2 + .command { margin-top: 8px; }
.command code { white-space: pre-wrap; }
summary { display: flex; flex-wrap: wrap; align-items: center; gap: 0 8px; padding: 4px 0; }
details > :not(summary) { margin-left: 24px; }
.statuses { display: grid; grid-template-columns: max-content minmax(0, 1fr); column-gap: 12px; }
.statuses > * { grid-column: 1 / -1; }
.statuses > div { display: grid; grid-template-columns: subgrid; padding: 4px 0; }
.statuses dt { font-weight: 600; }
@media (max-width: 640px) {
  .links a { align-items: center; min-height: 44px; }
  summary { min-height: 44px; }
  .command .copyable { flex-direction: column; align-items: stretch; }
  .command .copy { align-self: flex-start; }
}
`;
