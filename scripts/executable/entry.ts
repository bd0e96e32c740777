/** The entry point of the executable: sets up loading of the database addon, then runs the program. */

import './load-addon.ts';
import '../../src/main.ts';
