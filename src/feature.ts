/** What a feature contributes to the service. Each feature exports one value from its `feature.ts`. */

import type { App } from './app.ts';
import type { Config } from './config/config.ts';
import type { Route } from './http/route.ts';
import type { Job } from './scheduler/scheduler.ts';
import type { Subscription } from './store/subscribers.ts';

export interface Feature {
  /** The name of the feature's folder. */
  name: string;
  /** Its operations, in the order of the API reference. If two paths match, the first one wins. */
  routes?: Route[];
  /** Returns routes that are not in the API reference. `documented` contains all routes that are. */
  undocumentedRoutes?(documented: Route[]): Route[];
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
