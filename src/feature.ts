/** What a feature gives to the service; each feature exports one from its `feature.ts`. */

import type { App } from './app.ts';
import type { Config } from './config/config.ts';
import type { Route } from './http/route.ts';
import type { Job } from './scheduler/scheduler.ts';
import type { Subscription } from './store/subscribers.ts';

export interface Feature {
  /** The name of its folder. */
  name: string;
  /** Its operations, in the order of the API reference. Where two paths match, the first one answers. */
  routes?: Route[];
  /** Routes outside of the API reference, made with all the operations that are in it. */
  undocumentedRoutes?(documented: Route[]): Route[];
  jobs?(app: App): Job[];
  /** What it does in the transactions of other features. */
  subscribers?(app: App): Subscription[];
  /** Throws a ConfigError for values that it cannot use; called before the database is opened. */
  checkConfig?(config: Config): void;
  /**
   * Called once, before anything listens or ticks. There is one process on a database: what an earlier
   * one left claimed or half done belongs to nobody now.
   */
  onStart?(app: App): Promise<void>;
}
