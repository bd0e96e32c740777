/** What a feature contributes to the service. Each feature exports one value from its `feature.ts`. */

import type { App } from './app.ts';
import type { Config } from './config/config.ts';
import type { EventDeclaration } from './http/openapi/webhooks.ts';
import type { Route } from './http/route.ts';
import type { Tool } from './http/tool.ts';
import type { Job } from './scheduler/scheduler.ts';
import type { Destination } from './smtp/destination.ts';
import type { AuditedObject } from './store/audited.ts';
import type { Subscription } from './store/subscribers.ts';

export interface Feature {
  /** The name of the feature's folder. */
  name: string;
  /** Its operations, in the order of the API reference. */
  routes?: Route[];
  /** The event types that it appends, which are declared nowhere else. */
  events?: EventDeclaration[];
  /** The objects whose changes it writes to the audit log, in the order of the filter. */
  audited?: AuditedObject[];
  /** Returns routes that are not in the API reference. `declared` is what all features declare. */
  undocumentedRoutes?(declared: Required<Pick<Feature, 'routes' | 'events' | 'audited'>>): Route[];
  /** What assistants can do with it. */
  tools?: Tool[];
  /** The addresses that it accepts mail for. Those of earlier features are asked first. */
  destinations?(app: App): Destination[];
  jobs?(app: App): Job[];
  /** Work that it does in the transactions of other features. */
  subscribers?(app: App): Subscription[];
  /** Throws a ConfigError for invalid values; called before the database is opened. */
  checkConfig?(config: Config): void;
  /**
   * Called once, before listeners and jobs start. It may clean up unfinished work of an earlier process. Other
   * nodes may be working in a PostgreSQL database.
   */
  onStart?(app: App): Promise<void>;
}
