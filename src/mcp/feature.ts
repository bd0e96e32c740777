/** The Model Context Protocol: assistants use the tools of all features with an API key. */

import type { Feature } from '../feature.ts';
import type { Tool } from '../http/tool.ts';
import { mcpRoute } from './route.ts';

/** `tools` is called by requests: the features that declare them come later. */
export const mcp = (tools: () => Tool[]): Feature => ({
  name: 'mcp',
  undocumentedRoutes: () => [mcpRoute(tools)],
});
