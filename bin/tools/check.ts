// Says which source files break the project's rules about imports, environment and first lines; part of `npm run check`.
import { breaches, sourceFiles } from './architecture.ts';

const files = sourceFiles();
const found = breaches(files);
for (const breach of found) console.error(breach);
if (found.length > 0) process.exitCode = 1;
else console.log(`${files.length} source files keep the rules of bin/tools/architecture.ts`);
