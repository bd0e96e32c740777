/** The style of the API reference. */

export const DOCS_STYLE = `
.with-aside { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0 32px; }
main { padding: 24px 0 48px; outline: none; min-width: 0; }
.lead { margin-top: 12px; }
.contents, .links, .operation details, .statuses, .fields { font-size: 14px; }
.contents { padding-top: 16px; }
.contents h2, .operation h4 { font-size: 14px; color: var(--muted); }
.contents > ul { display: flex; flex-wrap: wrap; gap: 0 16px; }
.contents .links { display: none; }
.contents a { display: inline-block; padding: 4px 0; text-decoration: none; }
.links a, .address a { display: flex; gap: 8px; align-items: baseline; padding: 4px 0; color: var(--ink); text-decoration: none; }
.contents a:hover, .links a:hover code, .address a:hover code { text-decoration: underline; }
.contents a[aria-current] { font-weight: 600; }
.topic, .group { margin-top: 40px; }
h1 + .lead + .group { margin-top: 24px; }
.groups { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 320px), 1fr)); gap: 16px 32px; }
.groups a { display: inline-block; padding: 4px 0; font-weight: 600; }
.group > h3 { margin-top: 24px; }
.links.list a { flex-wrap: wrap; gap: 0 8px; }
.links.list a:target { border-radius: 4px; outline: 2px solid var(--accent); outline-offset: 2px; }
.links .summary { color: var(--muted); }
.links.columns { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 240px), 1fr)); gap: 0 16px; }
.topic > * + *, .command + .command, .operation { margin-top: 12px; }
.operation { padding: 20px 24px; }
.operation:target { border-color: var(--accent); outline: 1px solid var(--accent); }
.operation section { margin-top: 20px; }
.method { flex: none; min-width: 52px; font: 650 14px/20px var(--mono); color: var(--tone); }
.get { --tone: var(--info); }
.post { --tone: var(--pass); }
.patch { --tone: var(--warn); }
.delete { --tone: var(--fail); }
.fields > li { padding: 8px 0; border-top: 1px solid var(--line); }
.fields > li:first-child { border-top: 0; }
.fields .fields { margin: 4px 0 0 4px; padding-left: 16px; border-left: 2px solid var(--line); }
.fields .name { font-weight: 650; }
.required { color: var(--accent); font-weight: 600; }
.command code { white-space: pre-wrap; }
.operation summary { display: flex; flex-wrap: wrap; align-items: center; gap: 0 8px; padding: 4px 0; }
.operation details > :not(summary) { margin-left: 24px; }
.statuses { display: grid; grid-template-columns: max-content minmax(0, 1fr); column-gap: 12px; }
.statuses > * { grid-column: 1 / -1; }
.statuses > div { display: grid; grid-template-columns: subgrid; padding: 4px 0; }
.statuses dt { font-weight: 600; }
@media (min-width: 1000px) {
  .with-aside { grid-template-columns: 288px minmax(0, 1fr); }
  .contents { position: sticky; top: 0; align-self: start; max-height: 100vh; overflow-y: auto; padding: 24px 8px 24px 0; }
  .contents > ul { display: block; }
  .contents .apart { margin-top: 16px; }
  .contents .parted { margin-top: 16px; font-weight: 600; }
  .contents .links { display: block; font-weight: 400; }
  .group > .links:not(.list) { display: none; }
}
@media (max-width: 640px) {
  .operation { padding: 16px; }
  .command .copyable { flex-direction: column; align-items: stretch; }
  .command .copy { align-self: flex-start; }
}
@media print {
  .contents, .group > .links { display: none; }
  .with-aside { display: block; }
}
`;
