/** The entry point of the executable. */

import { applyMemorySettings } from '../../src/lib/memory-settings.ts';

// First, because it starts the process again: the program would be loaded twice.
applyMemorySettings(process);
void import('./program.ts');
