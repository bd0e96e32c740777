/** Generated from the declarations of the features by `npm run generate`; do not edit. */

/** Each event type with its meaning in a few words. */
export const EVENT_SUMMARIES = {
  'test.completed': 'A test completed',
  'test.failed': 'A test failed',
  'test.placement_settled': 'The placement of a test settled',
  'domain.verified': 'A domain was verified',
  'domain.verification_failed': 'The verification of a domain failed',
  'domain.health_changed': 'The health of a domain changed',
  'domain.records_changed': 'DNS records of a domain changed',
  'feedback.stopped': 'Reports about a domain no longer arrive',
  'complaint.received': 'A complaint report arrived',
  'bounce.received': 'A message bounced because of a policy, or for an unknown reason',
  'feedback.new_source': 'A new source sends mail as your domain',
  'feedback.source_failing': 'Mail from one of your sources fails DMARC',
  'feedback.source_recovered': 'Messages of a source no longer fail',
  'receiver.status_changed': 'A receiver changed its verdict',
  'monitor.alert': 'A monitor found a problem',
  'alert.triggered': 'An alert rule opened an incident',
  'alert.resolved': 'An incident was resolved',
} as const;

export const EVENT_TYPES = Object.keys(EVENT_SUMMARIES) as (keyof typeof EVENT_SUMMARIES)[];
