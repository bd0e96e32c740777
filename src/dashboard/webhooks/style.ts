/** The styles of the pages about webhooks. */

export const WEBHOOK_STYLE = `
.endpoint-name { max-width: 40ch; }
.payload { max-height: 420px; overflow: auto; }
.payload pre { white-space: pre; }
.response-body { max-height: 260px; overflow: auto; }
details > summary.small { display: flex; align-items: center; gap: 4px; min-height: 36px; }
.attempt > summary { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 12px; min-height: 36px; }
.attempt > div { padding: 8px 0 4px; }
.endpoint-form fieldset:has([value="*"]:checked) .choice:not(:has([value="*"])) > input { visibility: hidden; }
.endpoint-url { max-width: none; }
.attempt h3 { margin-top: 16px; }
@media (min-width: 641px) {
  .endpoint-form fieldset { display: grid; grid-template-columns: repeat(auto-fit, minmax(260px, 1fr)); column-gap: 24px; }
  .endpoint-form fieldset > :is(legend, .hint, .wrong), .endpoint-form .choice:has([value="*"]) { grid-column: 1 / -1; }
}
@media (max-width: 640px) { .endpoint-name { max-width: 48vw; } .wide-note { display: none; } }
`;
