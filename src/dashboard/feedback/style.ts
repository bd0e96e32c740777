/** The styles of feedback. */

export const FEEDBACK_STYLE = `
.rejections { margin: 0; padding: 0; list-style: none; }
.rejections > li { padding: 16px 0; border-top: 1px solid var(--line); }
.rejections > li:first-child { border-top: 0; padding-top: 4px; }
.rejections h3, .rejections p { margin: 0 0 8px; }
.rejections .reply { overflow-wrap: anywhere; }
.rejections .finding { margin: 12px 0 0; padding-left: 12px; border-left: 3px solid var(--line); }
.pass-share { display: grid; grid-template-columns: minmax(48px, 96px) 44px; align-items: center; gap: 8px; }
@media (min-width: 641px) { .pass-share .basis { display: none; } }
@media (max-width: 640px) { .pass-share { grid-template-columns: 44px; gap: 2px; } }
.unbroken { white-space: nowrap; }
.domain-name { display: inline-block; min-width: 112px; }
.source-name { display: inline-block; min-width: 88px; }
.steps { margin: 0; padding: 0; list-style: none; }
.steps > li { padding: 12px 0; border-top: 1px solid var(--line); }
.steps > li:first-child { border-top: 0; }
.steps p { margin: 4px 0 8px; }
.steps .stack { margin-top: 16px; }
.steps .dns-record + p { margin-top: 8px; }
.step-head { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 12px; }
.step-head h3 { margin: 0; }
.steps .record-done { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 8px; overflow-wrap: anywhere; }
.period { display: flex; flex-wrap: wrap; align-items: flex-end; gap: 8px 24px; }
@media (min-width: 641px) { .period .filters { flex-wrap: nowrap; } }
.period details > summary { min-height: 44px; align-content: center; color: var(--accent); font-size: 14px; cursor: pointer; }
form.dragging .drop-zone { outline: 2px dashed var(--accent); outline-offset: 8px; }
.upload-lines { margin: 0; padding: 0; list-style: none; }
.upload-lines > li { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 12px; min-height: 40px; padding: 6px 0; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
.upload-lines > li:first-child { border-top: 0; }
.upload-lines progress { flex: 0 1 160px; }
#import progress { width: 100%; margin: 0 0 12px; }
.about { display: block; min-width: 96px; }
.upload-name { flex: 0 1 240px; font-weight: 600; }
`;
