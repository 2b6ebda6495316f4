// Simulates the fetch of a model: records that it ran, continues while a file exists, and ends as the test requires.
import { appendFileSync, existsSync, readFileSync, writeSync } from 'node:fs';

const [, , home, uri] = process.argv;
appendFileSync(`${home}/fetched`, `${uri} ${process.env.HF_TOKEN ?? ''} ${process.env.HF_HUB_OFFLINE ?? ''}\n`);
appendFileSync(`${home}/fetching`, `${process.pid}\n`);
writeSync(
  2,
  'a.safetensors:  10%|#  | 100M/1.00G [00:01<00:09, 100MB/s]\rb.bin:  50%|#  | 1.5k/3.0k [00:01<00:01, 1kB/s]\n',
);
writeSync(2, 'a.safetensors:  25%|## | 250M/1.00G [00:02<00:07, 100MB/s]\r');
while (existsSync(`${home}/slow`)) await new Promise((done) => setTimeout(done, 20));
if (!existsSync(`${home}/refused`)) process.exit(0);
writeSync(2, `\n${readFileSync(`${home}/refused`, 'utf8')}\n`);
process.exit(1);
