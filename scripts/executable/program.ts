/** Sets up loading of the database addon, then runs the program. */

import './load-addon.ts';
import '../../src/main.ts';
