/** What a monitor can watch. The database takes any text, so that a new type needs no migration. */

export const MONITOR_TYPES = ['domain_health', 'blocklist', 'placement'] as const;
export type MonitorType = (typeof MONITOR_TYPES)[number];

declare module '../store/vocabularies.ts' {
  interface Vocabularies {
    monitorType: MonitorType;
  }
}
