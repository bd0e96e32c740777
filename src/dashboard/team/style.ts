/** Styles of the pages of the team, the account, and the system. */

export const TEAM_STYLE = `
.tag.you { margin-left: 8px; font-weight: 400; }
.clipped { display: inline-block; max-width: 260px; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; vertical-align: bottom; }
.rows strong + .state { margin-left: 8px; }
.long { overflow-wrap: anywhere; }
.parts > li + li { margin-top: 16px; }
.part > p { margin-top: 4px; }
.part > strong { margin-right: 8px; }
.part > .state + .muted { margin-left: 8px; }
.part .box { margin-top: 4px; }
.amounts { margin-top: 4px; }
.amounts > div { display: flex; justify-content: space-between; gap: 16px; padding: 6px 0; border-bottom: 1px solid var(--line); }
.amounts:not(.wide-amounts) > div:last-child { border: 0; }
.queues { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 240px), 1fr)); gap: 24px 32px; }
.amounts dt { color: var(--muted); }
.amounts dd { font-variant-numeric: tabular-nums; text-align: right; }
.wide-amounts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 260px), 1fr)); gap: 0 32px; }
.details { display: grid; gap: 4px 16px; }
.narrow { color: var(--muted); }
@media (min-width: 641px) { .narrow { display: none; } }
.actor { display: block; min-width: 152px; overflow-wrap: anywhere; }
@media (max-width: 900px) { .clipped { max-width: 120px; } }
@media (max-width: 640px) {
  .stacked thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .stacked tr { display: block; padding: 12px 0; border-bottom: 1px solid var(--line); }
  .stacked tbody tr:last-child { border: 0; }
  .stacked td { display: block; padding: 2px 0; border: 0; }
  .stacked .wide:is(td, th) { display: none; }
  .stacked td > .actions, .stacked td > form { margin-top: 8px; }
}
.details > div { display: grid; grid-template-columns: minmax(110px, max-content) minmax(0, 1fr); gap: 4px 12px; }
.details dt { color: var(--muted); font-size: 14px; }
.details dd { overflow-wrap: anywhere; font-size: 14px; }
`;
