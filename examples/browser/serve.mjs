// node examples/browser/serve.mjs [PORT]: serves the page, with the package of this tree as
// welvet/, and prints the address. Port 0 selects a free port. Any static server also works, for a
// folder that contains both; threads need the two isolation headers.
import { createReadStream, statSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const PAGE = path.dirname(fileURLToPath(import.meta.url));
const ROOTS = { '/welvet/': path.join(PAGE, '../../bindings/js/'),
  '/cases/': path.join(PAGE, '../../tests/cases/'), '/': `${PAGE}/` };
const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript',
  '.mjs': 'text/javascript', '.css': 'text/css', '.json': 'application/json',
    '.wasm': 'application/wasm' };

const server = createServer((request, response) => {
  const name = decodeURIComponent(new URL(request.url, 'http://here').pathname);
  const [prefix, root] = Object.entries(ROOTS).find(([begin]) => name.startsWith(begin));
  const file = path.join(root, name.slice(prefix.length) || 'index.html');
  let size;
  try {
    if (!file.startsWith(root)) throw new Error('outside');
    const stat = statSync(file);
    if (!stat.isFile()) throw new Error('no file');
    size = stat.size;
  } catch {
    response.writeHead(404).end('not found');
    return;
  }
  response.writeHead(200, {
    'content-type': TYPES[path.extname(file)] ?? 'application/octet-stream',
    'content-length': size,
    'cache-control': 'no-cache',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-embedder-policy': 'require-corp',
  });
  if (request.method === 'HEAD') response.end();
  else createReadStream(file).pipe(response);
});
server.listen(Number(process.argv[2] ?? 8000), '127.0.0.1',
    () => console.log(`http://127.0.0.1:${server.address().port}/`));
