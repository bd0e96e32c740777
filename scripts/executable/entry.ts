/** What the executable starts with: the way to its database addon, then the program. */

import './load-addon.ts';
import '../../src/main.ts';
